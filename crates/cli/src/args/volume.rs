//! Arguments of `brisance tetrahedralize` and `brisance voxelize`.

use std::path::PathBuf;

use clap::Args;

use super::sampling::Sampling;
use super::value::positive;

const TETRAHEDRALIZE_EXAMPLES: &str = "Examples:
  brisance tetrahedralize assets/bunny.obj --count 60000 -o bunny.msh
  brisance tetrahedralize part.stl --cell 0.01 -o part.vtu

Isosurface stuffing (Labelle and Shewchuk 2007) guarantees the quality of tetrahedra in cells of one \
size. The surface of the tetrahedra deviates from the mesh by a fraction of a cell. Cells are halved in thin \
parts. If thin parts would still be lost, the command fails and prints a sufficient --count, unless --lossy \
is given.";

/// Arguments of `brisance tetrahedralize`.
#[derive(Args, Debug)]
#[command(after_help = TETRAHEDRALIZE_EXAMPLES)]
#[command(group = clap::ArgGroup::new("fineness").args(["cell", "count"]).required(true))]
pub struct TetrahedralizeArguments {
    /// Closed mesh, .obj, .stl, .ply or .glb; or a level set, .lset, .vti or .vdb
    pub mesh: PathBuf,
    /// Edge of the cells, in the mesh's units
    #[arg(long, value_name = "SIZE", value_parser = positive)]
    pub cell: Option<f64>,
    /// Approximate number of tetrahedra
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(12..=5_000_000))]
    pub count: Option<u32>,
    /// Maximum number of doublings of the cell size away from the surface
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=8))]
    pub doublings: u8,
    /// Maximum number of halvings of the cell size in thin parts of the mesh; 0 for surface cells
    /// of one size
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=5))]
    pub halvings: u8,
    /// Write the tetrahedra even if they lack thin parts of the mesh
    #[arg(long)]
    pub lossy: bool,
    /// Sampling of the mesh
    #[command(flatten)]
    pub sampling: Sampling,
    /// File to write: .msh (Gmsh 2.2) or .vtu (VTK, ParaView)
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

const VOXELIZE_EXAMPLES: &str = "Examples:
  brisance voxelize assets/bunny.obj --nodes 500000 -o bunny.lset
  brisance voxelize bunny.lset -o bunny.vti
  brisance voxelize bunny.vti -o bunny.vdb
  brisance voxelize bunny.vdb -o bunny.obj

A .lset file holds signed distances on the nodes of a grid, f32 and little-endian, after a header of 72 \
bytes: `levelset::LevelSet::read_from` reads it, and so does `brisance tetrahedralize`. \
A .vti file is image data of VTK with the point scalars `distance`, for ParaView and VTK. A .vdb file is a level set of \
OpenVDB with a narrow band of three voxels, for Houdini and Blender. From files of other programs, the command reads the first level \
set of floats, uncompressed or compressed by zip or Blosc. An .obj file has the \
surface of zero distance.";

/// Arguments of `brisance voxelize`.
#[derive(Args, Debug)]
#[command(after_help = VOXELIZE_EXAMPLES)]
pub struct VoxelizeArguments {
    /// Closed mesh: .obj, .stl, .ply or .glb; or a level set: .lset, .vti or .vdb
    pub mesh: PathBuf,
    /// Sampling of the mesh
    #[command(flatten)]
    pub sampling: Sampling,
    /// File to write: .lset, .vti (VTK, ParaView), .vdb (OpenVDB) or .obj (the surface as a mesh)
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}
