//! Primitives as closed surfaces.

use std::f64::consts::{PI, TAU};

use levelset::{Aabb, Solid};
use nalgebra::Point3;

use super::surface::Facets;

/// Sides of a circle: its chords are at most 1e-3 of its diameter inside it.
const SECTORS: usize = 50;

impl Facets {
    /// A primitive: exact where its faces are flat, with vertices on it and chords within 1e-3 of
    /// its diameter where they are curved. `None` for a half-space, which is unbounded.
    pub(crate) fn of_solid(solid: &Solid) -> Option<Self> {
        Some(match *solid {
            Solid::HalfSpace { .. } => return None,
            Solid::Box { half_extents } => {
                let bounds =
                    Aabb { min: Point3::from(-half_extents), max: Point3::from(half_extents) };
                Self::of_box(&bounds)
            }
            Solid::Sphere { radius } => Self::lathed(&arc(0.0, 0.0, radius, [-0.5, 0.5])),
            Solid::Cylinder { half_height, radius } => Self::lathed(&[
                [0.0, -half_height],
                [radius, -half_height],
                [radius, half_height],
                [0.0, half_height],
            ]),
            Solid::Capsule { half_height, radius } => {
                let mut profile = arc(0.0, -half_height, radius, [-0.5, 0.0]);
                profile.extend(arc(0.0, half_height, radius, [0.0, 0.5]));
                Self::lathed(&profile)
            }
            Solid::Cone { half_height, radius } => {
                Self::lathed(&[[0.0, -half_height], [radius, -half_height], [0.0, half_height]])
            }
            Solid::Torus { major, minor } => {
                let mut profile = arc(major, 0.0, minor, [-1.0, 1.0]);
                profile.pop();
                Self::ring(&profile)
            }
        })
    }

    fn of_box(bounds: &Aabb) -> Self {
        const SIDES: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let corners = bounds.corners();
        let mut sides = SIDES.map(|side| side.to_vec());
        for side in &mut sides {
            let [a, b, c] = [side[0], side[1], side[2]].map(|v| corners[v as usize]);
            // faces are oriented counter-clockwise from outside, whatever the order of corners
            if (b - a).cross(&(c - a)).dot(&(a - bounds.center())) < 0.0 {
                side.reverse();
            }
        }
        Self::of_polygons(corners.to_vec(), &sides)
    }

    /// A profile of radii and heights rotated about the y axis; it begins and ends on the axis.
    fn lathed(profile: &[[f64; 2]]) -> Self {
        let inner = &profile[1..profile.len() - 1];
        let mut vertices = rings(inner);
        let (bottom, top) = (vertices.len() as u32, vertices.len() as u32 + 1);
        vertices.push(Point3::new(0.0, profile[0][1], 0.0));
        vertices.push(Point3::new(0.0, profile[profile.len() - 1][1], 0.0));
        let mut faces = Vec::new();
        let [low, high] = [profile[0][1] == inner[0][1], {
            profile[profile.len() - 1][1] == inner[inner.len() - 1][1]
        }];
        let last = (inner.len() - 1) as u32 * SECTORS as u32;
        // flat ends are polygons, others fans
        if low {
            faces.push((0..SECTORS as u32).rev().collect());
        }
        if high {
            faces.push((0..SECTORS as u32).map(|s| last + s).collect());
        }
        for sector in 0..SECTORS as u32 {
            let next = (sector + 1) % SECTORS as u32;
            if !low {
                faces.push(vec![bottom, next, sector]);
            }
            if !high {
                faces.push(vec![top, last + sector, last + next]);
            }
        }
        side_faces(inner.len(), false, &mut faces);
        let mut facets = Self::of_polygons(vertices, &faces);
        facets.drop_unused();
        facets
    }

    /// A closed profile of radii and heights, counter-clockwise with the radius to the right,
    /// rotated about the y axis.
    fn ring(profile: &[[f64; 2]]) -> Self {
        let mut faces = Vec::new();
        side_faces(profile.len(), true, &mut faces);
        Self::of_polygons(rings(profile), &faces)
    }
}

/// Points of a circle about `[x, y]`, from and to angles in half turns.
fn arc(x: f64, y: f64, radius: f64, [from, to]: [f64; 2]) -> Vec<[f64; 2]> {
    let steps = ((to - from) / 2.0 * SECTORS as f64).round().max(1.0) as usize;
    (0..=steps)
        .map(|n| {
            let angle = PI * (from + (to - from) * n as f64 / steps as f64);
            let r = x + radius * libm::cos(angle);
            // the ends of a half circle are on the axis
            [if r.abs() < 1e-12 * radius { 0.0 } else { r }, y + radius * libm::sin(angle)]
        })
        .collect()
}

/// The vertices of each point of a profile, [`SECTORS`] per point.
fn rings(profile: &[[f64; 2]]) -> Vec<Point3<f64>> {
    let turned = |&[r, y]: &[f64; 2]| {
        (0..SECTORS).map(move |sector| {
            let (sin, cos) = libm::sincos(sector as f64 / SECTORS as f64 * TAU);
            Point3::new(r * cos, y, -r * sin)
        })
    };
    profile.iter().flat_map(turned).collect()
}

/// Planar trapezoids between rings.
fn side_faces(rings: usize, is_closed: bool, faces: &mut Vec<Vec<u32>>) {
    let sectors = SECTORS as u32;
    let last = if is_closed { rings } else { rings - 1 };
    for ring in 0..last as u32 {
        let above = (ring + 1) % rings as u32;
        for sector in 0..sectors {
            let next = (sector + 1) % sectors;
            let corner = |ring: u32, sector: u32| ring * sectors + sector;
            faces.push(vec![
                corner(ring, sector),
                corner(ring, next),
                corner(above, next),
                corner(above, sector),
            ]);
        }
    }
}
