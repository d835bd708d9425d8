//! A series for ParaView: `NAME.pvd` that names the files in the folder `NAME` beside it, one VTK
//! unstructured grid of triangles per frame, in world coordinates.
//!
//! Cells have the number of their body, its speed in m/s and whether they are of a cut. Data are
//! appended as raw bytes, little-endian.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use nalgebra::Point3;
use sim::{Recording, Track};

use super::{WriteError, check};

/// The name of a triangle in VTK.
const VTK_TRIANGLE: u8 = 5;

/// Writes `frame_00000.vtu` and so on.
pub(super) fn write_frames(recording: &Recording, folder: &Path) -> Result<(), WriteError> {
    check(recording)?;
    for frame in 0..recording.frames {
        let mut out = BufWriter::new(File::create(folder.join(name(frame)))?);
        write_frame(recording, frame, &mut out)?;
        out.flush()?;
    }
    Ok(())
}

/// Writes the list of the files in `folder`, with the times of their frames.
pub(super) fn write_list(
    recording: &Recording,
    folder: &str,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    writeln!(out, "<?xml version=\"1.0\"?>")?;
    writeln!(out, "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">")?;
    writeln!(out, "<Collection>")?;
    let folder = escaped(folder);
    for frame in 0..recording.frames {
        let (time, name) = (frame as f64 / recording.fps, name(frame));
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

/// The speed of the middle of a body in a frame, m/s: that of its last move, or of the next one if
/// it was just born.
fn speed(track: &Track, frame: usize, fps: f64) -> f32 {
    let place = |frame: usize| track.pose(frame).map(|pose| pose.translation.vector);
    let before = frame.checked_sub(1).and_then(place);
    let ends = before.zip(place(frame)).or_else(|| place(frame).zip(place(frame + 1)));
    ends.map_or(0.0, |(from, to)| ((to - from).norm() * fps) as f32)
}

/// What is known of the triangles of a frame.
#[derive(Default)]
struct Cells {
    points: Vec<u8>,
    corners: Vec<u8>,
    ends: Vec<u8>,
    bodies: Vec<u8>,
    speeds: Vec<u8>,
    cuts: Vec<u8>,
    count: usize,
}

fn cells(recording: &Recording, frame: usize) -> Cells {
    let mut cells = Cells::default();
    let mut first = 0;
    for (n, track) in recording.tracks.iter().enumerate() {
        let Some(pose) = track.pose(frame) else { continue };
        let speed = speed(track, frame, recording.fps).to_le_bytes();
        let surface = track.surface();
        for vertex in &surface.vertices {
            let p = (pose * Point3::from(*vertex).cast()).cast::<f32>();
            p.iter().for_each(|x| cells.points.extend(x.to_le_bytes()));
        }
        for (cut, triangles) in [(0, &surface.outer), (1, &surface.inner)] {
            for triangle in triangles {
                for corner in triangle {
                    cells.corners.extend((first + i64::from(*corner)).to_le_bytes());
                }
                cells.count += 1;
                cells.ends.extend((3 * cells.count as i64).to_le_bytes());
                cells.bodies.extend((n as i32).to_le_bytes());
                cells.speeds.extend(speed);
                cells.cuts.push(cut);
            }
        }
        first += surface.vertices.len() as i64;
    }
    cells
}

fn write_frame(recording: &Recording, frame: usize, out: &mut impl Write) -> std::io::Result<()> {
    let cells = cells(recording, frame);
    let (points, count) = (cells.points.len() / 12, cells.count);
    let types = vec![VTK_TRIANGLE; count];
    let mut offset = 0;
    let mut array = |kind: &str, name: &str, components: usize, data: &[u8]| {
        let line = format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{offset}\"/>\n"
        );
        // a count of bytes comes before each
        offset += 8 + data.len();
        line
    };
    let of_cells = array("Int32", "body", 1, &cells.bodies)
        + &array("Float32", "speed", 1, &cells.speeds)
        + &array("UInt8", "cut", 1, &cells.cuts);
    let of_points = array("Float32", "points", 3, &cells.points);
    let shape = array("Int64", "connectivity", 1, &cells.corners)
        + &array("Int64", "offsets", 1, &cells.ends)
        + &array("UInt8", "types", 1, &types);
    write!(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
         byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{count}\">\n\
         <CellData Scalars=\"body\">\n{of_cells}</CellData>\n<Points>\n{of_points}</Points>\n\
         <Cells>\n{shape}</Cells>\n</Piece>\n</UnstructuredGrid>\n\
         <AppendedData encoding=\"raw\">\n_"
    )?;
    let Cells { points, corners, ends, bodies, speeds, cuts, .. } = &cells;
    for data in [bodies, speeds, cuts, points, corners, ends, &types] {
        out.write_all(&(data.len() as u64).to_le_bytes())?;
        out.write_all(data)?;
    }
    write!(out, "\n</AppendedData>\n</VTKFile>\n")
}
