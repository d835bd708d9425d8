//! Dust as points, for particle systems.
//!
//! A vertex of a PLY file is a speck: position (m), velocity (m/s), diameter `size` (m), `birth` (frame), `life` (s),
//! `id`, and the number `body` of the piece that it left in the recording.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use nalgebra::{Point3, Vector3};
use sim::Dust;

use crate::output::{write_whole, write_whole_folder};

/// What dust can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DustFormat {
    /// One `.ply` file of all specks as they appear.
    Births,
    /// A folder of one PLY file per frame with the specks that are there; a path that ends in `.ply` and a slash.
    Frames,
    /// Universal Scene Description as text, `.usda`: `UsdGeomPoints` with time samples.
    Usda,
}

impl DustFormat {
    /// The endings, for messages.
    pub const ENDINGS: &str = ".ply or .usda, or end it in .ply/ for a folder of .ply files";

    /// The format that a path asks for by its ending.
    pub fn of(path: &Path) -> Option<Self> {
        let is_folder = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "ply" if is_folder => Some(Self::Frames),
            "ply" => Some(Self::Births),
            "usda" if !is_folder => Some(Self::Usda),
            _ => None,
        }
    }

    /// Writes `dust` to `path`, whole or not at all.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(self, dust: &Dust, path: &Path) -> io::Result<()> {
        match self {
            Self::Births => write_whole(path, |out| {
                let births = dust.specks.iter().enumerate();
                let births = births.map(|(n, speck)| (n, speck.position, speck.velocity));
                write_ply(dust, &births.collect::<Vec<_>>(), out)
            }),
            Self::Frames => write_whole_folder(path, |folder| {
                for frame in 0..dust.frames() {
                    let file = File::create(folder.join(format!("frame_{frame:05}.ply")))?;
                    let mut out = BufWriter::new(file);
                    write_ply(dust, &dust.shown(frame).collect::<Vec<_>>(), &mut out)?;
                    out.flush()?;
                }
                Ok(())
            }),
            Self::Usda => write_whole(path, |out| write_usda(dust, out)),
        }
    }
}

/// The number of a speck, its position and its velocity.
type Shown = (usize, Point3<f64>, Vector3<f64>);

fn write_ply(dust: &Dust, shown: &[Shown], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "ply\nformat binary_little_endian 1.0\nelement vertex {}", shown.len())?;
    for name in ["x", "y", "z", "vx", "vy", "vz", "size", "life"] {
        writeln!(out, "property float {name}")?;
    }
    for name in ["birth", "id", "body"] {
        writeln!(out, "property int {name}")?;
    }
    writeln!(out, "end_header")?;
    for &(n, position, velocity) in shown {
        let speck = &dust.specks[n];
        let floats = position.iter().chain(&velocity).chain([&speck.size, &speck.life]);
        for x in floats.map(|&x| x as f32) {
            out.write_all(&x.to_le_bytes())?;
        }
        for number in [speck.birth, n, speck.track] {
            out.write_all(&(number as i32).to_le_bytes())?;
        }
    }
    Ok(())
}

fn write_usda(dust: &Dust, out: &mut impl Write) -> io::Result<()> {
    let (frames, fps) = (dust.frames(), dust.fps());
    writeln!(out, "#usda 1.0")?;
    writeln!(out, "(\n    defaultPrim = \"World\"")?;
    writeln!(out, "    startTimeCode = 0\n    endTimeCode = {}", frames - 1)?;
    writeln!(out, "    timeCodesPerSecond = {fps}\n    framesPerSecond = {fps}")?;
    writeln!(out, "    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n")?;
    writeln!(out, "def Xform \"World\"\n{{\n    def Points \"Dust\"\n    {{")?;
    let [low, high] = extent(dust);
    writeln!(out, "        float3[] extent = [{}, {}]", tuple(low), tuple(high))?;
    samples("point3f[] points", dust, |(_, p, _)| tuple(p.into()), out)?;
    samples("vector3f[] velocities", dust, |(_, _, v)| tuple(v.into()), out)?;
    let size = |(n, ..): Shown| (dust.specks[n].size as f32).to_string();
    samples("float[] widths", dust, size, out)?;
    samples("int64[] ids", dust, |(n, ..)| n.to_string(), out)?;
    let birth = |(n, ..): Shown| dust.specks[n].birth.to_string();
    samples("int[] primvars:birth", dust, birth, out)?;
    writeln!(out, "        uniform token primvars:birth:interpolation = \"vertex\"")?;
    writeln!(out, "    }}\n}}")
}

/// An attribute with a time sample for each frame.
fn samples(
    name: &str,
    dust: &Dust,
    of: impl Fn(Shown) -> String,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "        {name}.timeSamples = {{")?;
    for frame in 0..dust.frames() {
        let values: Vec<String> = dust.shown(frame).map(&of).collect();
        writeln!(out, "            {frame}: [{}],", values.join(", "))?;
    }
    writeln!(out, "        }}")
}

fn tuple(v: [f64; 3]) -> String {
    let [x, y, z] = v.map(|x| x as f32);
    format!("({x}, {y}, {z})")
}

/// The corners of a box around all specks in all frames, with their sizes.
fn extent(dust: &Dust) -> [[f64; 3]; 2] {
    let mut all = (0..dust.frames()).flat_map(|frame| dust.shown(frame));
    let Some((_, first, _)) = all.next() else { return [[0.0; 3]; 2] };
    let (mut low, mut high) = (first, first);
    for (_, p, _) in all {
        low = low.inf(&p);
        high = high.sup(&p);
    }
    let most = Vector3::repeat(Dust::SIZES[1]);
    [low - most, high + most].map(|p| p.into())
}
