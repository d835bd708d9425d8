//! Dust as points, for particle systems.
//!
//! A vertex of a PLY file is a particle: position (m), velocity (m/s), diameter `size` (m), `birth`
//! (frame), `life` (s), `id`, and `body`, the index in the recording of the piece that emitted it.

mod read;

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use gltf::mesh::Mode;
use gltf::{Primitive, Semantic};
use meshfile::glb_file::open;
use meshfile::{WriteError, write_dust_glb};
use nalgebra::Vector3;
use sim::{Dust, ShownSpeck, Speck};

use super::usd::{Encoding, Prim, Samples, Value, timed};
use crate::output::{write_whole, write_whole_folder};

use read::{is_ours, primitives};

pub use read::{DustCloud, DustGroup, DustReadError, Grain, VisibleSpeck, read_dust};

/// Output format of dust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DustFormat {
    /// One `.ply` file of all particles at their birth.
    Births,
    /// A folder with one PLY file per frame with the existing particles; the path ends in `.ply`
    /// and a slash.
    Frames,
    /// Animated points, `.glb`.
    Glb,
    /// Universal Scene Description, `.usda` or `.usdc`: `UsdGeomPoints` with time samples.
    Usd(Encoding),
}

impl DustFormat {
    /// The extensions, for messages.
    pub const ENDINGS: &str =
        ".ply, .glb, .usda or .usdc, or end it in .ply/ for a folder of .ply files";

    /// The format of a path according to its extension.
    pub fn of(path: &Path) -> Option<Self> {
        let is_folder = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "ply" if is_folder => Some(Self::Frames),
            "ply" => Some(Self::Births),
            "glb" if !is_folder => Some(Self::Glb),
            "usda" if !is_folder => Some(Self::Usd(Encoding::Text)),
            "usdc" if !is_folder => Some(Self::Usd(Encoding::Binary)),
            _ => None,
        }
    }

    /// Whether a file stores every speck in every frame in which it is visible.
    pub fn stores_frames(self) -> bool {
        matches!(self, Self::Frames | Self::Usd(_))
    }

    /// Writes `dust` to `path` atomically.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(self, dust: &Dust, path: &Path) -> Result<(), WriteError> {
        match self {
            Self::Births => write_whole(path, |out| {
                let births = dust.specks.iter().enumerate();
                let births = births.map(|(number, speck)| {
                    let Speck { position, velocity, .. } = *speck;
                    ShownSpeck { number, position, velocity }
                });
                Ok(write_ply(dust, &births.collect::<Vec<_>>(), out)?)
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
            Self::Glb => write_whole(path, |out| write_dust_glb(dust, out)),
            Self::Usd(encoding) => write_whole(path, |out| Ok(write_usd(dust, encoding, out)?)),
        }
    }
}

/// The number of specks in a `.ply` or `.glb` file of dust; `None` for other files.
pub fn count_specks(bytes: &[u8]) -> Option<usize> {
    ply_specks(bytes).or_else(|| glb_specks(bytes))
}

fn ply_specks(bytes: &[u8]) -> Option<usize> {
    let line = bytes.split(|&byte| byte == b'\n').nth(2)?;
    let count: usize = str::from_utf8(line).ok()?.strip_prefix(VERTICES)?.parse().ok()?;
    let specks = bytes.strip_prefix(ply_header(count).as_bytes())?;
    (Some(specks.len()) == count.checked_mul(SPECK)).then_some(count)
}

fn glb_specks(bytes: &[u8]) -> Option<usize> {
    let file = open(bytes).ok().filter(is_ours)?;
    let count = |part: Primitive<'_>| part.get(&Semantic::Positions).map_or(0, |at| at.count());
    // each crumb flies before it lands
    let points = primitives(&file).filter(|part| part.mode() == Mode::Points);
    Some(points.map(count).fold(0, usize::saturating_add))
}

