//! Arguments of `brisance slice`.

use std::path::PathBuf;

use clap::Args;
use fracture::Plane;
use nalgebra::Vector3;

const SLICE_EXAMPLES: &str = "Examples:
  brisance slice assets/bunny.obj --plane 0,1,0,0.05 -o halves.glb
  brisance slice part.stl --plane 1,0,0,0 --plane 0,0,1,0 -o quarters.obj

Parts are closed meshes whose volumes add up to the volume of the mesh. Cuts are a separate material \
(.glb) or group (.obj).";

/// Arguments of `brisance slice`.
#[derive(Args, Debug)]
#[command(after_help = SLICE_EXAMPLES)]
pub struct SliceArguments {
    /// Closed mesh: .obj, .stl, .ply or .glb
    pub mesh: PathBuf,
    /// The plane nx x + ny y + nz z = d; each further plane cuts all previous parts
    #[arg(long = "plane", value_name = "NX,NY,NZ,D", required = true, value_parser = plane)]
    #[arg(allow_hyphen_values = true)]
    pub planes: Vec<Plane>,
    /// File to write: .glb or .obj
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

fn plane(text: &str) -> Result<Plane, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let plane = numbers.and_then(|numbers| {
        let [x, y, z, d] = numbers.try_into().ok()?;
        Plane::new(Vector3::new(x, y, z), d)
    });
    let plain = "give four numbers, the first three not all zero, as in 0,1,0,0.5";
    plane.ok_or_else(|| plain.to_owned())
}
