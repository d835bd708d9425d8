//! Arguments of `brisance stress`.

use std::path::PathBuf;

use clap::Args;

use super::value::{positive, vector};

const STRESS_EXAMPLES: &str = "Examples:
  brisance stress assets/vase.msh --at 0,0,0 --impulse 0,2,0 --young 7e10 -o vase.vtu
  brisance stress assets/vase.msh --at 0,0,0 --impulse 0,2,0 --young 7e10 -o vase.png
  brisance stress beam.msh --fix -1,-1,-1,0.001,1,1 --force 1,0,0,0,-100,0 -o beam.vtu
  brisance stress assets/cinder_block.msh --loads scenes/loads/cinder_block.toml -o block.vtu
  brisance stress block.msh --loads loads.toml --isolines --crack-plane -o block.png

The static response of a body to all its loads (Mu01): displacement, stress and tension of every \
tetrahedron (.vtu, .msh), or an image with tension in shades of red (.png). Inertia balances a body without \
supports.";

/// Arguments of `brisance stress`.
#[derive(Args, Debug)]
#[command(after_help = STRESS_EXAMPLES)]
#[command(group = clap::ArgGroup::new("load").args(["at", "force", "body_force", "loads"]).required(true).multiple(true))]
pub struct StressArguments {
    /// Tetrahedra: .msh, .ele, .vol, .vtk or .vtu
    pub tets: PathBuf,
    /// Point of the impulse, m; moved to the nearest point of the surface
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    #[arg(requires = "impulse")]
    pub at: Option<[f64; 3]>,
    /// Impulse, N s
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    #[arg(requires = "at")]
    pub impulse: Option<[f64; 3]>,
    /// Point of a force, m, and the force, N; may be given several times
    #[arg(long, value_name = "X,Y,Z,FX,FY,FZ", value_parser = six_numbers, allow_hyphen_values = true)]
    pub force: Vec<[f64; 6]>,
    /// Force on the whole volume, such as gravity, N/m^3; causes stress only with --fix
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    pub body_force: Option<[f64; 3]>,
    /// Fix the vertices in a box, given by two opposite corners, m; may be given several times
    #[arg(long, value_name = "X,Y,Z,X,Y,Z", value_parser = six_numbers, allow_hyphen_values = true)]
    pub fix: Vec<[f64; 6]>,
    /// File of loads and supports, .toml, instead of their options; see `brisance schema --loads`
    #[arg(long, value_name = "LOADS.toml")]
    #[arg(conflicts_with_all = ["at", "force", "body_force", "fix"])]
    pub loads: Option<PathBuf>,
    /// Fix tetrahedra beyond this distance from the impulse, m, instead of inertia relief (Mu01
    /// section 2.8)
    #[arg(long, value_name = "METERS", value_parser = positive, requires = "at")]
    #[arg(conflicts_with = "fix", allow_hyphen_values = true)]
    pub collision_radius: Option<f64>,
    /// Duration of the impulse, s
    #[arg(long, value_name = "SECONDS", default_value = "0.001", value_parser = duration)]
    #[arg(allow_hyphen_values = true, requires = "at")]
    pub duration: f64,
    /// Young's modulus, Pa
    #[arg(long, value_name = "PA", default_value = "7e10", allow_hyphen_values = true)]
    #[arg(value_parser = positive)]
    pub young: f64,
    /// Poisson's ratio
    #[arg(long, value_name = "RATIO", default_value = "0.25", allow_hyphen_values = true)]
    #[arg(value_parser = poisson)]
    pub poisson: f64,
    /// Length over which stress is averaged, m
    #[arg(long, value_name = "METERS", default_value = "0", value_parser = radius)]
    #[arg(allow_hyphen_values = true)]
    pub averaging: f64,
    /// Use quadratic elements: far more accurate, but slower
    #[arg(long)]
    pub quadratic: bool,
    /// Use Green strain and Newton's method, for strains above 1e-2
    #[arg(long, conflicts_with = "quadratic")]
    pub newton: bool,
    /// Use conjugate gradients instead of a sparse Cholesky factor: slower, with less memory
    #[arg(long)]
    pub cg: bool,
    /// Tension of full red in the image, Pa (.png) [default: the maximum]
    #[arg(long, value_name = "PA", value_parser = positive)]
    pub red: Option<f64>,
    /// Average stress at vertices and draw lines of equal stress at the marks of the color bar (.png)
    #[arg(long)]
    pub isolines: bool,
    /// Cut the body open along its crack plane, normal to the largest tension (.png)
    #[arg(long)]
    pub crack_plane: bool,
    /// File to write: .vtu, .msh or .png
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

fn six_numbers(text: &str) -> Result<[f64; 6], String> {
    let all: Vec<&str> = text.split(',').collect();
    let [a, b, c, d, e, f] = all[..] else {
        return Err("give six numbers, as in 0,0.5,-1,0,-10,0".to_owned());
    };
    let [first, second] = [[a, b, c], [d, e, f]].map(|part| vector(&part.join(",")));
    let ([x, y, z], [u, v, w]) = (first?, second?);
    Ok([x, y, z, u, v, w])
}

fn radius(text: &str) -> Result<f64, String> {
    // as coordinates of meshes
    let number = text.parse().ok().filter(|x| (0.0..=1e30).contains(x));
    number.ok_or_else(|| "give a number from 0 to 1e30".to_owned())
}

fn duration(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x| (1e-9..=1e3).contains(x));
    number.ok_or_else(|| "give a number of seconds from 1e-9 to 1000".to_owned())
}

fn poisson(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x| (-0.99..=0.49).contains(x));
    number.ok_or_else(|| "give a number from -0.99 to 0.49".to_owned())
}
