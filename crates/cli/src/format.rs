//! Recordings as files.

mod check;
mod dust;
pub mod glb;
mod jsonl;
mod obj;
mod physics;
mod ply;
mod usd;
pub(crate) mod vtu;

use std::path::{Path, PathBuf};

use sim::Recording;

use crate::output::{write_whole, write_whole_folder};
use crate::spool::Paths;

pub use dust::DustFormat;
pub use meshfile::WriteError;
pub use physics::PhysicsFormat;
pub use usd::Encoding;

/// What a recording can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Animated binary glTF, `.glb`; see [`glb::write_glb`].
    Glb,
    /// The same with one skinned mesh for all bodies; see [`meshfile::write_rigged_glb_of`].
    RiggedGlb,
    /// One JSON object per line, `.jsonl`: first the bodies, then the poses of each frame.
    Jsonl,
    /// Universal Scene Description, as text (`.usda`) or in binary (`.usdc`), with time samples; images of materials
    /// are in a folder `NAME_textures` beside it.
    Usd(Encoding),
    /// A folder of one Wavefront OBJ per frame; a path that ends in a slash, or is one.
    ObjFolder,
    /// A folder of one PLY per frame; a path that ends in `.ply` and a slash.
    PlyFolder,
    /// A series for ParaView, `.pvd`, with a folder of the same name without the ending beside it.
    Pvd,
}

impl Format {
    /// The endings, for messages.
    pub const ENDINGS: &str = ".glb, .usda, .usdc, .jsonl or .pvd, or end it in / or .ply/ for a folder of .obj or .ply files";

    /// The format that a path asks for by its ending.
    pub fn of(path: &Path) -> Option<Self> {
        // a folder is asked for by a slash, or by being there
        let text = path.as_os_str().to_string_lossy();
        if text.ends_with(std::path::is_separator) || path.is_dir() {
            let is_ply = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("ply"));
            return Some(if is_ply { Self::PlyFolder } else { Self::ObjFolder });
        }
        let extension = path.extension()?;
        match extension.to_str()?.to_ascii_lowercase().as_str() {
            "glb" => Some(Self::Glb),
            "jsonl" => Some(Self::Jsonl),
            "usda" => Some(Self::Usd(Encoding::Text)),
            "usdc" => Some(Self::Usd(Encoding::Binary)),
            "pvd" => Some(Self::Pvd),
            _ => None,
        }
    }

    /// The same with a rig, where the format has one.
    pub fn rigged(self) -> Option<Self> {
        (self == Self::Glb).then_some(Self::RiggedGlb)
    }

    /// The folder that writing to `path` makes, if it makes one.
    pub fn folder(self, path: &Path) -> Option<PathBuf> {
        match self {
            Self::Glb | Self::RiggedGlb | Self::Jsonl | Self::Usd(_) => None,
            Self::ObjFolder | Self::PlyFolder => Some(path.to_owned()),
            Self::Pvd => Some(path.with_extension("")),
        }
    }

    /// Writes `recording` to `path`, whole or not at all.
    ///
    /// # Errors
    /// [`WriteError`] when the recording holds what the format cannot, or writing fails.
    pub fn write(self, recording: &Recording, path: &Path) -> Result<(), WriteError> {
        self.write_paths(Paths { recording, spool: None }, path)
    }

    /// As [`Format::write`], where some poses are on disk. `.glb` and `.jsonl` hold a part of them in
    /// memory at a time, the others all.
    ///
    /// # Errors
    /// As [`Format::write`], and when reading fails.
    pub fn write_paths(self, paths: Paths<'_>, path: &Path) -> Result<(), WriteError> {
        match self {
            Self::Glb => write_whole(path, |out| glb::write_paths(paths, out)),
            Self::RiggedGlb => write_whole(path, |out| glb::write_rigged_paths(paths, out)),
            Self::Jsonl => write_whole(path, |out| jsonl::write(paths, out)),
            _ => self.write_gathered(&paths.gathered()?, path),
        }
    }

    fn write_gathered(self, recording: &Recording, path: &Path) -> Result<(), WriteError> {
        match self {
            Self::Glb | Self::RiggedGlb | Self::Jsonl => self.write(recording, path),
            // these ask for surfaces again and again
            Self::Usd(encoding) => {
                write_whole(path, |out| usd::write(&recording.drawn(), path, encoding, out))
            }
            Self::ObjFolder => {
                write_whole_folder(path, |folder| obj::write(&recording.drawn(), folder))
            }
            Self::PlyFolder => {
                write_whole_folder(path, |folder| ply::write(&recording.drawn(), folder))
            }
            Self::Pvd => {
                let folder = path.with_extension("");
                let drawn = recording.drawn();
                let mut written = Vec::new();
                write_whole_folder(&folder, |folder| {
                    written = vtu::write_frames(&drawn, folder)?;
                    Ok::<_, WriteError>(())
                })?;
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                write_whole(path, |out| vtu::write_list((recording, &written), &name, out))
            }
        }
    }
}
