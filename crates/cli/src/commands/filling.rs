//! Resolution of a tetrahedral filling, and the parts of the mesh that it misses.

use levelset::{Deviation, GridError, LevelSet, Stuffing, TetMesh, TriMesh};

use crate::args::TetrahedralizeArguments;
use crate::wording::number;

/// The requested resolution.
#[derive(Clone, Copy, Debug)]
pub enum Fineness {
    /// Edge of the cells, in the mesh's units.
    Cell(f64),
    /// Approximate number of tetrahedra.
    Count(u32),
}

impl Fineness {
    pub(super) fn of(arguments: &TetrahedralizeArguments) -> Self {
        let cell = || Self::Cell(arguments.cell.unwrap_or(1.0));
        arguments.count.map_or_else(cell, Self::Count)
    }

    /// Finer resolutions, with two and four times as many tetrahedra.
    pub(super) fn finer(self) -> impl Iterator<Item = Self> {
        const TRIES: u32 = 2;
        (1..=TRIES).map(move |n| match self {
            Self::Cell(cell) => Self::Cell(rounded(cell / f64::from(1 << n).cbrt())),
            Self::Count(count) => Self::Count(count << n),
        })
    }
}

impl std::fmt::Display for Fineness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cell(cell) => write!(f, "--cell {cell}"),
            Self::Count(count) => write!(f, "--count {count}"),
        }
    }
}

/// A number rounded down to two digits.
fn rounded(x: f64) -> f64 {
    let unit = x.log10().floor() - 1.0;
    let text = format!("{}e{unit}", (x / 10.0_f64.powf(unit)).floor());
    text.parse().ok().filter(|rounded| *rounded > 0.0).unwrap_or(x)
}

/// Parts of a mesh that tetrahedra miss.
#[derive(Clone, Copy, Debug)]
pub enum Loss {
    /// Parts of the mesh: largest distance of a lost point from the surface of the tetrahedra, in
    /// the mesh's units, above two mean edges.
    Parts(f64),
    /// Connections between parts: numbers of components of the tetrahedra and of the mesh.
    Connections(usize, usize),
    /// Intact walls: numbers of holes through the tetrahedra and through the mesh.
    Holes(i64, i64),
}

/// Number of holes through the solid that a closed surface bounds: its genus, by its Euler number `2 (c - g)` for `c`
/// components.
fn holes(surface: &TriMesh) -> i64 {
    surface.facts().map_or(0, |facts| facts.components as i64 - facts.euler_number / 2)
}

impl Loss {
    /// The loss of a filling of `solid`, if any; `deviation` is the distance between both surfaces.
    pub fn of(mesh: &TetMesh, solid: &LevelSet, deviation: Deviation) -> Option<Self> {
        let lost = deviation.from_level_set;
        if lost > 2.0 * mean_edge(mesh) {
            return Some(Self::Parts(lost));
        }
        let pieces = mesh.components().count;
        let wanted = || solid.components().count;
        if pieces > 1 && pieces > wanted() {
            return Some(Self::Connections(pieces, wanted()));
        }
        let [own, of] = [mesh.boundary(), solid.isosurface()].map(|surface| holes(&surface));
        (own > of).then_some(Self::Holes(own, of))
    }
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Parts(lost) => {
                write!(
                    f,
                    "lack parts of the mesh up to {} from their surface, more than two cells",
                    number(*lost)
                )
            }
            Self::Connections(pieces, of) => {
                write!(f, "have {pieces} components, but the mesh has {of}")
            }
            Self::Holes(own, of) => write!(f, "have {own} holes, but the mesh has {of}"),
        }
    }
}

pub(super) fn filled(
    solid: &LevelSet,
    fineness: Fineness,
    stuffing: &Stuffing,
) -> Result<TetMesh, GridError> {
    match fineness {
        Fineness::Cell(spacing) => TetMesh::stuffed(solid, &Stuffing { spacing, ..*stuffing }),
        Fineness::Count(count) => TetMesh::stuffed_to_count(solid, count as usize, stuffing),
    }
}

/// Mean edge length of all tetrahedra.
fn mean_edge(mesh: &TetMesh) -> f64 {
    let edges = |t: usize| {
        let corners = mesh.corners(t);
        let of = |i: usize| (0..i).map(move |j| (corners[i] - corners[j]).norm());
        (1..4).flat_map(of).sum::<f64>()
    };
    (0..mesh.tets.len()).map(edges).sum::<f64>() / (6 * mesh.tets.len()).max(1) as f64
}
