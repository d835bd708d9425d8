//! Writer of a level set with a narrow band.

use std::io::{self, Write};

use flate2::Compression;
use levelset::LevelSet;

use super::layout::{ACTIVE_MASK, MAGIC, TREE, WIDTHS, ZIP};
use super::tree::coordinates;

/// Half-width of the band in voxels, the OpenVDB default.
const HALF_WIDTH: f64 = 3.0;
/// The name of the grid.
const NAME: &str = "surface";

/// Writes a level set as one OpenVDB grid: distances within three voxels of the surface, elsewhere
/// the half-width of the band, negative inside.
pub(in super::super) fn write(solid: &LevelSet, out: &mut impl Write) -> io::Result<()> {
    let nodes = Nodes { solid, band: (HALF_WIDTH * solid.grid().spacing()) as f32 };
    if !solid.values().iter().any(|value| value.abs() < nodes.band) {
        let problem =
            "it has no surface, around which all voxels of a .vdb file are: use .lset or .vti";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let mut head = Vec::new();
    head.extend(MAGIC.to_le_bytes());
    // the layout version, and that of the first library with it
    [224_u32, 6, 0].iter().for_each(|number| head.extend(number.to_le_bytes()));
    head.push(1);
    head.extend(identifier(solid).as_bytes());
    // no file metadata, and one grid
    [0_u32, 1].iter().for_each(|number| head.extend(number.to_le_bytes()));
    [NAME, TREE, ""].iter().for_each(|name| text(&mut head, name));
    let mut grid = Vec::new();
    grid.extend((ZIP | ACTIVE_MASK).to_le_bytes());
    metadata(&mut grid, solid);
    transform(&mut grid, solid);
    let mut leaves = Vec::new();
    nodes.topology(&mut grid, &mut leaves)?;
    let mut buffers = Vec::new();
    for origin in leaves {
        nodes.leaf(origin, &mut buffers)?;
    }
    let start = head.len() as u64 + 24;
    let (block, end) = (grid.len() as u64, (grid.len() + buffers.len()) as u64);
    [start, start + block, start + end].iter().for_each(|at| head.extend(at.to_le_bytes()));
    out.write_all(&head)?;
    out.write_all(&grid)?;
    out.write_all(&buffers)
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

/// A UUID derived from the samples, so that equal files have equal bytes.
fn identifier(solid: &LevelSet) -> String {
    let mut sum = crc32fast::Hasher::new();
    solid.values().iter().for_each(|value| sum.update(&value.to_le_bytes()));
    format!("62726973-616e-4365-8000-0000{:08x}", sum.finalize())
}

fn metadata(out: &mut Vec<u8>, solid: &LevelSet) {
    let bounds = |corner: [usize; 3]| corner.map(|n| (n as i32).to_le_bytes()).concat();
    let last = solid.grid().dims().map(|n| n - 1);
    let entries = [
        ("class", "string", b"level set".to_vec()),
        ("file_bbox_max", "vec3i", bounds(last)),
        ("file_bbox_min", "vec3i", bounds([0; 3])),
        ("is_saved_as_half_float", "bool", vec![0]),
        ("name", "string", NAME.as_bytes().to_vec()),
    ];
    out.extend((entries.len() as u32).to_le_bytes());
    for (name, kind, value) in entries {
        text(out, name);
        text(out, kind);
        out.extend((value.len() as u32).to_le_bytes());
        out.extend(value);
    }
}

fn transform(out: &mut Vec<u8>, solid: &LevelSet) {
    let grid = solid.grid();
    let h = grid.spacing();
    text(out, "UniformScaleTranslateMap");
    let origin: [f64; 3] = grid.origin().coords.into();
    let all = [origin, [h; 3], [h; 3], [1.0 / h; 3], [1.0 / (h * h); 3], [0.5 / h; 3]];
    all.as_flattened().iter().for_each(|x| out.extend(x.to_le_bytes()));
}

/// The tree of samples, the first of which has index zero.
struct Nodes<'s> {
    solid: &'s LevelSet,
    /// The background.
    band: f32,
}

impl Nodes<'_> {
    /// The sample at an index; outside the grid the background.
    fn value(&self, at: [usize; 3]) -> f32 {
        self.solid.values().get(at).copied().unwrap_or(self.band)
    }

    fn is_active(&self, value: f32) -> bool {
        value.abs() < self.band
    }

    /// Whether a cube is entirely inside or entirely outside beyond the band; `None` otherwise.
    fn side(&self, origin: [usize; 3], size: usize) -> Option<bool> {
        let dims = self.solid.grid().dims();
        let end = [0, 1, 2].map(|k| (origin[k] + size).min(dims[k]));
        let is_whole = (0..3).all(|k| origin[k] + size <= dims[k]);
        let mut side = if is_whole { None } else { Some(false) };
        for i in origin[0]..end[0] {
            for (j, k) in (origin[1]..end[1]).flat_map(|j| (origin[2]..end[2]).map(move |k| (j, k)))
            {
                let value = self.value([i, j, k]);
                let own = value < 0.0;
                if self.is_active(value) || *side.get_or_insert(own) != own {
                    return None;
                }
            }
        }
        side
    }

    /// Writes the root and all masks, and collects the leaves in order.
    fn topology(&self, out: &mut Vec<u8>, leaves: &mut Vec<[usize; 3]>) -> io::Result<()> {
        let size = 1 << WIDTHS.iter().sum::<u32>();
        let counts = self.solid.grid().dims().map(|n| n.div_ceil(size));
        let children: usize = counts.iter().product();
        out.extend(1_u32.to_le_bytes());
        out.extend(self.band.to_le_bytes());
        [0, children as u32].iter().for_each(|number| out.extend(number.to_le_bytes()));
        for n in 0..children {
            let at = [n / (counts[1] * counts[2]), n / counts[2] % counts[1], n % counts[2]];
            let origin = at.map(|x| x * size);
            origin.iter().for_each(|x| out.extend((*x as i32).to_le_bytes()));
            self.node(0, origin, out, leaves)?;
        }
        Ok(())
    }

    fn node(
        &self,
        level: usize,
        origin: [usize; 3],
        out: &mut Vec<u8>,
        leaves: &mut Vec<[usize; 3]>,
    ) -> io::Result<()> {
        if level == 2 {
            out.extend(self.mask(origin));
            leaves.push(origin);
            return Ok(());
        }
        let width = WIDTHS[level];
        let count = 1_usize << (3 * width);
        let size = 1 << WIDTHS[level + 1..].iter().sum::<u32>();
        let place = |n: usize| {
            let at = coordinates(n, width);
            [0, 1, 2].map(|k| origin[k] + size * at[k] as usize)
        };
        let sides: Vec<Option<bool>> = (0..count).map(|n| self.side(place(n), size)).collect();
        out.extend(bits(sides.iter().map(Option::is_none)));
        out.extend(vec![0; count / 8]);
        let inside = sides.iter().map(|side| side.unwrap_or(false));
        // a child node replaces the tile value
        let tiles: Vec<bool> = sides.iter().copied().flatten().collect();
        inactive(out, inside, &tiles);
        packed(out, &[])?;
        for n in (0..count).filter(|&n| sides[n].is_none()) {
            self.node(level + 1, place(n), out, leaves)?;
        }
        Ok(())
    }

    fn samples(&self, origin: [usize; 3]) -> impl Iterator<Item = f32> {
        (0..512).map(move |n| {
            let at = coordinates(n, WIDTHS[2]);
            self.value([0, 1, 2].map(|k| origin[k] + at[k] as usize))
        })
    }

    /// The active voxels of a leaf.
    fn mask(&self, origin: [usize; 3]) -> Vec<u8> {
        bits(self.samples(origin).map(|value| self.is_active(value)))
    }

    fn leaf(&self, origin: [usize; 3], out: &mut Vec<u8>) -> io::Result<()> {
        out.extend(self.mask(origin));
        let values: Vec<f32> = self.samples(origin).collect();
        let is_far = |value: &&f32| !self.is_active(**value);
        let far: Vec<bool> = values.iter().filter(is_far).map(|value| *value < 0.0).collect();
        inactive(out, values.iter().map(|value| *value < 0.0), &far);
        let near: Vec<f32> = values.iter().copied().filter(|v| self.is_active(*v)).collect();
        packed(out, &near)
    }
}

