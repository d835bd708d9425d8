//! Faces of a closed surface, and their origins.

use crate::cell::Plane;
use crate::slicing::{ClosedMesh, Projection};
use levelset::{Aabb, TriMesh};
use nalgebra::{Point3, UnitVector3, Vector3};

/// The origin of a face of a cut solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaceOrigin {
    /// A face of the surface of the unbroken body, by its index in that surface.
    Outer(u32),
    /// A cut of this or an earlier fracture.
    Cut,
}

/// [`FaceOrigin`] in 32 bits. During a fracture, a cut has the index of its plane instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag(u32);

impl Tag {
    /// A cut without the index of its plane.
    pub(crate) const CUT: Self = Self(u32::MAX);
    pub(super) const PLANE: u32 = 1 << 31;

    pub(crate) fn outer(face: u32) -> Self {
        assert!(face < Self::PLANE);
        Self(face)
    }

    /// A cut of the fracture in progress, by the plane with this index, below 2^31 - 1.
    pub(crate) fn plane(number: usize) -> Self {
        assert!(number < Self::PLANE as usize - 1);
        Self(Self::PLANE | number as u32)
    }

    /// The index of the plane, for a cut of the fracture in progress.
    pub(crate) fn as_plane(self) -> Option<usize> {
        (self != Self::CUT && self.0 & Self::PLANE != 0).then_some((self.0 & !Self::PLANE) as usize)
    }

    pub(crate) fn origin(self) -> FaceOrigin {
        if self.0 & Self::PLANE == 0 { FaceOrigin::Outer(self.0) } else { FaceOrigin::Cut }
    }
}

/// A planar face, not necessarily convex, bounded by edges.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cap {
    /// Directed edges; seen from outside, the face is on their left.
    pub(crate) edges: Vec<[u32; 2]>,
    /// Outward normal of the solid.
    pub(crate) normal: UnitVector3<f64>,
    pub(crate) tag: Tag,
}

/// A convex polygon, as a range of corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Face {
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) tag: Tag,
}

impl Face {
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A closed surface of planar faces, of one or several shells. Other faces use each directed edge
/// of a face equally often in the opposite direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facets {
    pub(crate) vertices: Vec<Point3<f64>>,
    /// Corners of the convex faces, each counter-clockwise seen from outside.
    pub(super) corners: Vec<u32>,
    /// The convex faces.
    pub(super) faces: Vec<Face>,
    pub(super) caps: Vec<Cap>,
    /// Largest coordinate of the unbroken solid, m: the scale of rounding errors.
    pub(super) size: f64,
}

impl Facets {
    /// The triangles of a closed mesh; each is a face of the unbroken body.
    pub(crate) fn of_mesh(mesh: &ClosedMesh) -> Self {
        let mesh = mesh.mesh();
        let face = |n: u32| Face { start: 3 * n, len: 3, tag: Tag::outer(n) };
        Self {
            vertices: mesh.vertices.clone(),
            corners: mesh.triangles.as_flattened().to_vec(),
            faces: (0..mesh.triangles.len() as u32).map(face).collect(),
            caps: Vec::new(),
            size: largest(&mesh.vertices),
        }
    }

    /// Convex polygons; each is a face of the unbroken body.
    pub(super) fn of_polygons(vertices: Vec<Point3<f64>>, polygons: &[Vec<u32>]) -> Self {
        let size = largest(&vertices);
        let mut facets = Self { vertices, size, ..Self::default() };
        for (n, polygon) in (0..).zip(polygons) {
            facets.push(polygon, Tag::outer(n));
        }
        facets
    }

    pub(super) fn push(&mut self, corners: &[u32], tag: Tag) {
        let (start, len) = (self.corners.len() as u32, corners.len() as u32);
        self.corners.extend_from_slice(corners);
        self.faces.push(Face { start, len, tag });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.faces.is_empty() && self.caps.is_empty()
    }

    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    pub(crate) fn caps(&self) -> &[Cap] {
        &self.caps
    }

    /// The convex faces.
    pub(crate) fn polygons(&self) -> impl Iterator<Item = (&[u32], Tag)> {
        self.faces.iter().map(|face| (self.corners_of(face), face.tag))
    }

    pub(super) fn corners_of(&self, face: &Face) -> &[u32] {
        &self.corners[face.range()]
    }

    pub(crate) fn bounds(&self) -> Option<Aabb> {
        Aabb::around(&self.vertices)
    }

    /// Memory in units of 4 bytes.
    pub(crate) fn memory(&self) -> usize {
        let caps: usize = self.caps.iter().map(|cap| 2 * cap.edges.len()).sum();
        6 * self.vertices.len() + self.corners.len() + 3 * self.faces.len() + caps
    }

    /// Whether all faces are cuts of the fracture in progress. Such a surface is a whole cell of
    /// the pattern, and so convex.
    pub(crate) fn is_cell(&self) -> bool {
        let faces = self.faces.iter().map(|face| &face.tag);
        let mut tags = faces.chain(self.caps.iter().map(|cap| &cap.tag));
        tags.all(|tag| tag.as_plane().is_some())
    }

