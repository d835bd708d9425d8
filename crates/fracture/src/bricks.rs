//! Bricks with mortar between them.

use nalgebra::Vector3;

use crate::cell::{Cell, Plane};
use crate::pattern::{check, check_count, check_positive};
use crate::random::Random;
use crate::{Pattern, PatternError};

/// A wall of bricks, its face across the collision normal; lengths in pattern units.
///
/// A brick is long along x and thick along y, and courses are stacked along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bricks {
    /// Brick length along x, thickness along y and course height along z, without the mortar.
    pub size: Vector3<f64>,
    /// Half extents of the wall; outermost bricks extend outward.
    pub extents: Vector3<f64>,
    /// Shift of each course against the previous one, in brick lengths: 0.5 is running bond.
    pub bond: f64,
    /// The lowest corner of a brick of an unshifted course.
    pub corner: Vector3<f64>,
    /// Irregularity of the joints, in `[0, 1]`; 1 is 0.4 of a brick either way.
    pub jitter: f64,
    /// Width of the joints. Above 0, the mortar of each brick is up to three separate regions: the
    /// bed joint after it along z, the head joint along x, and the joint along y.
    pub mortar: f64,
    /// Seed of the irregularity.
    pub seed: u64,
}

impl Bricks {
    /// Even bricks in running bond in `[-1, 1]^3`, without mortar, the impact in the middle of one.
    pub fn new(size: Vector3<f64>) -> Self {
        Self {
            size,
            extents: Vector3::repeat(1.0),
            bond: 0.5,
            corner: -size / 2.0,
            jitter: 0.0,
            mortar: 0.0,
            seed: 1,
        }
    }
}

impl Pattern {
    /// Bricks, and mortar if they have any.
    ///
    /// # Errors
    /// [`PatternError`] if a parameter is out of range or there are too many regions.
    pub fn bricks(spec: &Bricks) -> Result<Self, PatternError> {
        check_positive("size", &spec.size)?;
        check_positive("extents", &spec.extents)?;
        check("bond", spec.bond, true, "finite")?;
        check("jitter", spec.jitter, (0.0..=1.0).contains(&spec.jitter), "from 0 to 1")?;
        check("mortar", spec.mortar, spec.mortar >= 0.0, "zero or positive")?;
        for (axis, x) in spec.corner.iter().enumerate() {
            let bricks = (x / spec.pitch(axis)).abs();
            check("corner", *x, bricks <= MAX_BRICKS_AWAY, "within 1e12 bricks of the center")?;
        }
        check_count(spec.even_count())?;
        let mut random = Random::new(spec.seed);
        let layers = spec.joints(1, 0.0, &mut random);
        let courses = spec.joints(2, 0.0, &mut random);
        let mut cells = Vec::new();
        for layer in layers.spans() {
            for (number, course) in (courses.first..).zip(courses.spans()) {
                let shift = (spec.bond * number as f64).rem_euclid(1.0) * spec.pitch(0);
                for brick in spec.joints(0, shift, &mut random).spans() {
                    spec.lay([brick, layer, course], &mut cells);
                }
            }
        }
        Self::from_cells(cells)
    }
}

/// Largest distance of the corner from the center of the wall, in bricks: indices are exact.
const MAX_BRICKS_AWAY: f64 = 1e12;

/// The planes between bricks along one axis.
struct Joints {
    /// Index of the first span, counted from the corner.
    first: i64,
    /// Boundaries of the spans, ascending.
    places: Vec<f64>,
}

impl Joints {
    /// Lowest and highest end of each span; `None` where it extends outward.
    fn spans(&self) -> impl Iterator<Item = [Option<f64>; 2]> {
        let at = |n: usize| self.places.get(n).copied();
        (0..=self.places.len()).map(move |n| [n.checked_sub(1).and_then(at), at(n)])
    }
}

impl Bricks {
    /// Distance from a brick to the next.
    fn pitch(&self, axis: usize) -> f64 {
        self.size[axis] + self.mortar
    }

    /// Indices of the first and the last joint within the wall, counted from the corner.
    fn range(&self, axis: usize, shift: f64) -> [i64; 2] {
        // a joint exactly at the edge of the wall divides nothing
        let rim = self.extents[axis] * (1.0 - 1e-9);
        let number = |x: f64| (x - self.corner[axis] - shift) / self.pitch(axis);
        // a float too large for i64 saturates
        [number(-rim).ceil() as i64, number(rim).floor() as i64]
    }

