//! Recordings as animated binary glTF 2.0.
//!
//! Every track is a node with a translation and a rotation channel. A scale that steps between 0
//! and 1 makes it appear at its birth and disappear at its end, which every viewer supports;
//! without animation a viewer shows frame 0. Surfaces are stored once, however many tracks share
//! them, and a frame without changes costs no key. Each impact between two frames gets a key.
//!
//! A mesh has a primitive for the outer surface, or one per coat, and one for cuts, each with a
//! separate material. Images of coats are in the file, each once. The vertex attribute `_REST` is
//! the position in the whole body, m: the coordinates of a solid texture. If the material has a
//! solid texture, vertices also have its colors (`COLOR_0`), for programs without support for such
//! textures.
//!
//! GLB stores the JSON with all sizes before the binary data. Two passes therefore build the
//! surfaces: the first computes sizes, the second writes data. Surfaces are built in small batches
//! to limit memory.

mod buffer;
mod chunks;
mod document;
mod dust;
mod encoded;
mod error;
mod keys;
mod materials;
mod physics;
mod rig;
mod surfaces;

use std::io::Write;

use sim::Recording;

use buffer::Buffer;
use chunks::{write_head, write_surfaces};
use document::{Document, ReadTrajectory, scene_of};
pub use dust::write_dust_glb;
pub use error::{WriteError, check_poses, check_surface};
pub use physics::write_physics_glb;
pub use rig::write_rigged_glb_of;

/// Writes `recording` as one GLB to `out`.
///
/// The scene's `extras` contain `fps`, `frames` and, for each simulated frame, `kinetic`,
/// `potential` and `dissipated` energy, J; each node's contain `birth`, `end` and, for a fragment,
/// the node index of its `parent`. Those of a finite element body contain `stress`: for every frame
/// in which it changes, the frame number, the largest principal stress and the largest von Mises
/// stress in the body, Pa.
///
/// # Errors
/// [`WriteError`] if the recording contains data that the format cannot represent, or writing
/// fails.
pub fn write_glb(recording: &Recording, out: &mut impl Write) -> Result<(), WriteError> {
    write_glb_of(recording, &|track| Ok(recording.tracks[track].trace()), out)
}

/// As [`write_glb`], where `trajectory` returns the trajectory of a track, given its number.
///
/// # Errors
/// As [`write_glb`], and the errors of `trajectory`.
pub fn write_glb_of(
    recording: &Recording,
    trajectory: &ReadTrajectory<'_>,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    // the first pass computes the sizes of surfaces and keys
    let mut document = Document::of_surfaces(recording)?;
    document.add_tracks(recording, trajectory)?;
    let images = std::mem::take(&mut document.images);
    let (json, layout) = document.finish(scene_of(recording));
    write_head(&json, &layout, out)?;
    if layout.len() > 0 {
        // the second pass builds surfaces and keys again, and writes them
        write_surfaces(recording, &images, out)?;
        let buffer = Buffer::writing(out);
        Document { buffer, ..Document::default() }.add_tracks(recording, trajectory)?;
    }
    Ok(())
}
