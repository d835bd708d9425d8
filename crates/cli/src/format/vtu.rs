//! A series for ParaView: `NAME.pvd`, which lists the files in the folder `NAME` next to it, one
//! VTK unstructured grid per frame in world coordinates: the triangles of bodies or, for finite
//! element bodies, their tetrahedra from the first frame in which they are known.
//!
//! Cells have the index of their body, its speed in m/s, whether they belong to a cut, and the
//! stress of the last impact, Pa: the largest principal one and the von Mises stress, zero where
//! unknown. Data are appended as raw bytes, little-endian, each array compressed by zlib. Unchanged
//! frames share one file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use meshfile::WriteError;
use nalgebra::Point3;
use sim::{Recording, Track};

use super::check::check;

/// The VTK types of a triangle and a tetrahedron.
const VTK_TRIANGLE: u8 = 5;
const VTK_TETRA: u8 = 10;
/// Bytes per point.
const POINT: usize = 12;

/// Writes `frame_00000.vtu` and so on, and returns for each frame the one whose file contains it.
pub(super) fn write_frames(recording: &Recording, folder: &Path) -> Result<Vec<usize>, WriteError> {
    check(recording)?;
    let mut written: Vec<usize> = Vec::with_capacity(recording.frames);
    let mut last = Cells::default();
    for frame in 0..recording.frames {
        let cells = Cells::of(recording, frame);
        if let Some(&known) = written.last().filter(|_| cells == last) {
            written.push(known);
            continue;
        }
        let mut out = BufWriter::new(File::create(folder.join(name(frame)))?);
        write_cells(&cells, &mut out)?;
        out.flush()?;
        written.push(frame);
        last = cells;
    }
    Ok(written)
}

/// Writes the list of the files in `folder`, with the times of their frames; `written` is the
/// result of [`write_frames`].
pub(super) fn write_list(
    recording: &Recording,
    written: &[usize],
    folder: &str,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    writeln!(out, "<?xml version=\"1.0\"?>")?;
    writeln!(out, "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">")?;
    writeln!(out, "<Collection>")?;
    let folder = escaped(folder);
    for (frame, file) in written.iter().enumerate() {
        let (time, name) = (frame as f64 / recording.fps, name(*file));
        writeln!(out, "<DataSet timestep=\"{time}\" part=\"0\" file=\"{folder}/{name}\"/>")?;
    }
    writeln!(out, "</Collection>\n</VTKFile>")?;
    Ok(())
}

fn name(frame: usize) -> String {
    format!("frame_{frame:05}.vtu")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// The speed of a body's origin in a frame, m/s, from its last displacement, or from the next one
/// if it was just created.
fn speed(track: &Track, frame: usize, fps: f64) -> f32 {
    let place = |frame: usize| track.pose(frame).map(|pose| pose.translation.vector);
    let before = frame.checked_sub(1).and_then(place);
    let ends = before.zip(place(frame)).or_else(|| place(frame).zip(place(frame + 1)));
    ends.map_or(0.0, |(from, to)| ((to - from).norm() * fps) as f32)
}

/// The cells of a frame and their data.
#[derive(Default, PartialEq)]
struct Cells {
    points: Vec<u8>,
    corners: Vec<u8>,
    ends: Vec<u8>,
    types: Vec<u8>,
    bodies: Vec<u8>,
    speeds: Vec<u8>,
    cuts: Vec<u8>,
    principal: Vec<u8>,
    von_mises: Vec<u8>,
    /// Number of corners so far.
    length: i32,
}

/// Common data of all cells of a body.
struct BodyCells {
    /// The index of its first point.
    first: i32,
    body: i32,
    /// Speed, m/s.
    speed: f32,
}

impl Cells {
    fn of(recording: &Recording, frame: usize) -> Self {
        let mut cells = Self::default();
        for (n, track) in recording.tracks.iter().enumerate() {
            let Some(pose) = track.pose(frame) else { continue };
            // 2^31 points take 24 GB
            let first = (cells.points.len() / POINT) as i32;
            let of = BodyCells { first, body: n as i32, speed: speed(track, frame, recording.fps) };
            let scale = track.scale(frame, recording.fps);
            let mut place = |vertices: &[[f32; 3]]| {
                for vertex in vertices {
                    let p = (pose * (Point3::from(*vertex).cast() * scale)).cast::<f32>();
                    p.iter().for_each(|x| cells.points.extend(x.to_le_bytes()));
                }
            };
            if let Some(field) = track.stress(frame).and_then(|stress| stress.field.as_ref()) {
                place(&field.tets.vertices);
                let stresses = field.principal.iter().zip(&field.von_mises);
                for (tet, (principal, von_mises)) in field.tets.corners.iter().zip(stresses) {
                    cells.add(&of, (VTK_TETRA, tet), 0, [*principal, *von_mises]);
                }
                continue;
            }
            let surface = track.surface();
            place(&surface.vertices);
            for (cut, triangles) in [(0, &surface.outer), (1, &surface.inner)] {
                for triangle in triangles {
                    cells.add(&of, (VTK_TRIANGLE, triangle), cut, [0.0; 2]);
                }
            }
        }
        cells
    }

    fn add(&mut self, of: &BodyCells, (kind, corners): (u8, &[u32]), cut: u8, stress: [f32; 2]) {
        for corner in corners {
            self.corners.extend((of.first + *corner as i32).to_le_bytes());
        }
        self.length += corners.len() as i32;
        self.ends.extend(self.length.to_le_bytes());
        self.types.push(kind);
        self.bodies.extend(of.body.to_le_bytes());
        self.speeds.extend(of.speed.to_le_bytes());
        self.cuts.push(cut);
        self.principal.extend(stress[0].to_le_bytes());
        self.von_mises.extend(stress[1].to_le_bytes());
    }
}

/// A data array: its type, its name, its number of components and its bytes.
type Array<'a> = (&'a str, &'a str, usize, &'a [u8]);

/// VTK's compressed form: the number of blocks, the size of a block and of a shorter last one, and
/// the compressed size of each; then the blocks.
pub(crate) fn compressed(data: &[u8]) -> std::io::Result<Vec<u8>> {
    const BLOCK: usize = 1 << 16;
    let blocks = data.chunks(BLOCK).map(|block| {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(block)?;
        zlib.finish()
    });
    let blocks = blocks.collect::<std::io::Result<Vec<_>>>()?;
    let head = [blocks.len(), BLOCK, data.len() % BLOCK];
    let sizes = head.into_iter().chain(blocks.iter().map(Vec::len));
    let mut all: Vec<u8> = sizes.flat_map(|size| (size as u64).to_le_bytes()).collect();
    blocks.iter().for_each(|block| all.extend(block));
    Ok(all)
}

/// A data array in file form.
struct Packed<'a> {
    kind: &'a str,
    name: &'a str,
    components: usize,
    bytes: Vec<u8>,
}

