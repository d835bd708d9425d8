//! Materials of looks and coats, and the images of these.

use std::sync::Arc;

use serde_json::{Value, json};
use sim::{Coat, Look, Opacity, Recording, Wrap};

use super::document::Document;
use super::encoded::Side;

impl Document<'_> {
    /// The extensions that the materials use.
    pub(super) fn material_extensions(&self) -> &'static [&'static str] {
        let is_clear = self.looks.iter().any(|(look, ..)| look.transmission > 0.0);
        if is_clear { &CLEAR } else { &[] }
    }

    /// Reserves space for the images of all visible coats, each once.
    pub(super) fn add_images(&mut self, recording: &Recording) {
        for track in &recording.tracks {
            let Some(surface) = self.surfaces.get(&track.lazy_surface.address()) else { continue };
            let has_uvs = surface.uvs.is_some();
            let sides: Vec<Side> = surface.indices.iter().map(|(side, _)| *side).collect();
            sides.into_iter().for_each(|side| self.add_image(&track.look, side, has_uvs));
        }
    }

    /// Reserves space for the image of a part of a surface, if it has a new one.
    pub(super) fn add_image(&mut self, look: &Look, side: Side, has_uvs: bool) {
        let image = coat(look, side).filter(|_| has_uvs).and_then(|coat| coat.image.as_ref());
        let Some(image) = image.filter(|image| !self.images.contains(image)) else { return };
        let view = self.buffer.add_bytes(&image.bytes);
        let mut entry = json!({ "bufferView": view, "mimeType": image.kind.media_type() });
        if !image.name.is_empty() {
            entry["name"] = json!(image.name);
        }
        self.image_entries.push(entry);
        self.images.push(image.clone());
    }

    /// The index of the material of a part of a surface.
    pub(super) fn material(&mut self, look: &Arc<Look>, side: Side, has_uvs: bool) -> usize {
        let coat = coat(look, side);
        // parts without coats share their look
        let side = match side {
            Side::Outer(_) if coat.is_none() => Side::Outer(None),
            side => side,
        };
        let has_uvs = has_uvs && coat.is_some_and(|coat| coat.image.is_some());
        let of = (side, has_uvs);
        let known = self.looks.iter().find(|(other, s, u, _)| (*s, *u) == of && other == look);
        if let Some(&(.., number)) = known {
            return number;
        }
        let mut entry = match coat {
            Some(coat) => self.coat_entry(look, coat, has_uvs),
            None => look_entry(look, side == Side::Inner),
        };
        entry["extras"] = extras(look, side);
        let number = self.materials.len();
        self.materials.push(entry);
        self.looks.push((Arc::clone(look), side, has_uvs, number));
        number
    }

    fn coat_entry(&mut self, look: &Look, coat: &Coat, has_uvs: bool) -> Value {
        let mut entry = json!({
            "name": coat.name,
            "pbrMetallicRoughness": {
                "baseColorFactor": coat.color,
                "metallicFactor": coat.metallic,
                "roughnessFactor": coat.roughness.unwrap_or(look.roughness),
            },
        });
        match coat.opacity {
            Opacity::Opaque => {}
            Opacity::Mask(cutoff) => {
                entry["alphaMode"] = json!("MASK");
                entry["alphaCutoff"] = json!(cutoff);
            }
            Opacity::Blend => entry["alphaMode"] = json!("BLEND"),
        }
        let image = coat.image.as_ref().filter(|_| has_uvs);
        let number = image.and_then(|image| self.images.iter().position(|known| known == image));
        if let Some(number) = number {
            let texture = self.texture((number, coat.wrap));
            entry["pbrMetallicRoughness"]["baseColorTexture"] = json!({ "index": texture });
        }
        entry
    }

    /// The index of the texture of an image with the given wrapping.
    fn texture(&mut self, texture: (usize, [Wrap; 2])) -> usize {
        self.textures.iter().position(|known| *known == texture).unwrap_or_else(|| {
            self.textures.push(texture);
            self.textures.len() - 1
        })
    }

    /// The textures, and the samplers of those that do not repeat.
    pub(super) fn textures(&self) -> [Vec<Value>; 2] {
        let (mut textures, mut samplers) = (Vec::new(), Vec::new());
        for (image, wrap) in &self.textures {
            let mut texture = json!({ "source": image });
            if *wrap != [Wrap::Repeat; 2] {
                let [s, t] = wrap.map(mode);
                let sampler = json!({ "wrapS": s, "wrapT": t });
                let known = samplers.iter().position(|known| *known == sampler);
                texture["sampler"] = json!(known.unwrap_or(samplers.len()));
                if known.is_none() {
                    samplers.push(sampler);
                }
            }
            textures.push(texture);
        }
        [textures, samplers]
    }
}

/// The OpenGL constant of a wrapping mode.
fn mode(wrap: Wrap) -> u32 {
    match wrap {
        Wrap::Repeat => 10_497,
        Wrap::Mirror => 33_648,
        Wrap::Clamp => 33_071,
    }
}

/// The coat of a part of a surface with the given look, if it has one.
fn coat(look: &Look, side: Side) -> Option<&Coat> {
    match side {
        Side::Outer(Some(number)) => look.coats.get(number as usize),
        _ => None,
    }
}

fn look_entry(look: &Look, is_inner: bool) -> Value {
    let Look { material, color, inner_color, roughness, metallic, alpha, .. } = look;
    let inside = if is_inner { " inside" } else { "" };
    let [r, g, b] = if is_inner { *inner_color } else { *color };
    let mut entry = json!({
        "name": format!("{material}{inside}"),
        "pbrMetallicRoughness": {
            "baseColorFactor": [r, g, b, alpha],
            "metallicFactor": metallic,
            "roughnessFactor": roughness,
        },
    });
    if *alpha < 1.0 {
        entry["alphaMode"] = json!("BLEND");
    }
    if look.transmission > 0.0 {
        entry["extensions"] = clear(look);
    }
    entry
}

/// The whole look: an unbroken body shows only some of its materials, but readers restore all.
fn extras(look: &Look, side: Side) -> Value {
    let mut extras = json!({
        "material": look.material,
        "colour": look.color,
        "inner_colour": look.inner_color,
        "inner": side == Side::Inner,
        "texture": look.texture,
        "metallic": look.metallic,
        "transmission": look.transmission,
        "ior": look.ior,
        "alpha": look.alpha,
    });
    if let Side::Outer(Some(_)) = side {
        // the material's own roughness is that of the coat
        extras["coat"] = json!({ "roughness": look.roughness });
    }
    extras
}

/// Extensions of transparent materials.
const CLEAR: [&str; 3] =
    ["KHR_materials_ior", "KHR_materials_transmission", "KHR_materials_volume"];

/// Their parameters for a transparent material. The thickness is one centimeter; the attenuation
/// color is that of the surface.
fn clear(look: &Look) -> Value {
    let [ior, transmission, volume] = CLEAR;
    json!({
        ior: { "ior": look.ior },
        transmission: { "transmissionFactor": look.transmission },
        volume: { "thicknessFactor": 0.01 },
    })
}
