//! Materials of mesh files and their images.

use std::sync::Arc;

/// A material of a mesh file.
#[derive(Clone, Debug, PartialEq)]
pub struct Coat {
    /// Its name in the file; empty if it has none.
    pub name: String,
    /// Linear RGBA, each 0 to 1: a factor of the image and the vertex colors.
    pub color: [f32; 4],
    /// From 0, a dielectric, to 1, a metal.
    pub metallic: f32,
    /// From 0, a mirror, to 1, chalk; that of the [`Look`](crate::Look) if the file has none.
    pub roughness: Option<f32>,
    /// Use of alpha.
    pub opacity: Opacity,
    /// The color at each texture coordinate.
    pub image: Option<Image>,
    /// Wrapping of texture coordinates outside of 0 to 1, along `u` and `v`.
    pub wrap: [Wrap; 2],
}

/// Wrapping of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// Periodic.
    #[default]
    Repeat,
    /// Periodic with alternating mirror images.
    Mirror,
    /// Clamped to the edge.
    Clamp,
}

/// Use of the alpha of a [`Coat`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Opacity {
    /// Alpha is ignored.
    #[default]
    Opaque,
    /// Points with less alpha than this, 0 to 1, are cut out; the rest is opaque.
    Mask(f32),
    /// Alpha is opacity: the share of the background that is hidden.
    Blend,
}

/// An encoded image as in its file. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct Image {
    /// File name without folder and extension, or its name in the file that contains it.
    pub name: String,
    /// The format of the bytes.
    pub kind: ImageKind,
    /// All bytes of the file.
    pub bytes: Arc<[u8]>,
}

impl PartialEq for Image {
    /// Whether the bytes are equal, regardless of names.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes) || self.bytes == other.bytes
    }
}

/// Formats of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// PNG (ISO/IEC 15948).
    Png,
    /// JPEG (ISO/IEC 10918).
    Jpeg,
}

impl ImageKind {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    /// The file extension, without a dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }
}