    /// Number of bricks if no course is shifted.
    fn even_count(&self) -> usize {
        let spans = |axis: usize| {
            let [first, last] = self.range(axis, 0.0);
            usize::try_from(last.saturating_sub(first).saturating_add(2)).unwrap_or(1)
        };
        (0..3).fold(1_usize, |product, axis| product.saturating_mul(spans(axis)))
    }

    fn joints(&self, axis: usize, shift: f64, random: &mut Random) -> Joints {
        let [first, last] = self.range(axis, shift);
        let jitter = 0.4 * self.jitter * self.size[axis];
        let start = self.corner[axis] + shift;
        let place = |n: i64| start + n as f64 * self.pitch(axis) + jitter * random.signed();
        Joints { first: first - 1, places: (first..=last).map(place).collect() }
    }

    /// Adds a brick in its spans, and the mortar after it.
    fn lay(&self, spans: [[Option<f64>; 2]; 3], cells: &mut Vec<Cell>) {
        let whole =
            spans.iter().enumerate().fold(Cell::whole(&Pattern::REACH), |cell, (a, span)| {
                let [low, high] = span.map(|side| side.map(|at| upper(a, at)));
                let cell = low.iter().fold(cell, |cell, plane| cell.cut(plane.flipped()));
                high.iter().fold(cell, |cell, plane| cell.cut(*plane))
            });
        let mut brick = whole;
        for axis in [2, 0, 1] {
            let Some(end) = spans[axis][1].filter(|_| self.mortar > 0.0) else { continue };
            let joint = upper(axis, end - self.mortar);
            cells.push(brick.clone().cut(joint.flipped()));
            brick = brick.cut(joint);
        }
        cells.push(brick);
    }
}

/// The half-space below a position on an axis.
fn upper(axis: usize, at: f64) -> Plane {
    Plane { normal: Vector3::ith(axis, 1.0), offset: at }
}

#[cfg(test)]
mod tests {
    use nalgebra::Point3;

    use super::*;

    #[test]
    fn bricks_and_mortar_partition_space() {
        let even = Bricks::new(Vector3::new(0.4, 0.3, 0.2));
        let laid = Bricks { bond: 0.37, jitter: 1.0, mortar: 0.03, seed: 4, ..even };
        for spec in [even, laid, Bricks { corner: Vector3::new(3.0, -2.0, 0.1), ..laid }] {
            let pattern = Pattern::bricks(&spec).unwrap();
            let mut random = Random::new(3);
            for _ in 0..2000 {
                let p = Point3::from(random.in_cube() * 1.5);
                let holds = |r: &usize| pattern.value(*r, &p) < 0.0;
                assert_eq!((0..pattern.region_count()).filter(holds).count(), 1, "{p}");
            }
        }
    }

    #[test]
    fn a_wall_has_the_bricks_that_fit_and_mortar_takes_its_share() {
        // four bricks long, three courses high and one thick, from its corner
        let extents = Vector3::new(1.0, 0.2, 0.6);
        let size = Vector3::new(0.5, 0.4, 0.4);
        let spec = Bricks { extents, corner: -extents, bond: 0.0, ..Bricks::new(size) };
        assert_eq!(Pattern::bricks(&spec).unwrap().region_count(), 12);
        // every other course is shifted, and begins and ends with half a brick
        let bonded = Bricks { bond: 0.5, ..spec };
        assert_eq!(Pattern::bricks(&bonded).unwrap().region_count(), 4 + 5 + 4);
        let spec = Bricks { mortar: 0.05, size: size.map(|x| x - 0.05), ..spec };
        let pattern = Pattern::bricks(&spec).unwrap();
        // the bricks, the head joints between them and the bed joints between courses
        assert_eq!(pattern.region_count(), 12 + 3 * 3 + 2 * 4);
        let mut random = Random::new(9);
        let (mut mortar, total) = (0, 40_000);
        for _ in 0..total {
            let p = Point3::from(random.in_cube().component_mul(&extents));
            let along = |x: f64, pitch: f64| (x.rem_euclid(pitch) > pitch - 0.05) as usize;
            let is_joint =
                p.z < 0.2 && along(p.z + 0.6, 0.4) == 1 || p.x < 0.5 && along(p.x + 1.0, 0.5) == 1;
            mortar += usize::from(is_joint);
            let depth = -pattern.value(pattern.region_at(&p), &p);
            assert!(!is_joint || depth <= 0.025 + 1e-12, "{p} {depth}");
        }
        assert!(mortar > total / 10);
    }
}