fn bits(all: impl Iterator<Item = bool>) -> Vec<u8> {
    let all: Vec<bool> = all.collect();
    let byte = |eight: &[bool; 8]| (0..8).fold(0, |byte, n| byte | u8::from(eight[n]) << n);
    all.as_chunks::<8>().0.iter().map(byte).collect()
}

/// Flag and, if needed, mask of the inactive values: `far` marks which relevant ones are inside,
/// `is_inside` which of all values of the node.
fn inactive(out: &mut Vec<u8>, is_inside: impl Iterator<Item = bool>, far: &[bool]) {
    if far.iter().all(|inside| !inside) {
        // all are the background
        out.push(0);
    } else if far.iter().all(|inside| *inside) {
        // all are the negated background
        out.push(1);
    } else {
        // a mask selects between the two
        out.push(3);
        out.extend(bits(is_inside.map(|inside| !inside)));
    }
}

/// Values of active voxels, compressed if that is shorter.
fn packed(out: &mut Vec<u8>, values: &[f32]) -> io::Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&bytes)?;
    let short = encoder.finish()?;
    if short.len() < bytes.len() {
        out.extend((short.len() as i64).to_le_bytes());
        out.extend(short);
    } else {
        out.extend((-(bytes.len() as i64)).to_le_bytes());
        out.extend(bytes);
    }
    Ok(())
}
