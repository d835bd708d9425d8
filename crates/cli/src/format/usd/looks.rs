//! Materials as `UsdPreviewSurface`, and images next to the file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sim::{Coat, Image, Look, Opacity, Recording, Track, Wrap};

use super::names::Names;
use super::prim::{Prim, Value};
use crate::output::write_whole;

/// The looks of a recording and the names of their materials.
pub(crate) struct Looks<'r> {
    looks: Vec<&'r Look>,
    names: Vec<MaterialNames>,
    /// Each distinct image, with its file name.
    images: Vec<(&'r Image, String)>,
    /// The folder of the images, next to the file.
    folder: String,
}

/// The names of the prims of the materials of a look.
pub(crate) struct MaterialNames {
    pub(super) outer: String,
    pub(super) inner: String,
    pub(super) coats: Vec<String>,
}

/// The image folder of a file.
fn folder_of_images(path: &Path) -> PathBuf {
    // asset paths are delimited by this character
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().replace('@', "_");
    path.with_file_name(format!("{stem}_textures"))
}

impl<'r> Looks<'r> {
    /// The looks of a recording in a file at `path`.
    pub(crate) fn of(recording: &'r Recording, path: &Path) -> Self {
        let mut looks: Vec<&Look> = vec![];
        for track in &recording.tracks {
            if !looks.contains(&&*track.look) {
                looks.push(&track.look);
            }
        }
        let mut names = Names::default();
        let mut all = |look: &&Look| {
            let Look { material, coats, .. } = look;
            MaterialNames {
                outer: names.of(material),
                inner: names.of(&format!("{material} inside")),
                coats: coats.iter().map(|coat| names.of(&coat.name)).collect(),
            }
        };
        let names = looks.iter().map(&mut all).collect();
        let mut images: Vec<(&Image, String)> = vec![];
        let mut files = Names::default();
        let coats = looks.iter().flat_map(|look| look.coats.iter());
        for image in coats.filter_map(|coat| coat.image.as_ref()) {
            if !images.iter().any(|(known, _)| *known == image) {
                let file = format!("{}.{}", files.of(&image.name), image.kind.extension());
                images.push((image, file));
            }
        }
        let folder = folder_of_images(path);
        let folder = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { looks, names, images, folder }
    }

    pub(crate) fn names(&self, track: &Track) -> &MaterialNames {
        let look = self.looks.iter().position(|look| **look == *track.look).unwrap_or(0);
        &self.names[look]
    }

    /// Materials of each look: one for the surface, one per coat and one for cuts.
    pub(crate) fn prim(&self) -> Prim<'_> {
        let mut looks = Prim::new("Scope", "Looks");
        for (look, names) in self.looks.iter().zip(&self.names) {
            for (path, color) in [(&names.outer, look.color), (&names.inner, look.inner_color)] {
                let mut shader = surface_shader();
                shader.set("color3f", "inputs:diffuseColor", Value::Float3(color));
                shader.set("float", "inputs:roughness", Value::Float(look.roughness));
                shader.set("float", "inputs:metallic", Value::Float(look.metallic));
                shader.declare("token", "outputs:surface");
                looks.add_child(material(path, &look.material, shader));
            }
            for (path, coat) in names.coats.iter().zip(&*look.coats) {
                looks.add_child(self.coat(path, coat, look));
            }
        }
        looks
    }

    fn coat<'a>(&'a self, path: &str, coat: &'a Coat, look: &Look) -> Prim<'a> {
        let Coat { name, color: [r, g, b, alpha], metallic, opacity, .. } = coat;
        let image = coat.image.as_ref();
        let file = image.and_then(|image| self.images.iter().find(|(known, _)| *known == image));
        let texture = |output: &str| format!("/World/Looks/{path}/Image.outputs:{output}");
        let mut shader = surface_shader();
        match file {
            Some(_) => shader.connect("color3f", "inputs:diffuseColor", texture("rgb")),
            None => shader.set("color3f", "inputs:diffuseColor", Value::Float3([*r, *g, *b])),
        }
        if *opacity != Opacity::Opaque {
            match file {
                Some(_) => shader.connect("float", "inputs:opacity", texture("a")),
                None => shader.set("float", "inputs:opacity", Value::Float(*alpha)),
            }
        }
        if let Opacity::Mask(cutoff) = opacity {
            shader.set("float", "inputs:opacityThreshold", Value::Float(*cutoff));
        }
        let roughness = coat.roughness.unwrap_or(look.roughness);
        shader.set("float", "inputs:roughness", Value::Float(roughness));
        shader.set("float", "inputs:metallic", Value::Float(*metallic));
        shader.declare("token", "outputs:surface");
        let mut material = material(path, name, shader);
        if let Some((_, file)) = file {
            let file = format!("./{}/{file}", self.folder);
            texture_shaders(path, file, coat)
                .into_iter()
                .for_each(|shader| material.add_child(shader));
        }
        material
    }

    /// Writes the images next to the file at `path`, each atomically.
    pub(crate) fn write_images(&self, path: &Path) -> io::Result<()> {
        let folder = folder_of_images(path);
        if !self.images.is_empty() {
            std::fs::create_dir_all(&folder)?;
        }
        for (image, file) in &self.images {
            write_whole(&folder.join(file), |out| out.write_all(&image.bytes))?;
        }
        Ok(())
    }
}

fn surface_shader<'a>() -> Prim<'a> {
    let mut shader = Prim::new("Shader", "Shader");
    shader.set_uniform("token", "info:id", Value::token("UsdPreviewSurface"));
    shader
}

/// A material named `path` with its shader.
fn material<'a>(path: &str, name: &'a str, shader: Prim<'a>) -> Prim<'a> {
    let mut material = Prim::new("Material", path).shown_as(name);
    let output = format!("/World/Looks/{path}/Shader.outputs:surface");
    material.connect("token", "outputs:surface", output);
    material.add_child(shader);
    material
}

/// The texture reader for the image `file` times the color of the coat, and the reader of texture
/// coordinates.
fn texture_shaders<'a>(path: &str, file: String, coat: &Coat) -> [Prim<'a>; 2] {
    let [s, t] = coat.wrap.map(|wrap| match wrap {
        Wrap::Repeat => "repeat",
        Wrap::Mirror => "mirror",
        Wrap::Clamp => "clamp",
    });
    let mut image = Prim::new("Shader", "Image");
    image.set_uniform("token", "info:id", Value::token("UsdUVTexture"));
    image.set("asset", "inputs:file", Value::Asset(file));
    image.set("token", "inputs:sourceColorSpace", Value::token("sRGB"));
    image.set("token", "inputs:wrapS", Value::token(s));
    image.set("token", "inputs:wrapT", Value::token(t));
    image.set("float4", "inputs:scale", Value::Float4(coat.color));
    let output = format!("/World/Looks/{path}/Coordinates.outputs:result");
    image.connect("float2", "inputs:st", output);
    image.declare("float3", "outputs:rgb");
    image.declare("float", "outputs:a");
    let mut coordinates = Prim::new("Shader", "Coordinates");
    coordinates.set_uniform("token", "info:id", Value::token("UsdPrimvarReader_float2"));
    coordinates.set("string", "inputs:varname", Value::String("st"));
    coordinates.declare("float2", "outputs:result");
    [image, coordinates]
}