impl<'a> Packed<'a> {
    fn of((kind, name, components, data): &Array<'a>) -> std::io::Result<Self> {
        Ok(Self { kind, name, components: *components, bytes: compressed(data)? })
    }
}

fn write_cells(cells: &Cells, out: &mut impl Write) -> std::io::Result<()> {
    let (points, count) = (cells.points.len() / POINT, cells.types.len());
    let of_cells: [Array; 5] = [
        ("Int32", "body", 1, &cells.bodies),
        ("Float32", "speed", 1, &cells.speeds),
        ("UInt8", "cut", 1, &cells.cuts),
        ("Float32", "max_principal_stress", 1, &cells.principal),
        ("Float32", "von_mises_stress", 1, &cells.von_mises),
    ];
    let of_points: [Array; 1] = [("Float32", "points", 3, &cells.points)];
    let shape: [Array; 3] = [
        ("Int32", "connectivity", 1, &cells.corners),
        ("Int32", "offsets", 1, &cells.ends),
        ("UInt8", "types", 1, &cells.types),
    ];
    fn packed<'a>(arrays: &[Array<'a>]) -> std::io::Result<Vec<Packed<'a>>> {
        arrays.iter().map(Packed::of).collect()
    }
    let (of_cells, of_points, shape) = (packed(&of_cells)?, packed(&of_points)?, packed(&shape)?);
    let mut offset = 0;
    let mut declared = |arrays: &[Packed]| {
        let mut text = String::new();
        for Packed { kind, name, components, bytes } in arrays {
            let of = match components {
                1 => String::new(),
                _ => format!(" NumberOfComponents=\"{components}\""),
            };
            text += &format!(
                "<DataArray type=\"{kind}\" Name=\"{name}\"{of} format=\"appended\" \
                 offset=\"{offset}\"/>\n"
            );
            offset += bytes.len();
        }
        text
    };
    let (in_cells, in_points, in_shape) =
        (declared(&of_cells), declared(&of_points), declared(&shape));
    write!(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
         byte_order=\"LittleEndian\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n\
         <UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{count}\">\n\
         <CellData Scalars=\"body\">\n{in_cells}</CellData>\n<Points>\n{in_points}</Points>\n\
         <Cells>\n{in_shape}</Cells>\n</Piece>\n</UnstructuredGrid>\n\
         <AppendedData encoding=\"raw\">\n_"
    )?;
    for Packed { bytes, .. } in of_cells.iter().chain(&of_points).chain(&shape) {
        out.write_all(bytes)?;
    }
    write!(out, "\n</AppendedData>\n</VTKFile>\n")
}