const FLOATS: [&str; 8] = ["x", "y", "z", "vx", "vy", "vz", "size", "life"];
const INTEGERS: [&str; 3] = ["birth", "id", "body"];
/// Bytes of a speck.
const SPECK: usize = 4 * (FLOATS.len() + INTEGERS.len());
/// Start of the third line of the header.
const VERTICES: &str = "element vertex ";

fn ply_header(count: usize) -> String {
    let mut header = format!("ply\nformat binary_little_endian 1.0\n{VERTICES}{count}\n");
    FLOATS.iter().for_each(|name| header += &format!("property float {name}\n"));
    INTEGERS.iter().for_each(|name| header += &format!("property int {name}\n"));
    header + "end_header\n"
}

fn write_ply(dust: &Dust, shown: &[ShownSpeck], out: &mut impl Write) -> io::Result<()> {
    out.write_all(ply_header(shown.len()).as_bytes())?;
    for &ShownSpeck { number, position, velocity } in shown {
        let speck = &dust.specks[number];
        let floats = position.iter().chain(&velocity).chain([&speck.size, &speck.life]);
        for x in floats.map(|&x| x as f32) {
            out.write_all(&x.to_le_bytes())?;
        }
        for n in [speck.birth, number, speck.track] {
            out.write_all(&(n as i32).to_le_bytes())?;
        }
    }
    Ok(())
}

fn write_usd(dust: &Dust, encoding: Encoding, out: &mut (impl Write + Seek)) -> io::Result<()> {
    let mut encoder = encoding.encoder(out);
    encoder.begin(&timed(dust.frames(), dust.fps()))?;
    let name = if dust.are_crumbs() { "Crumbs" } else { "Dust" };
    let mut points = Prim::new("Points", name);
    let extent = extent(dust).map(single).to_vec();
    points.set("float3[]", "extent", Value::Float3s(extent.into()));
    let places = |dust: &Dust, frame| {
        Value::Float3s(dust.shown(frame).map(|speck| single(speck.position.into())).collect())
    };
    points.animate("point3f[]", "points", samples(dust, places));
    let velocities = |dust: &Dust, frame| {
        Value::Float3s(dust.shown(frame).map(|speck| single(speck.velocity.into())).collect())
    };
    points.animate("vector3f[]", "velocities", samples(dust, velocities));
    let sizes = |dust: &Dust, frame| {
        Value::Floats(
            dust.shown(frame).map(|shown| dust.specks[shown.number].size as f32).collect(),
        )
    };
    points.animate("float[]", "widths", samples(dust, sizes));
    let ids = |dust: &Dust, frame| {
        Value::Int64s(dust.shown(frame).map(|shown| shown.number as i64).collect())
    };
    points.animate("int64[]", "ids", samples(dust, ids));
    let births = |dust: &Dust, frame| {
        Value::Ints(dust.shown(frame).map(|shown| dust.specks[shown.number].birth as i32).collect())
    };
    points.animate_of_vertices("int[]", "primvars:birth", samples(dust, births));
    encoder.add(points)?;
    encoder.end()
}

/// A value per frame, computed on demand.
fn samples<'a>(dust: &'a Dust, of: impl Fn(&Dust, usize) -> Value<'static> + 'a) -> Samples<'a> {
    Box::new((0..dust.frames()).map(move |frame| (frame as f64, of(dust, frame))))
}

fn single(v: [f64; 3]) -> [f32; 3] {
    v.map(|x| x as f32)
}

/// The corners of the bounding box of all particles in all frames, including their sizes.
fn extent(dust: &Dust) -> [[f64; 3]; 2] {
    let mut all =
        (0..dust.frames()).flat_map(|frame| dust.shown(frame)).map(|speck| speck.position);
    let Some(first) = all.next() else { return [[0.0; 3]; 2] };
    let (mut low, mut high) = (first, first);
    for p in all {
        low = low.inf(&p);
        high = high.sup(&p);
    }
    let most = Vector3::repeat(dust.max_size());
    [low - most, high + most].map(|p| p.into())
}
