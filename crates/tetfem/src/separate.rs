//! Opening of a mesh along the faces between marked tetrahedra (Mu01 section 2.5).

use levelset::{TetMesh, Union};

/// A mesh opened along a crack.
#[derive(Clone, Debug, PartialEq)]
pub struct Separated {
    /// The tetrahedra as before; where the crack opens they have separate vertices. Duplicated
    /// vertices follow the original ones.
    pub mesh: TetMesh,
    /// The original of each vertex.
    pub origins: Vec<u32>,
    /// Faces between tetrahedra of opposite marks, with original vertices.
    pub cut_faces: Vec<[u32; 3]>,
}

impl Separated {
    /// Number of duplicated vertices.
    pub fn copies(&self) -> usize {
        // duplicates come last, and each is of an earlier vertex
        self.origins.iter().enumerate().filter(|(v, origin)| *v != **origin as usize).count()
    }
}

/// Faces of a tetrahedron by their corners.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];

/// Opens the faces between tetrahedra marked 1 and -1. The vertices of such faces are duplicated,
/// one per class of incident tetrahedra that are connected by faces that stay closed; the first
/// class, in tetrahedron order, keeps the vertex.
///
/// # Panics
/// If there is not one mark per tetrahedron.
pub fn separate(mesh: &TetMesh, marks: &[i8]) -> Separated {
    assert_eq!(marks.len(), mesh.tets.len(), "one mark per tetrahedron");
    let faces = shared_faces(mesh);
    let opposite = |a: u32, b: u32| marks[a as usize] * marks[b as usize] < 0;
    let mut split = vec![false; mesh.vertices.len()];
    let mut cut_faces = Vec::new();
    for &(face, [a, b]) in &faces {
        if opposite(a, b) {
            cut_faces.push(face);
            face.iter().for_each(|&v| split[v as usize] = true);
        }
    }
    let mut ties: Vec<(u32, [u32; 2])> = Vec::new();
    for &(face, [a, b]) in faces.iter().filter(|(_, [a, b])| !opposite(*a, *b)) {
        ties.extend(face.iter().filter(|&&v| split[v as usize]).map(|&v| (v, [a, b])));
    }
    ties.sort_unstable();
    let mut stars: Vec<(u32, u32)> = Vec::new();
    for (t, tet) in mesh.tets.iter().enumerate() {
        stars.extend(tet.iter().filter(|&&v| split[v as usize]).map(|&v| (v, t as u32)));
    }
    stars.sort_unstable();
    let mut opened = mesh.clone();
    let mut origins: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
    for star in stars.chunk_by(|a, b| a.0 == b.0) {
        let vertex = star[0].0;
        let first = ties.partition_point(|tie| tie.0 < vertex);
        let mine = ties[first..].iter().take_while(|tie| tie.0 == vertex).map(|tie| tie.1);
        let classes = classes(star, mine);
        let mut names = vec![vertex];
        for (&(_, tet), class) in star.iter().zip(classes) {
            let class = class as usize - 1;
            if class == names.len() {
                names.push(opened.vertices.len() as u32);
                opened.vertices.push(mesh.vertices[vertex as usize]);
                origins.push(vertex);
            }
            let corners = &mut opened.tets[tet as usize];
            corners.iter_mut().filter(|v| **v == vertex).for_each(|v| *v = names[class]);
        }
    }
    Separated { mesh: opened, origins, cut_faces }
}

/// A class from 1 for each tetrahedron of a star, in order of first appearance: equal for those
/// that ties connect.
fn classes(star: &[(u32, u32)], ties: impl Iterator<Item = [u32; 2]>) -> Vec<u32> {
    let mut classes = Union::new(star.len());
    for tie in ties {
        let [a, b] = tie.map(|tet| star.partition_point(|s| s.1 < tet) as u32);
        classes.join(a, b);
    }
    classes.numbered().0
}

/// Faces of two tetrahedra, vertices ascending.
fn shared_faces(mesh: &TetMesh) -> Vec<([u32; 3], [u32; 2])> {
    let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(4 * mesh.tets.len());
    for (t, tet) in mesh.tets.iter().enumerate() {
        faces.extend(FACES.iter().map(|corners| {
            let mut face = corners.map(|c| tet[c]);
            face.sort_unstable();
            (face, t as u32)
        }));
    }
    faces.sort_unstable();
    let same = faces.chunk_by(|a, b| a.0 == b.0);
    same.filter(|same| same.len() == 2).map(|two| (two[0].0, [two[0].1, two[1].1])).collect()
}

/// The face-connected pieces of a mesh, each with separate vertices, and the original tetrahedron
/// of each of their tetrahedra.
///
/// # Panics
/// If a tetrahedron refers to a missing vertex.
pub fn pieces(mesh: &TetMesh) -> Vec<(TetMesh, Vec<u32>)> {
    let components = mesh.components();
    let mut pieces = vec![(TetMesh::default(), Vec::new()); components.count];
    for (tet, label) in components.labels.iter().enumerate() {
        pieces[*label as usize - 1].1.push(tet as u32);
    }
    let mut owner = vec![0; mesh.vertices.len()];
    let mut name = vec![0; mesh.vertices.len()];
    for (number, (piece, tets)) in pieces.iter_mut().enumerate() {
        for &tet in tets.iter() {
            let corners = mesh.tets[tet as usize].map(|v| {
                if owner[v as usize] != number + 1 {
                    owner[v as usize] = number + 1;
                    name[v as usize] = piece.vertices.len() as u32;
                    piece.vertices.push(mesh.vertices[v as usize]);
                }
                name[v as usize]
            });
            piece.tets.push(corners);
        }
    }
    pieces
}
