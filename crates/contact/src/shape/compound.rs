//! Unions of convex polyhedra.

use nalgebra::{Point3, Vector3};

use crate::shape::polyhedron::Polyhedron;

/// A union of convex solids in body coordinates; most have one.
#[derive(Clone, Debug)]
pub(crate) struct Compound {
    pub(crate) parts: Box<[Part]>,
    /// Number of keys of all parts.
    pub(crate) keys: u32,
    pub(crate) half_width: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) solid: Polyhedron,
    /// Center of its bounding sphere, body coordinates, m.
    pub(crate) center: Point3<f64>,
    pub(crate) radius: f64,
    /// Offset of its contact keys.
    pub(crate) first_key: u32,
}

impl Compound {
    /// `None` without parts.
    pub(crate) fn new(solids: impl IntoIterator<Item = Polyhedron>) -> Option<Self> {
        let mut keys = 0;
        let part = |solid: Polyhedron| {
            let corners = solid.corners();
            let sum: Vector3<f64> = corners.iter().map(|p| p.coords).sum();
            let center = Point3::from(sum / corners.len() as f64);
            let radius = corners.iter().map(|p| (p - center).norm()).fold(0.0, f64::max);
            let first_key = keys;
            keys += solid.key_count();
            Part { solid, center, radius, first_key }
        };
        let parts: Box<[Part]> = solids.into_iter().map(part).collect();
        // slivers do not reduce the thickness of the union
        let widths = parts.iter().map(|part| part.solid.half_width());
        let half_width = widths.reduce(f64::max)?;
        Some(Self { parts, keys, half_width })
    }

    /// The corners of all parts with their keys.
    pub(crate) fn corners(&self) -> impl Iterator<Item = (u32, &Point3<f64>)> {
        self.parts.iter().flat_map(|part| (part.first_key..).zip(part.solid.corners()))
    }

    /// The parts within `reach` m of a point, with their indices.
    pub(crate) fn parts_near(
        &self,
        p: Point3<f64>,
        reach: f64,
    ) -> impl Iterator<Item = (u32, &Polyhedron)> {
        let is_near =
            move |(_, part): &(u32, &Part)| (part.center - p).norm() - part.radius < reach;
        (0..).zip(&self.parts).filter(is_near).map(|(number, part)| (number, &part.solid))
    }

    /// Whether it has one part.
    pub(crate) fn is_convex(&self) -> bool {
        self.parts.len() == 1
    }

    /// Half of the least width of its thickest part, m.
    pub(crate) fn half_width(&self) -> f64 {
        self.half_width
    }
}
