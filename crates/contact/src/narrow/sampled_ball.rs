//! Contacts of a ball with a sampled solid: local minima of the distance from its center to the surface.
//!
//! Surface points of the solid are starts of the search. A contact at the nearest surface point alone would have the
//! normal from that point to the center: a ball would roll over the points as over cobbles.

use levelset::LevelSet;
use nalgebra::{Isometry3, Point3, Vector3};

use crate::narrow::candidate::{Candidate, Side};
use crate::shape::Shape;
use crate::shape::field::Field;
use crate::shape::query::Query;

/// Limit of contacts of a ball.
const MAX_CONTACTS: usize = 4;
/// Limit of starts of the search for contacts.
const MAX_STARTS: usize = 12;
/// Limit of steps from a start to the nearest place on the surface.
const MAX_STEPS: usize = 24;
/// Steps shorter than this share of the sample spacing end the search.
const CONVERGED: f64 = 1e-6;
/// A point protrudes if it is above the tangent plane of a contact by more than this share of the sample spacing, about
/// the error of a surface interpolated between samples.
const PROTRUDING: f64 = 0.05;

/// Surface points up to this number of sample spacings beside a contact are starts: each contact has one there.
const REACH: f64 = 1.5;

/// A ball near a sampled solid.
#[derive(Clone, Copy)]
pub(crate) struct SampledBall<'a> {
    /// The body of the ball.
    pub(crate) owner: Side,
    pub(crate) radius: f64,
    /// Its center in body coordinates of the solid, m.
    pub(crate) center: Point3<f64>,
    /// The solid.
    pub(crate) solid: &'a Shape,
    pub(crate) level_set: &'a LevelSet,
    /// Body coordinates of the solid to its material coordinates.
    pub(crate) material: &'a Isometry3<f64>,
}

/// A place on the surface of the solid, in its material coordinates.
#[derive(Clone, Copy)]
struct Foot {
    place: Point3<f64>,
    /// Unit normal out of the solid.
    normal: Vector3<f64>,
    /// Signed distance from there to the center of the ball, m.
    height: f64,
}

impl SampledBall<'_> {
    /// Appends the contacts nearer than `margin` m. Returns the number of distance queries.
    pub(crate) fn candidates(&self, margin: f64, found: &mut Vec<Candidate>) -> usize {
        let center = self.material * self.center;
        let (mut asked, mut starts) = self.starts(&center, margin);
        let spacing = self.level_set.grid().spacing();
        let mut feet: Vec<Foot> = Vec::new();
        for _ in 0..MAX_STARTS {
            let Some(start) = starts.first().copied().filter(|_| feet.len() < MAX_CONTACTS) else {
                break;
            };
            let foot = self.foot(&center, start, &mut asked);
            // places on the solid's side of the tangent plane are no other contact
            let protrudes =
                |p: &Point3<f64>| (p - foot.place).dot(&foot.normal) > PROTRUDING * spacing;
            starts.retain(|p| *p != start && protrudes(p));
            let is_new =
                feet.iter().all(|other| (other.place - foot.place).norm() > PROTRUDING * spacing);
            let is_near = foot.height - self.radius < margin;
            feet.extend((is_new && is_near).then_some(foot));
        }
        found.extend((0..).zip(feet).map(|(key, foot)| Candidate {
            owner: self.owner,
            point: Point3::origin(),
            normal: Some(self.material.inverse_transform_vector(&foot.normal)),
            key,
            distance: foot.height - self.radius,
        }));
        asked
    }

    /// Places near the surface, the nearest first: below the center, and surface points.
    fn starts(&self, center: &Point3<f64>, margin: f64) -> (usize, Vec<Point3<f64>>) {
        let mut near: Vec<(f64, u32, Point3<f64>)> = Vec::new();
        // the distance of a point beside a contact
        let beside =
            libm::hypot(self.radius, REACH * self.level_set.grid().spacing()) - self.radius;
        let ball = Field::Ball { radius: self.radius };
        let map = Isometry3::from_parts(
            (-self.center.coords).into(),
            nalgebra::UnitQuaternion::identity(),
        );
        let asked = self.solid.tree().map_or(0, |tree| {
            tree.near(margin + beside, &Query::new(&ball, &map), |key, point, distance| {
                near.push((distance, key, self.material * point));
            })
        });
        near.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
        let is_sampled = self.level_set.grid().bounds().contains(center);
        let below = is_sampled.then(|| self.level_set.normal(center)).flatten();
        let below = below.map(|normal| center - normal.into_inner() * self.level_set.value(center));
        (asked + 1, below.into_iter().chain(near.into_iter().map(|(.., p)| p)).collect())
    }

    /// The place on the surface nearest to the center, by descent from a start. At edges, where the normal of the
    /// surface changes, the normal is the direction to the center.
    fn foot(&self, center: &Point3<f64>, start: Point3<f64>, asked: &mut usize) -> Foot {
        let grid = self.level_set.grid();
        let (bounds, tolerance) = (grid.bounds(), CONVERGED * grid.spacing());
        let onto = |p: Point3<f64>| {
            let normal =
                self.level_set.normal(&p).map_or_else(Vector3::zeros, nalgebra::Unit::into_inner);
            p - normal * self.level_set.value(&p)
        };
        let mut here = onto(start);
        let mut normal = self.level_set.normal(&here);
        let mut share = 1.0;
        for _ in 0..MAX_STEPS {
            *asked += 1;
            let Some(up) = normal else { break };
            let offset = center - here;
            let along = offset - up.into_inner() * up.dot(&offset);
            let moved = here + along * share;
            let on_surface = onto(moved);
            if !bounds.contains(&moved) || (center - on_surface).norm() > offset.norm() {
                share *= 0.5;
                if along.norm() * share < tolerance {
                    break;
                }
                continue;
            }
            let step = (on_surface - here).norm();
            here = on_surface;
            normal = self.level_set.normal(&here);
            share = (2.0 * share).min(1.0);
            if step < tolerance {
                break;
            }
        }
        let offset = center - here;
        let up = normal.map_or_else(Vector3::y, nalgebra::Unit::into_inner);
        let sign = if up.dot(&offset) < 0.0 { -1.0 } else { 1.0 };
        let radial = (offset * sign).try_normalize(tolerance);
        Foot { place: here, normal: radial.unwrap_or(up), height: sign * offset.norm() }
    }
}
