//! Connected pieces after an impact.

use levelset::{TetMesh, Union};
use nalgebra::Vector3;

use super::graph::{Lattice, Link, links_at};

/// Treatment of single loose tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shards {
    /// They are pieces, as in Ku07.
    Keep,
    /// Each is merged with the neighbor with the largest common face.
    Merge,
    /// They are removed; their mass is reported.
    Dust,
}

/// The pieces of a lattice.
#[derive(Clone, Debug)]
pub struct LatticePieces {
    /// The piece of each tetrahedron, from 0 in order of first appearance; `None` for dust.
    pub labels: Vec<Option<u32>>,
    /// Mass of each piece, kg.
    pub masses: Vec<f64>,
    /// Mass of the dust, kg.
    pub dust: f64,
}

impl LatticePieces {
    /// The tetrahedra of a piece, with their own vertices.
    ///
    /// # Panics
    /// If `mesh` is not that of the lattice.
    pub fn mesh(&self, mesh: &TetMesh, piece: u32) -> TetMesh {
        let mut names = vec![u32::MAX; mesh.vertices.len()];
        let mut part = TetMesh::default();
        for (tet, _) in mesh.tets.iter().zip(&self.labels).filter(|(_, l)| **l == Some(piece)) {
            let named = tet.map(|v| {
                let name = &mut names[v as usize];
                if *name == u32::MAX {
                    *name = part.vertices.len() as u32;
                    part.vertices.push(mesh.vertices[v as usize]);
                }
                *name
            });
            part.tets.push(named);
        }
        part
    }
}

impl Lattice {
    /// The tetrahedra connected through faces with unbroken links. (A link between tetrahedra that
    /// share only an edge transmits force but does not connect.)
    pub fn pieces(&self, shards: Shards) -> LatticePieces {
        let count = self.masses.len();
        let held = || {
            let mut sets = Union::new(count);
            for (link, strength) in self.links.iter().zip(&self.strengths) {
                if link.across_face && *strength > 0.0 {
                    sets.join(link.ends[0], link.ends[1]);
                }
            }
            sets
        };
        let (mut sets, mut sizes) = sized(held());
        if shards == Shards::Merge {
            let mut merged = held();
            for tet in (0..count).filter(|&tet| sizes[sets[tet] as usize] == 1) {
                if let Some([a, b]) = self.largest_face(tet as u32) {
                    merged.join(a, b);
                }
            }
            (sets, sizes) = sized(merged);
        }
        let mut numbers = vec![None; sizes.len()];
        let mut pieces = LatticePieces { labels: Vec::new(), masses: Vec::new(), dust: 0.0 };
        for (tet, set) in sets.into_iter().enumerate() {
            let (set, mass) = (set as usize, self.masses[tet]);
            if shards == Shards::Dust && sizes[set] == 1 && !self.fixed[tet] {
                pieces.dust += mass;
                pieces.labels.push(None);
                continue;
            }
            let number = *numbers[set].get_or_insert_with(|| {
                pieces.masses.push(0.0);
                pieces.masses.len() as u32 - 1
            });
            pieces.masses[number as usize] += mass;
            pieces.labels.push(Some(number));
        }
        pieces
    }

    /// Some of the tetrahedra, in ascending order, with the links between them at their current and
    /// initial strengths.
    ///
    /// # Panics
    /// If a tetrahedron does not exist, or they do not ascend.
    pub fn part(&self, tets: &[u32]) -> Self {
        assert!(tets.windows(2).all(|pair| pair[0] < pair[1]), "they ascend");
        let name = |tet: u32| tets.binary_search(&tet).ok().map(|name| name as u32);
        // each link between two of them is listed at both
        let mut kept: Vec<u32> = tets.iter().flat_map(|&tet| self.links_of(tet)).copied().collect();
        kept.sort_unstable();
        let mut part = Self {
            positions: tets.iter().map(|&tet| self.positions[tet as usize]).collect(),
            masses: tets.iter().map(|&tet| self.masses[tet as usize]).collect(),
            fixed: tets.iter().map(|&tet| self.fixed[tet as usize]).collect(),
            links: Vec::new(),
            strengths: Vec::new(),
            whole: Vec::new(),
            starts: Vec::new(),
            at: Vec::new(),
        };
        for link in kept.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0] as usize) {
            let [Some(a), Some(b)] = self.links[link].ends.map(name) else { continue };
            part.links.push(Link { ends: [a, b], ..self.links[link] });
            part.strengths.push(self.strengths[link]);
            part.whole.push(self.whole[link]);
        }
        (part.starts, part.at) = links_at(tets.len(), &part.links);
        part
    }

    /// The ends of the link across a tetrahedron's largest inner face, the first among equals.
    fn largest_face(&self, tet: u32) -> Option<[u32; 2]> {
        let faces = self.links_of(tet).iter().map(|&l| &self.links[l as usize]);
        let across = faces.filter(|link| link.across_face);
        let order = |a: &&Link, b: &&Link| a.area.total_cmp(&b.area).then(b.ends.cmp(&a.ends));
        across.max_by(order).map(|link| link.ends)
    }
}

