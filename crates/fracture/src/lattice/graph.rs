//! Masses, and links between those of tetrahedra that share a face or an edge.

use levelset::{TetError, TetMesh};
use nalgebra::{Point3, Vector3};

/// Which tetrahedra are linked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Neighbors {
    /// Those that share a face, as in Ku07.
    Faces,
    /// Also those that share only an edge: their links count as having `share` of the mean area of
    /// the two tetrahedra's faces.
    Edges {
        /// Above 0; 0.25 makes them about as strong together as the links across faces.
        share: f64,
    },
}

/// Why a mesh gives no lattice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LatticeError {
    /// The mesh is invalid.
    #[error(transparent)]
    Mesh(#[from] TetError),
    /// A density or strength is not a positive number.
    #[error("{what} at {place:?} is {value}: give a positive number")]
    NotPositive {
        /// The quantity.
        what: &'static str,
        /// Position, m.
        place: [f64; 3],
        /// Its value.
        value: f64,
    },
    /// Too many tetrahedra share an edge.
    #[error(
        "the tetrahedra that share faces or edges are {pairs} pairs, more than {}: use a mesh with \
         fewer tetrahedra at each edge, or link those that share faces only",
        Lattice::MAX_PAIRS
    )]
    TooManyPairs {
        /// Number of pairs of tetrahedra, counted once per shared edge.
        pairs: usize,
    },
}

/// Masses and links.
#[derive(Clone, Debug)]
pub struct Lattice {
    pub(super) positions: Vec<Point3<f64>>,
    pub(super) masses: Vec<f64>,
    pub(super) fixed: Vec<bool>,
    pub(super) links: Vec<Link>,
    /// Strength of each link, N; 0 for a broken one.
    pub(super) strengths: Vec<f64>,
    /// Initial strengths, N.
    pub(super) whole: Vec<f64>,
    /// Links at each particle: those of `i` from `starts[i]` to `starts[i + 1]`.
    pub(super) starts: Vec<u32>,
    pub(super) at: Vec<u32>,
}

/// A distance constraint between two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The tetrahedra.
    pub ends: [u32; 2],
    /// Whether they share a face rather than an edge.
    pub across_face: bool,
    /// Area of the shared face, m^2.
    pub area: f64,
    /// Center of the shared face or edge.
    pub place: Point3<f64>,
}

impl Lattice {
    /// Largest number of pairs of tetrahedra that share a face or an edge, counted once per shared
    /// one.
    pub const MAX_PAIRS: usize = 1 << 25;

    /// Checks that a mesh gives a lattice.
    ///
    /// # Errors
    /// [`LatticeError`] if the mesh is invalid, or has more than [`Lattice::MAX_PAIRS`] pairs.
    pub fn check(mesh: &TetMesh, neighbors: Neighbors) -> Result<(), LatticeError> {
        mesh.validate()?;
        let rings = match neighbors {
            Neighbors::Faces => Vec::new(),
            Neighbors::Edges { .. } => edges(mesh),
        };
        let of_ring = |ring: &[Edge]| ring.len().saturating_mul(ring.len() - 1) / 2;
        let at_edges = rings.chunk_by(|a, b| a.0 == b.0).map(of_ring);
        let pairs = at_edges.fold(2 * mesh.tets.len(), usize::saturating_add);
        if pairs > Self::MAX_PAIRS {
            return Err(LatticeError::TooManyPairs { pairs });
        }
        Ok(())
    }

