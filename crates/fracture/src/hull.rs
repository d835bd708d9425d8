//! The polyhedron of a convex cell, whose polygons share corners and edges.

use levelset::Aabb;
use nalgebra::{Point3, Vector3};

use crate::cell::Cell;

/// The polyhedron of a cell in the box that the pattern is cut from.
#[derive(Clone, Debug)]
pub(crate) struct CellHull {
    pub(crate) corners: Vec<Point3<f64>>,
    pub(crate) faces: Vec<HullFace>,
    pub(crate) edges: Vec<HullEdge>,
}

#[derive(Clone, Debug)]
pub(crate) struct HullFace {
    /// Index of its plane in the cell; `None` for a face of the pattern's box.
    pub(crate) plane: Option<usize>,
    /// Counter-clockwise seen from outside.
    pub(crate) corners: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct HullEdge {
    /// Corners, low number first.
    pub(crate) ends: [u32; 2],
    /// The face whose loop runs along it, and the face whose loop runs against it.
    pub(crate) faces: [usize; 2],
}

/// Share of a cell's size within which corners of its polygons are the same.
const SAME_CORNER: f64 = 1e-12;

impl CellHull {
    /// `None` if rounding leaves the polygons of the cell without common corners.
    pub(crate) fn new(cell: &Cell) -> Option<Self> {
        let bounds = Aabb::around(cell.corners())?;
        let tolerance = SAME_CORNER * bounds.extents().max();
        let mut corners: Vec<Point3<f64>> = Vec::new();
        let mut faces = Vec::new();
        for (plane, points) in cell.polygons() {
            let mut own: Vec<u32> = Vec::with_capacity(points.len());
            for p in points {
                let known = corners.iter().position(|q| (p - q).amax() <= tolerance);
                let corner = known.unwrap_or_else(|| {
                    corners.push(*p);
                    corners.len() - 1
                });
                if own.last() != Some(&(corner as u32)) {
                    own.push(corner as u32);
                }
            }
            while own.len() > 1 && own.first() == own.last() {
                own.pop();
            }
            if own.len() > 2 {
                faces.push(HullFace { plane, corners: own });
            }
        }
        let sum: Vector3<f64> = corners.iter().map(|p| p.coords).sum();
        let center = Point3::from(sum / corners.len() as f64);
        for face in &mut faces {
            let base = corners[face.corners[0] as usize];
            let at = |k: usize| corners[face.corners[k] as usize] - base;
            let area: Vector3<f64> =
                (1..face.corners.len() - 1).map(|k| at(k).cross(&at(k + 1))).sum();
            if area.dot(&(base - center)) < 0.0 {
                face.corners.reverse();
            }
        }
        let edges = matched_edges(&faces)?;
        Some(Self { corners, faces, edges })
    }
}

/// The edges of closed loops; `None` unless each edge runs once in each direction.
fn matched_edges(faces: &[HullFace]) -> Option<Vec<HullEdge>> {
    let mut runs: Vec<([u32; 2], bool, usize)> = Vec::new();
    for (n, face) in faces.iter().enumerate() {
        let next = face.corners.iter().cycle().skip(1);
        runs.extend(face.corners.iter().zip(next).map(|(&a, &b)| ([a.min(b), a.max(b)], a > b, n)));
    }
    runs.sort_unstable();
    let (pairs, rest) = runs.as_chunks::<2>();
    let is_pair = |[a, b]: &[([u32; 2], bool, usize); 2]| a.0 == b.0 && !a.1 && b.1;
    let is_repeated = pairs.windows(2).any(|two| two[0][0].0 == two[1][0].0);
    (rest.is_empty() && !is_repeated && pairs.iter().all(is_pair))
        .then(|| pairs.iter().map(|[a, b]| HullEdge { ends: a.0, faces: [a.2, b.2] }).collect())
}
