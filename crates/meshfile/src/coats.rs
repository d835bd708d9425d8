//! Materials and images of mesh files.

use sim::{Coat, Image, ImageKind, Opacity, Wrap};
use thiserror::Error;

/// Reads a file that a mesh file names, by a path relative to the mesh file; otherwise returns why
/// it failed.
pub type FileReader<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// Materials that a mesh file loses, and why.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoatWarning {
    /// The file with the materials cannot be read.
    #[error("materials are left out: `{file}` cannot be read ({problem}). Put it beside the mesh")]
    NoLibrary {
        /// Its name.
        file: String,
        /// Why reading failed.
        problem: String,
    },
    /// Triangles have a material that no file defines.
    #[error(
        "material `{material}` is left out: no file that was read defines it. Export the mesh again"
    )]
    Undefined {
        /// Name of the material.
        material: String,
    },
    /// An image cannot be read.
    #[error(
        "material `{material}` has no image: `{file}` cannot be read ({problem}). Put it beside the mesh"
    )]
    NoImage {
        /// Name of the material.
        material: String,
        /// Name of the image.
        file: String,
        /// Why it cannot.
        problem: String,
    },
    /// An image has a format that is not supported.
    #[error("material `{material}` has no image: `{file}` is neither PNG nor JPEG. Convert it")]
    Kind {
        /// Name of the material.
        material: String,
        /// Name of the image.
        file: String,
    },
    /// A texture has an image only in an unsupported extension format.
    #[error(
        "material `{material}` has no image: its texture is neither PNG nor JPEG. Export it as one of these"
    )]
    OtherKind {
        /// Name of the material.
        material: String,
    },
    /// Triangles with an image have no texture coordinates.
    #[error(
        "material `{material}` has no image: its triangles have no texture coordinates. Unwrap the mesh"
    )]
    NoUvs {
        /// Name of the material.
        material: String,
    },
    /// Triangles and materials cannot be matched.
    #[error("materials are left out: points or lines are among the faces. Export triangles alone")]
    Mixed,
}

/// Why an image is rejected.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// The bytes violate the format.
    #[error("is damaged ({0}): save it again")]
    Damaged(&'static str),
    /// Decoding it would take too much memory.
    #[error("has {width} x {height} pixels, more than {}: make it smaller", MAX_PIXELS)]
    TooLarge {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
}

/// Maximum number of pixels of an image: 8192 x 8192.
pub const MAX_PIXELS: u64 = 1 << 26;

/// The format of an image from its first bytes, if it is supported.
pub fn image_kind(bytes: &[u8]) -> Option<ImageKind> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some(ImageKind::Png);
    }
    bytes.starts_with(&[0xff, 0xd8, 0xff]).then_some(ImageKind::Jpeg)
}

/// The columns and rows of an image, from its header alone.
///
/// # Errors
/// [`ImageError`] when the header is damaged or there are more pixels than [`MAX_PIXELS`].
pub fn image_size(kind: ImageKind, bytes: &[u8]) -> Result<[u32; 2], ImageError> {
    let size = match kind {
        ImageKind::Png => png_size(bytes),
        ImageKind::Jpeg => jpeg_size(bytes),
    };
    let [width, height] = size.ok_or(ImageError::Damaged("it has no size"))?;
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(ImageError::TooLarge { width, height });
    }
    Ok([width, height])
}

fn png_size(bytes: &[u8]) -> Option<[u32; 2]> {
    let head = bytes.get(12..24)?;
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let size = [number(4)?, number(8)?];
    (head.starts_with(b"IHDR") && size.iter().all(|&n| n > 0)).then_some(size)
}

fn jpeg_size(bytes: &[u8]) -> Option<[u32; 2]> {
    let mut rest = bytes.get(2..)?;
    loop {
        let at = rest.iter().position(|&byte| byte != 0xff)?;
        let (marker, segment) = (rest[at], rest.get(at + 1..)?);
        let short = |at: usize| {
            Some(u32::from(u16::from_be_bytes(segment.get(at..at + 2)?.try_into().ok()?)))
        };
        // start-of-frame markers of all processes; the other numbers in the range are tables
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let size = [short(5)?, short(3)?];
            return size.iter().all(|&n| n > 0).then_some(size);
        }
        // the length of a segment includes its own field
        let length = short(0)? as usize;
        rest = segment.get(length.max(2)..)?;
    }
}

/// The image of a material from bytes, or a warning that it has none.
pub(crate) fn image(
    material: &str,
    name: &str,
    bytes: Vec<u8>,
    warnings: &mut Vec<CoatWarning>,
) -> Result<Option<Image>, ImageError> {
    let Some(kind) = image_kind(&bytes) else {
        let (material, file) = (material.to_owned(), name.to_owned());
        warnings.push(CoatWarning::Kind { material, file });
        return Ok(None);
    };
    image_size(kind, &bytes)?;
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    Ok(Some(Image { name: stem.to_owned(), kind, bytes: bytes.into() }))
}

/// Images of a mesh file that have been read, by name.
#[derive(Default)]
pub(crate) struct Images(Vec<(String, Option<Image>)>);

impl Images {
    /// The image of a material from a file; each file is read once.
    pub(crate) fn read_image(
        &mut self,
        material: &str,
        file: &str,
        read_file: &mut FileReader<'_>,
        warnings: &mut Vec<CoatWarning>,
    ) -> Result<Option<Image>, super::MeshFileError> {
        if let Some((_, known)) = self.0.iter().find(|(name, _)| name == file) {
            return Ok(known.clone());
        }
        let read = match read_file(file) {
            Ok(bytes) => image(material, file, bytes, warnings)
                .map_err(|source| super::MeshFileError::Image { name: file.to_owned(), source })?,
            Err(problem) => {
                let (material, file) = (material.to_owned(), file.to_owned());
                warnings.push(CoatWarning::NoImage { material, file, problem });
                None
            }
        };
        self.0.push((file.to_owned(), read.clone()));
        Ok(read)
    }
}

/// A material of which only the name is known.
pub(crate) fn plain(name: &str) -> Coat {
    Coat {
        name: name.to_owned(),
        color: [1.0; 4],
        metallic: 0.0,
        roughness: None,
        opacity: Opacity::Opaque,
        image: None,
        wrap: [Wrap::Repeat; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG truncated after its size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend([width, height].into_iter().flat_map(u32::to_be_bytes));
        bytes
    }

    #[test]
    fn sizes_are_read_from_headers() {
        assert_eq!(image_size(ImageKind::Png, &png(30, 20)), Ok([30, 20]));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x02\xff\xc2\0\x11\x08\0\x14\0\x1e\x03";
        assert_eq!(image_kind(jpeg), Some(ImageKind::Jpeg));
        assert_eq!(image_size(ImageKind::Jpeg, jpeg), Ok([30, 20]));
        for end in 0..jpeg.len() - 1 {
            assert!(image_size(ImageKind::Jpeg, &jpeg[..end]).is_err());
        }
        assert_eq!(image_kind(b"RIFF\0\0\0\0WEBP"), None);
    }

    #[test]
    fn sizes_that_no_image_has_are_refused() {
        let too_large = image_size(ImageKind::Png, &png(8192, 8193)).unwrap_err();
        assert_eq!(too_large, ImageError::TooLarge { width: 8192, height: 8193 });
        assert!(image_size(ImageKind::Png, &png(u32::MAX, u32::MAX)).is_err());
        assert!(image_size(ImageKind::Png, &png(0, 8)).is_err());
        assert!(image_size(ImageKind::Png, &png(8, 8)[..20]).is_err());
    }
}