    /// One particle per tetrahedron, with the density, kg/m^3, at its centroid; the strength of a
    /// link is its area times the strength, Pa, at its position.
    ///
    /// # Errors
    /// As [`Lattice::check`], and [`LatticeError`] if a density or strength is not positive.
    pub fn new(
        mesh: &TetMesh,
        neighbors: Neighbors,
        density: impl Fn(&Point3<f64>) -> f64,
        strength: impl Fn(&Point3<f64>) -> f64,
    ) -> Result<Self, LatticeError> {
        Self::check(mesh, neighbors)?;
        let positive = |what, p: &Point3<f64>, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(value),
            false => Err(LatticeError::NotPositive { what, place: [p.x, p.y, p.z], value }),
        };
        let (mut positions, mut masses) = (Vec::new(), Vec::new());
        for tet in 0..mesh.tets.len() {
            let [a, b, c, d] = mesh.corners(tet).map(|p| p.coords);
            let centroid = Point3::from((a + b + c + d) / 4.0);
            masses.push(mesh.volume(tet) * positive("the density", &centroid, density(&centroid))?);
            positions.push(centroid);
        }
        let links = links(mesh, neighbors);
        let mut strengths = Vec::new();
        for Link { area, place, .. } in &links {
            strengths.push(area * positive("the strength", place, strength(place))?);
        }
        let (starts, at) = links_at(positions.len(), &links);
        Ok(Self {
            fixed: vec![false; positions.len()],
            whole: strengths.clone(),
            positions,
            masses,
            links,
            strengths,
            starts,
            at,
        })
    }

    /// Centroids of the tetrahedra, m.
    pub fn positions(&self) -> &[Point3<f64>] {
        &self.positions
    }

    /// Masses of the tetrahedra, kg.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// All links, including broken ones.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Strength of each link, N; 0 if it is broken.
    pub fn strengths(&self) -> &[f64] {
        &self.strengths
    }

    /// Fixes the tetrahedra whose centroid is chosen. All others are free.
    pub fn fix(&mut self, chosen: impl Fn(&Point3<f64>) -> bool) {
        self.fixed = self.positions.iter().map(chosen).collect();
    }

    /// Whether each tetrahedron is fixed.
    pub fn fixed(&self) -> &[bool] {
        &self.fixed
    }

    /// Multiplies the strength of each link by a factor at its position; a factor that is not
    /// positive breaks it.
    pub fn scale_strengths(&mut self, factor: impl Fn(&Point3<f64>) -> f64) {
        for (link, Link { place, .. }) in self.links.iter().enumerate() {
            let factor = factor(place);
            let factor = if factor > 0.0 && factor.is_finite() { factor } else { 0.0 };
            self.strengths[link] *= factor;
            self.whole[link] *= factor;
        }
    }

    /// The force of an impulse over the time of contact, N, on the tetrahedra around a point: those
    /// with their centroid within `radius`, or the nearest one, by their mass.
    pub fn load(
        &self,
        place: &Point3<f64>,
        radius: f64,
        impulse: &Vector3<f64>,
        contact_time: f64,
    ) -> Vec<Vector3<f64>> {
        let mut loads = vec![Vector3::zeros(); self.positions.len()];
        let distance = |i: &usize| (self.positions[*i] - place).norm_squared();
        let all = 0..self.positions.len();
        let mut hit: Vec<usize> = all.clone().filter(|i| distance(i) <= radius * radius).collect();
        if hit.is_empty() {
            hit.extend(all.min_by(|a, b| distance(a).total_cmp(&distance(b))));
        }
        let mass: f64 = hit.iter().map(|&i| self.masses[i]).sum();
        for i in hit {
            loads[i] = impulse * (self.masses[i] / mass / contact_time);
        }
        loads
    }

    pub(super) fn links_of(&self, particle: u32) -> &[u32] {
        let [from, to] = [0, 1].map(|k| self.starts[particle as usize + k] as usize);
        &self.at[from..to]
    }
}

/// Links by their ends in order.
pub(super) fn links(mesh: &TetMesh, neighbors: Neighbors) -> Vec<Link> {
    pub(super) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];
    let mut faces: Vec<([u32; 3], u32)> = Vec::new();
    for (tet, corners) in (0..).zip(&mesh.tets) {
        faces.extend(FACES.map(|face| {
            let mut face = face.map(|k| corners[k]);
            face.sort_unstable();
            (face, tet)
        }));
    }
    faces.sort_unstable();
    let mut links = Vec::new();
    for pair in faces.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let [a, b, c] = pair[0].0.map(|v| mesh.vertices[v as usize]);
        links.push(Link {
            ends: [pair[0].1, pair[1].1],
            across_face: true,
            area: (b - a).cross(&(c - a)).norm() / 2.0,
            place: Point3::from((a.coords + b.coords + c.coords) / 3.0),
        });
    }
    if let Neighbors::Edges { share } = neighbors {
        add_edge_links(mesh, share, &mut links);
    }
    // tetrahedra that share a face also share its edges: the stable sort keeps the link across the
    // face, which was added first
    links.sort_by_cached_key(|link| link.ends);
    links.dedup_by_key(|link| link.ends);
    links
}

/// An edge's vertices in order, and a tetrahedron that has it.
pub(super) type Edge = ([u32; 2], u32);

/// The edges of all tetrahedra, equal ones adjacent.
pub(super) fn edges(mesh: &TetMesh) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(6 * mesh.tets.len());
    for (tet, corners) in (0..).zip(&mesh.tets) {
        for i in 0..4 {
            for j in 0..i {
                let [a, b] = [corners[i], corners[j]];
                edges.push(([a.min(b), a.max(b)], tet));
            }
        }
    }
    edges.sort_unstable();
    edges
}

pub(super) fn add_edge_links(mesh: &TetMesh, share: f64, links: &mut Vec<Link>) {
    let mean_face = |tet: u32| {
        let p = mesh.corners(tet as usize);
        let area = |[a, b, c]: [usize; 3]| (p[b] - p[a]).cross(&(p[c] - p[a])).norm() / 2.0;
        [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]].map(area).iter().sum::<f64>() / 4.0
    };
    for ring in edges(mesh).chunk_by(|a, b| a.0 == b.0) {
        let [p, q] = ring[0].0.map(|v| mesh.vertices[v as usize]);
        for (k, &(_, a)) in ring.iter().enumerate() {
            for &(_, b) in &ring[k + 1..] {
                links.push(Link {
                    ends: [a, b],
                    across_face: false,
                    area: share * (mean_face(a) + mean_face(b)) / 2.0,
                    place: nalgebra::center(&p, &q),
                });
            }
        }
    }
}

pub(super) fn links_at(particles: usize, links: &[Link]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; particles + 1];
    for end in links.iter().flat_map(|link| link.ends) {
        starts[end as usize + 1] += 1;
    }
    for i in 0..particles {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut at = vec![0; 2 * links.len()];
    for (link, Link { ends, .. }) in (0..).zip(links) {
        for &end in ends {
            at[next[end as usize] as usize] = link;
            next[end as usize] += 1;
        }
    }
    (starts, at)
}
