//! Materials and images of a GLB file; images are in the file, in data URIs or in separate files.

use ::gltf::Gltf;
use ::gltf::json::Root;
use ::gltf::material::{AlphaMode, Material};
use ::gltf::texture::{Info, WrappingMode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use sim::{Coat, Image, Opacity, Wrap};

use crate::MeshFileError;
use crate::coats::{CoatWarning, FileReader, image};
use crate::glb_file::{GlbError, view_bytes};

/// The materials of a file that its meshes use, in order of first use.
pub struct GlbCoats<'a, 'b> {
    root: &'a Root,
    blob: &'a [u8],
    read_file: &'a mut FileReader<'b>,
    /// Indices of the materials in the file.
    numbers: Vec<usize>,
    /// The requested materials, each once.
    pub coats: Vec<Coat>,
    /// Warnings about lost materials.
    pub warnings: Vec<CoatWarning>,
    /// The images read so far, by index.
    images: Vec<Option<Option<Image>>>,
}

impl<'a, 'b> GlbCoats<'a, 'b> {
    /// An empty list; `read_file` reads images in separate files.
    pub fn new(file: &'a Gltf, read_file: &'a mut FileReader<'b>) -> Self {
        let root = file.as_json();
        Self {
            root,
            blob: file.blob.as_deref().unwrap_or_default(),
            read_file,
            numbers: Vec::new(),
            coats: Vec::new(),
            warnings: Vec::new(),
            images: vec![None; root.images.len()],
        }
    }

    /// Index of the coat of a material in [`Self::coats`], or `u32::MAX` for the default material
    /// of glTF.
    ///
    /// # Errors
    /// [`MeshFileError::Glb`] if its image does not lie within the file, [`MeshFileError::Image`]
    /// if it is damaged or too large.
    pub fn coat(&mut self, material: &Material) -> Result<u32, MeshFileError> {
        let Some(number) = material.index() else { return Ok(u32::MAX) };
        if let Some(known) = self.numbers.iter().position(|&known| known == number) {
            return Ok(known as u32);
        }
        let name = material.name().map_or_else(|| format!("material {number}"), str::to_owned);
        let pbr = material.pbr_metallic_roughness();
        let opacity = match material.alpha_mode() {
            AlphaMode::Opaque => Opacity::Opaque,
            AlphaMode::Mask => Opacity::Mask(share(material.alpha_cutoff().unwrap_or(0.5))),
            AlphaMode::Blend => Opacity::Blend,
        };
        let image = match pbr.base_color_texture() {
            Some(info) => match info.texture().source() {
                Some(image) => self.image(&name, image.index())?,
                None => {
                    self.warnings.push(CoatWarning::OtherKind { material: name.clone() });
                    None
                }
            },
            None => None,
        };
        self.numbers.push(number);
        self.coats.push(Coat {
            name,
            color: pbr.base_color_factor().map(share),
            metallic: share(pbr.metallic_factor()),
            roughness: Some(share(pbr.roughness_factor())),
            opacity,
            image,
            wrap: pbr.base_color_texture().map_or([Wrap::Repeat; 2], |info| wrap(&info)),
        });
        Ok(self.coats.len() as u32 - 1)
    }

    /// An image; each is read once.
    fn image(&mut self, material: &str, number: usize) -> Result<Option<Image>, MeshFileError> {
        if let Some(Some(known)) = self.images.get(number) {
            return Ok(known.clone());
        }
        let (name, bytes) = match self.bytes(number)? {
            (name, Ok(bytes)) => (name, bytes),
            (file, Err(problem)) => {
                let material = material.to_owned();
                self.warnings.push(CoatWarning::NoImage { material, file, problem });
                self.images[number] = Some(None);
                return Ok(None);
            }
        };
        let found = image(material, &name, bytes, &mut self.warnings);
        let found = found.map_err(|source| MeshFileError::Image { name, source })?;
        self.images[number] = Some(found.clone());
        Ok(found)
    }

    /// The name of an image, and its bytes or why they are missing.
    fn bytes(&mut self, number: usize) -> Result<(String, Result<Vec<u8>, String>), GlbError> {
        let image = &self.root.images[number];
        let name = image.name.clone().unwrap_or_else(|| format!("image {number}"));
        if let Some(view) = &image.buffer_view {
            let bytes = view_bytes(self.root, self.blob, view.value());
            let bytes = bytes.ok_or_else(|| GlbError::Part {
                part: format!("image {number}"),
                problem: "does not lie within the file".to_owned(),
            })?;
            return Ok((name, Ok(bytes.to_vec())));
        }
        let Some(address) = &image.uri else {
            return Ok((name, Err("the file does not say where it is".to_owned())));
        };
        if let Some(data) = address.strip_prefix("data:") {
            let text = data.split_once(";base64,").map_or("", |(_, text)| text);
            let bytes = STANDARD.decode(text).map_err(|_| GlbError::Part {
                part: format!("image {number}"),
                problem: "has damaged data".to_owned(),
            })?;
            return Ok((name, Ok(bytes)));
        }
        if address.contains("://") {
            return Ok((address.clone(), Err("it is no file".to_owned())));
        }
        let file = decoded(address);
        let bytes = (self.read_file)(&file);
        Ok((file, bytes))
    }
}

fn wrap(info: &Info) -> [Wrap; 2] {
    let sampler = info.texture().sampler();
    [sampler.wrap_s(), sampler.wrap_t()].map(|mode| match mode {
        WrappingMode::Repeat => Wrap::Repeat,
        WrappingMode::MirroredRepeat => Wrap::Mirror,
        WrappingMode::ClampToEdge => Wrap::Clamp,
    })
}

fn share(x: f32) -> f32 {
    if x.is_finite() { x.clamp(0.0, 1.0) } else { 1.0 }
}

/// The file name in a URI: percent-encoded bytes are decoded (RFC 3986, section 2.1).
fn decoded(address: &str) -> String {
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_names_of_files() {
        assert_eq!(decoded("old%20wood%2f1.png"), "old wood/1.png");
        assert_eq!(decoded("100%.png"), "100%.png");
        assert_eq!(decoded("%"), "%");
    }
}