    /// Replaces the plane indices of cuts by [`Tag::CUT`], at the end of a fracture.
    pub(crate) fn settle(&mut self) {
        let caps = self.caps.iter_mut().map(|cap| &mut cap.tag);
        let faces = self.faces.iter_mut().map(|face| &mut face.tag);
        for tag in faces.chain(caps) {
            if tag.as_plane().is_some() {
                *tag = Tag::CUT;
            }
        }
    }

    /// Renumbers the planes of cuts by `plane`.
    pub(crate) fn renumber(&mut self, plane: impl Fn(usize) -> usize) {
        let caps = self.caps.iter_mut().map(|cap| &mut cap.tag);
        let faces = self.faces.iter_mut().map(|face| &mut face.tag);
        for tag in faces.chain(caps) {
            if let Some(number) = tag.as_plane() {
                *tag = Tag::plane(plane(number));
            }
        }
    }

    /// Removes unused vertices and corners.
    pub(super) fn drop_unused(&mut self) {
        let mut names = vec![u32::MAX; self.vertices.len()];
        let mut vertices = Vec::new();
        let mut name = |v: u32| {
            let name = &mut names[v as usize];
            if *name == u32::MAX {
                *name = vertices.len() as u32;
                vertices.push(self.vertices[v as usize]);
            }
            *name
        };
        let mut corners = Vec::with_capacity(4 * self.faces.len());
        for face in &mut self.faces {
            let own = face.range();
            face.start = corners.len() as u32;
            corners.extend(self.corners[own].iter().map(|&v| name(v)));
        }
        for v in self.caps.iter_mut().flat_map(|cap| cap.edges.as_flattened_mut()) {
            *v = name(*v);
        }
        (self.vertices, self.corners) = (vertices, corners);
    }

    /// The surface without the faces whose corners all satisfy `is_beyond`: the cut that follows
    /// would remove them.
    pub(super) fn without_faces_where(&self, is_beyond: impl Fn(&Point3<f64>) -> bool) -> Self {
        let beyond: Vec<bool> = self.vertices.iter().map(is_beyond).collect();
        let mut names = vec![u32::MAX; self.vertices.len()];
        let mut kept = Self { size: self.size, ..Self::default() };
        let mut vertices = Vec::with_capacity(self.vertices.len());
        let mut name = |v: u32| {
            let name = &mut names[v as usize];
            if *name == u32::MAX {
                *name = vertices.len() as u32;
                vertices.push(self.vertices[v as usize]);
            }
            *name
        };
        for face in &self.faces {
            let corners = self.corners_of(face);
            if corners.iter().all(|&v| beyond[v as usize]) {
                continue;
            }
            let start = kept.corners.len() as u32;
            kept.corners.extend(corners.iter().map(|&v| name(v)));
            kept.faces.push(Face { start, ..*face });
        }
        for cap in &self.caps {
            if !cap.edges.as_flattened().iter().all(|&v| beyond[v as usize]) {
                let edges = cap.edges.iter().map(|edge| edge.map(&mut name)).collect();
                kept.caps.push(Cap { edges, ..*cap });
            }
        }
        kept.vertices = vertices;
        kept
    }

    pub(super) fn area_vector(&self, corners: &[u32]) -> Vector3<f64> {
        let at = |n: usize| self.vertices[corners[n] as usize];
        let base = at(0);
        let cross = |n: usize| (at(n) - base).cross(&(at(n + 1) - base));
        (1..corners.len() - 1).map(cross).sum::<Vector3<f64>>() / 2.0
    }

    pub(super) fn projected<'a>(
        &'a self,
        projection: &'a Projection,
    ) -> impl Fn(u32) -> [f64; 2] + 'a {
        |v| projection.point(&self.vertices[v as usize])
    }

    /// The planes of the faces, without slivers.
    pub(crate) fn planes(&self) -> Vec<Plane> {
        let polygons = self.polygons().filter_map(|(corners, _)| {
            let at = self.vertices[corners[0] as usize];
            let longest = corners.iter().map(|&v| (self.vertices[v as usize] - at).norm());
            let longest = longest.fold(0.0, f64::max);
            let area = self.area_vector(corners);
            (area.norm() > 1e-9 * longest * longest).then(|| Plane::through(&at, area))
        });
        let caps = self.caps.iter().filter_map(|cap| {
            let at = self.vertices[cap.edges.first()?[0] as usize];
            Some(Plane::through(&at, *cap.normal))
        });
        polygons.chain(caps).collect()
    }

    /// Whether no vertex is farther than `tolerance` meters in front of the plane of any face.
    pub(crate) fn is_convex(&self, tolerance: f64) -> bool {
        self.planes().iter().all(|plane| self.vertices.iter().all(|p| plane.value(p) <= tolerance))
    }
}

pub(super) fn largest(vertices: &[Point3<f64>]) -> f64 {
    vertices.iter().fold(0.0, |size: f64, p| size.max(p.coords.amax()))
}

/// A closed surface as triangles, and their origins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Closed mesh: the triangles at each edge form pairs of opposite direction.
    pub mesh: TriMesh,
    /// Origin of each triangle.
    pub origins: Vec<FaceOrigin>,
}
