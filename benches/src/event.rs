//! Fracture events for timing.

use std::path::Path;

use std::sync::Arc;

use fracture::{
    Alignment, ClosedMesh, Geometry, Pattern, Pieces, Radial, Shattered, Voronoi, shatter,
};
use levelset::{Aabb, Grid, LevelSet, Sign, Solid, TriMesh};
use nalgebra::{Point3, UnitVector3, Vector3};

const H: f64 = 0.01;
/// Sites in the whole space of the pattern; only some of their cells intersect the bunny.
const BUNNY_SITES: usize = 543;
/// Pieces of a sampled body with fewer inside nodes are merged with a neighbor.
const MIN_NODES: usize = 8;
/// Pieces of an exact body with a smaller share of its volume are merged with a neighbor.
const MIN_SHARE: f64 = 1e-5;

/// A body with a pattern and its placement.
pub struct Event {
    /// Name of the event.
    pub name: &'static str,
    /// Exact surface of the body.
    pub exact: Geometry,
    /// Samples of the body.
    pub body: LevelSet,
    /// Points on its surface, m.
    pub particles: Vec<Point3<f64>>,
    /// The fracture pattern.
    pub pattern: Pattern,
    /// Placement of the pattern.
    pub at: Alignment,
}

impl Event {
    fn new(
        name: &'static str,
        exact: Geometry,
        pattern: Pattern,
        (at, n): (Point3<f64>, UnitVector3<f64>),
    ) -> Self {
        let body = LevelSet::clone(exact.level_set());
        let particles = body.surface_particles(body.grid().spacing());
        let at = Alignment::enclosing(&body.grid().bounds(), at, n);
        Self { name, exact, body, particles, pattern, at }
    }

    /// The pieces of the sampled body.
    pub fn run(&self) -> Shattered {
        shatter(&self.body, &self.particles, &self.pattern, &self.at, MIN_NODES)
    }

    /// The pieces of the exact body, cut and measured.
    pub fn cut(&self) -> Pieces {
        let least = MIN_SHARE * self.exact.moments().volume;
        self.exact.divide(&self.pattern, &self.at, least)
    }

    /// The pieces of the exact body, with their collision geometry: convex hulls, or a level set and
    /// surface points.
    pub fn run_exact(&self) -> Pieces {
        let pieces = self.cut();
        for piece in &pieces.pieces {
            if std::hint::black_box(piece.geometry.hulls()).is_none() {
                piece.geometry.level_set();
                std::hint::black_box(piece.geometry.points());
            }
        }
        pieces
    }
}

/// A solid on `dims` nodes, centered.
fn primitive(dims: [usize; 3], solid: Solid) -> Geometry {
    let corner = Vector3::from(dims.map(|n| (n - 1) as f64 * H / 2.0));
    let grid = Grid::new(Point3::from(-corner), H, dims, Grid::MAX_NODES).expect("a small grid");
    Geometry::primitive(solid, grid).expect("a bounded solid")
}

fn wall() -> Geometry {
    primitive([150, 10, 100], Solid::Box { half_extents: Vector3::new(0.72, 0.025, 0.47) })
}

/// The bunny in 70 x 60 x 45 nodes.
fn bunny() -> Geometry {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    let options = tobj::LoadOptions { single_index: true, triangulate: true, ..Default::default() };
    let (models, _) = tobj::load_obj(Path::new(path), &options).expect("it is in the repository");
    let mesh = &models[0].mesh;
    let mesh = TriMesh {
        vertices: mesh.positions.chunks_exact(3).map(Point3::from_slice).collect(),
        triangles: mesh.indices.as_chunks().0.to_vec(),
    };
    let bounds = Aabb::around(&mesh.vertices).expect("vertices");
    let dims = [70, 60, 45];
    let spacing = bounds.extents().zip_map(&Vector3::from(dims), |x, n| x / (n - 5) as f64).max();
    let corner = Vector3::from(dims.map(|n| (n - 1) as f64 * spacing / 2.0));
    let dims = dims.map(|n| n as usize);
    let grid = Grid::new(bounds.center() - corner, spacing, dims, Grid::MAX_NODES);
    let samples = LevelSet::from_mesh(&mesh, grid.expect("a small grid"), Sign::Strict);
    let samples = Arc::new(samples.expect("a closed mesh"));
    Geometry::mesh(&ClosedMesh::new(mesh).expect("a closed mesh"), samples)
}

fn voronoi(sites: usize, extents: [f64; 3], clustering: f64) -> Pattern {
    let extents = Vector3::from(extents);
    Pattern::voronoi(&Voronoi { extents, clustering, ..Voronoi::new(sites, 1) })
        .expect("parameters in range")
}

/// The events.
///
/// # Panics
/// If the bunny of the repository is missing.
pub fn events() -> Vec<Event> {
    let up = Vector3::y_axis();
    let on_top = (Point3::new(0.1, 0.025, 0.1), up);
    let flat = [0.83, 0.07, 0.55];
    let radial = Pattern::radial(&Radial::new(9, 3, 1)).expect("parameters in range");
    let cylinder = primitive([55, 105, 55], Solid::Cylinder { half_height: 0.5, radius: 0.25 });
    let side = (Point3::new(0.25, 0.0, 0.0), Vector3::x_axis());
    let bunny = bunny();
    let back = (bunny.grid().bounds().center(), up);
    vec![
        Event::new("wall voronoi", wall(), voronoi(64, flat, 1.0), on_top),
        Event::new("wall radial", wall(), radial, on_top),
        Event::new("table", wall(), voronoi(350, flat, 1.0), on_top),
        Event::new("cylinder", cylinder, voronoi(94, [0.5, 0.9, 0.5], 1.0), side),
        Event::new("bunny", bunny, voronoi(BUNNY_SITES, [0.8; 3], 1.3), back),
    ]
}