/// The index of each member's set, and the number of members of each set.
fn sized(sets: Union) -> (Vec<u32>, Vec<u32>) {
    let (numbers, count) = sets.numbered();
    let mut sizes = vec![0; count + 1];
    numbers.iter().for_each(|&set| sizes[set as usize] += 1);
    (numbers, sizes)
}

/// Smooths the surfaces between pieces (the remeshing that Ku07 leaves to future work, without new
/// tetrahedra): inner vertices where pieces meet move half way to the mean of those with which they
/// share such a face, in `rounds` rounds. A move that would leave a tetrahedron with less than a
/// fifth of its volume is skipped. Vertices on the body's surface stay, so that the body keeps its
/// volume, and both sides of a crack coincide.
///
/// # Panics
/// If the number of labels differs from that of tetrahedra, or an index is out of range.
pub fn smoothed_crack(mesh: &TetMesh, labels: &[Option<u32>], rounds: usize) -> TetMesh {
    assert_eq!(labels.len(), mesh.tets.len(), "a label for each tetrahedron");
    let neighbors = crack_neighbors(mesh, labels);
    let mut tets_at = vec![Vec::new(); mesh.vertices.len()];
    for (tet, corners) in mesh.tets.iter().enumerate() {
        corners.iter().for_each(|&v| tets_at[v as usize].push(tet));
    }
    let least: Vec<f64> = (0..mesh.tets.len()).map(|tet| mesh.volume(tet) / 5.0).collect();
    let mut smooth = mesh.clone();
    for _ in 0..rounds {
        for (v, around) in neighbors.iter().enumerate().filter(|(_, around)| !around.is_empty()) {
            let sum: Vector3<f64> =
                around.iter().map(|&n| smooth.vertices[n as usize].coords).sum();
            let old = smooth.vertices[v];
            smooth.vertices[v] += (sum / around.len() as f64 - old.coords) / 2.0;
            if tets_at[v].iter().any(|&tet| smooth.volume(tet) < least[tet]) {
                smooth.vertices[v] = old;
            }
        }
    }
    smooth
}

/// For each inner vertex on a face between pieces, the other vertices of such faces.
fn crack_neighbors(mesh: &TetMesh, labels: &[Option<u32>]) -> Vec<Vec<u32>> {
    let mut faces: Vec<([u32; 3], usize)> = Vec::new();
    for (tet, corners) in mesh.tets.iter().enumerate() {
        for skipped in 0..4 {
            let mut face = [1, 2, 3].map(|k| corners[(skipped + k) % 4]);
            face.sort_unstable();
            faces.push((face, tet));
        }
    }
    faces.sort_unstable();
    let mut outside = vec![false; mesh.vertices.len()];
    let mut neighbors = vec![Vec::new(); mesh.vertices.len()];
    for same in faces.chunk_by(|a, b| a.0 == b.0) {
        let face = same[0].0;
        match same {
            [(_, one), (_, other)] if labels[*one] != labels[*other] => {
                for [v, n] in [[0, 1], [1, 2], [2, 0], [1, 0], [2, 1], [0, 2]] {
                    neighbors[face[v] as usize].push(face[n]);
                }
            }
            [_, _] => {}
            _ => face.iter().for_each(|&v| outside[v as usize] = true),
        }
    }
    for (around, outside) in neighbors.iter_mut().zip(outside) {
        if outside {
            around.clear();
        }
        around.sort_unstable();
        around.dedup();
    }
    neighbors
}
