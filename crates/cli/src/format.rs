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
use crate::spool::SpooledRecording;

pub use dust::{
    DustCloud, DustFormat, DustGroup, DustReadError, Grain, VisibleSpeck, count_specks, read_dust,
};
pub use meshfile::WriteError;
pub use physics::PhysicsFormat;
pub use usd::Encoding;

/// Output format of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Animated binary glTF, `.glb`; see [`glb::write_glb`].
    Glb,
    /// The same with one skinned mesh for all bodies; see [`meshfile::write_rigged_glb_of`].
    RiggedGlb,
    /// One JSON object per line, `.jsonl`: first the bodies, then the poses of each frame.
    Jsonl,
    /// Universal Scene Description, as text (`.usda`) or binary (`.usdc`), with time samples;
    /// images of materials are in a folder `NAME_textures` next to it.
    Usd(Encoding),
    /// A folder with one Wavefront OBJ per frame; the path ends in a slash, or is a folder.
    ObjFolder,
    /// A folder with one PLY per frame; the path ends in `.ply` and a slash.
    PlyFolder,
    /// A series for ParaView, `.pvd`, with a folder of the same name without the extension next to
    /// it.
    Pvd,
}

impl Format {
    /// The extensions, for messages.
    pub const ENDINGS: &str = ".glb, .usda, .usdc, .jsonl or .pvd, or end it in / or .ply/ for a folder of .obj or .ply files";

    /// The format of a path according to its extension.
    pub fn of(path: &Path) -> Option<Self> {
        // a trailing slash or an existing folder selects a folder format
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

    /// The rigged variant, where the format has one.
    pub fn rigged(self) -> Option<Self> {
        (self == Self::Glb).then_some(Self::RiggedGlb)
    }

    /// The folder that writing to `path` creates, if any.
    pub fn folder(self, path: &Path) -> Option<PathBuf> {
        match self {
            Self::Glb | Self::RiggedGlb | Self::Jsonl | Self::Usd(_) => None,
            Self::ObjFolder | Self::PlyFolder => Some(path.to_owned()),
            Self::Pvd => Some(path.with_extension("")),
        }
    }

    /// Writes `recording` to `path` atomically.
    ///
    /// # Errors
    /// [`WriteError`] if the recording contains data that the format cannot represent, or writing
    /// fails.
    pub fn write(self, recording: &Recording, path: &Path) -> Result<(), WriteError> {
        self.write_spooled(SpooledRecording { recording, spool: None }, path)
    }

    /// As [`Format::write`], where some poses are on disk. `.glb` and `.jsonl` read them in parts,
    /// the other formats all at once.
    ///
    /// # Errors
    /// As [`Format::write`], and if reading fails.
    pub fn write_spooled(
        self,
        spooled: SpooledRecording<'_>,
        path: &Path,
    ) -> Result<(), WriteError> {
        match self {
            Self::Glb => write_whole(path, |out| glb::write_spooled(spooled, out)),
            Self::RiggedGlb => write_whole(path, |out| glb::write_spooled_rig(spooled, out)),
            Self::Jsonl => write_whole(path, |out| jsonl::write(spooled, out)),
            _ => self.write_in_memory(&spooled.in_memory()?, path),
        }
    }

    fn write_in_memory(self, recording: &Recording, path: &Path) -> Result<(), WriteError> {
        match self {
            Self::Glb | Self::RiggedGlb | Self::Jsonl => self.write(recording, path),
            // these request surfaces repeatedly
            Self::Usd(encoding) => {
                write_whole(path, |out| usd::write(&recording.with_surfaces(), path, encoding, out))
            }
            Self::ObjFolder => {
                write_whole_folder(path, |folder| obj::write(&recording.with_surfaces(), folder))
            }
            Self::PlyFolder => {
                write_whole_folder(path, |folder| ply::write(&recording.with_surfaces(), folder))
            }
            Self::Pvd => {
                let folder = path.with_extension("");
                let drawn = recording.with_surfaces();
                let mut written = Vec::new();
                write_whole_folder(&folder, |folder| {
                    written = vtu::write_frames(&drawn, folder)?;
                    Ok::<_, WriteError>(())
                })?;
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                write_whole(path, |out| vtu::write_list(recording, &written, &name, out))
            }
        }
    }
}
