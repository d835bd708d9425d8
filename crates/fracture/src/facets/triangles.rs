//! Faces as triangles.

use std::borrow::Cow;

use levelset::TriMesh;

use super::surface::{Cap, Facets, Surface, Tag};
use crate::fill::Border;
use crate::slicing::Projection;

impl Facets {
    /// The surface as triangles: as many as its faces need, without avoidable slivers.
    pub(crate) fn surface(&self) -> Surface {
        let mut surface = Surface {
            mesh: TriMesh { vertices: self.vertices.clone(), triangles: Vec::new() },
            origins: Vec::new(),
        };
        self.for_each_triangle(|triangle, tag| {
            surface.mesh.triangles.push(triangle);
            surface.origins.push(tag.origin());
        });
        surface
    }

    /// The same solid with its caps as triangles.
    pub(super) fn with_convex_faces(&self) -> Cow<'_, Self> {
        if self.caps.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut convex = Self { caps: Vec::new(), ..self.clone() };
        for cap in &self.caps {
            self.for_each_triangle_of_cap(cap, |triangle, tag| convex.push(&triangle, tag));
        }
        Cow::Owned(convex)
    }

    pub(crate) fn for_each_triangle(&self, found: impl FnMut([u32; 3], Tag)) {
        self.for_each_triangle_of(|_| true, found);
    }

    /// Calls `found` with the triangles of the faces of some tags.
    pub(crate) fn for_each_triangle_of(
        &self,
        wanted: impl Fn(Tag) -> bool,
        mut found: impl FnMut([u32; 3], Tag),
    ) {
        for (corners, tag) in self.polygons().filter(|(_, tag)| wanted(*tag)) {
            let first = self.best_fan(corners);
            let corner = |k: usize| corners[(first + k) % corners.len()];
            (1..corners.len() - 1).for_each(|k| found([corner(0), corner(k), corner(k + 1)], tag));
        }
        for cap in self.caps().iter().filter(|cap| wanted(cap.tag)) {
            self.for_each_triangle_of_cap(cap, &mut found);
        }
    }

    fn for_each_triangle_of_cap(&self, cap: &Cap, mut found: impl FnMut([u32; 3], Tag)) {
        let projection = Projection::along(&cap.normal);
        let border = Border::new(&cap.edges, self.projected(&projection));
        border.filled().into_iter().for_each(|triangle| found(triangle, cap.tag));
    }

    /// The corner of a convex polygon from which the smallest triangle of a fan is largest.
    fn best_fan(&self, corners: &[u32]) -> usize {
        /// Number of corners beyond which trying all takes too long.
        const MANY: usize = 32;
        let count = corners.len();
        if !(4..=MANY).contains(&count) {
            return 0;
        }
        let at = |k: usize| self.vertices[corners[k % count] as usize];
        let least = |first: usize| {
            let base = at(first);
            let area =
                |k: usize| (at(first + k) - base).cross(&(at(first + k + 1) - base)).norm_squared();
            (1..count - 1).map(area).fold(f64::INFINITY, f64::min)
        };
        let mut best = (least(0), 0);
        for first in 1..count {
            let area = least(first);
            // the first among equals, regardless of their last digits
            if area > best.0 * (1.0 + 1e-9) {
                best = (area, first);
            }
        }
        best.1
    }

    /// Turns caps that are single convex loops into convex faces.
    pub(crate) fn simplify(&mut self) {
        let caps = std::mem::take(&mut self.caps);
        for cap in caps {
            let projection = Projection::along(&cap.normal);
            let corners = Border::new(&cap.edges, self.projected(&projection)).convex_loop();
            match corners {
                Some(corners) => self.push(&corners, cap.tag),
                None => self.caps.push(cap),
            }
        }
    }
}
