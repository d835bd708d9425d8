//! Solids of revolution: signed distance, support function and measures.

use levelset::Aabb;
use nalgebra::{Point3, Vector3};

/// A circle about the y axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rim {
    /// Its y coordinate, m.
    pub height: f64,
    /// Radius, m; zero for the tip of a cone.
    pub radius: f64,
}

/// A convex solid of revolution about the y axis of the body: the Minkowski sum of the convex hull
/// of two rims and a ball of radius `rounding`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// The lower one first.
    rims: [Rim; 2],
    /// m.
    rounding: f64,
    /// Outward unit normal of the side: along the radius and along the axis.
    side: [f64; 2],
}

impl Round {
    /// A cylinder about the origin; both lengths, m, must be positive.
    pub fn cylinder(half_height: f64, radius: f64) -> Self {
        Self::new([-half_height, half_height].map(|height| Rim { height, radius }), 0.0)
    }

    /// A cylinder with hemispheres at both ends about the origin. `half_height` is that of the
    /// cylinder; both lengths, m, must be positive.
    pub fn capsule(half_height: f64, radius: f64) -> Self {
        Self::new([-half_height, half_height].map(|height| Rim { height, radius: 0.0 }), radius)
    }

    /// A cone about its center of mass, its tip up the y axis; both lengths, m, must be positive.
    pub fn cone(half_height: f64, radius: f64) -> Self {
        let base = Rim { height: -0.5 * half_height, radius };
        Self::new([base, Rim { height: 1.5 * half_height, radius: 0.0 }], 0.0)
    }

    fn new(rims: [Rim; 2], rounding: f64) -> Self {
        let [low, high] = rims;
        let (rise, growth) = (high.height - low.height, high.radius - low.radius);
        let length = (rise * rise + growth * growth).sqrt();
        let side = if length > 0.0 { [rise / length, -growth / length] } else { [1.0, 0.0] };
        Self { rims, rounding, side }
    }

    /// The rims, the lower one first.
    pub fn rims(&self) -> &[Rim; 2] {
        &self.rims
    }

    /// Radius of the rounding, m: that of a capsule.
    pub fn rounding(&self) -> f64 {
        self.rounding
    }

    /// Outward unit normal of the side: along the radius and along the axis.
    pub fn side(&self) -> [f64; 2] {
        self.side
    }

    /// Signed distance at `p`, m, and the outward normal there.
    pub fn distance_and_normal(&self, p: &Point3<f64>) -> (f64, Vector3<f64>) {
        let radial = (p.x * p.x + p.z * p.z).sqrt();
        let out = if radial > 0.0 { [p.x / radial, p.z / radial] } else { [1.0, 0.0] };
        let (distance, [across, along]) = self.in_section(radial, p.y);
        (distance - self.rounding, Vector3::new(out[0] * across, along, out[1] * across))
    }

    /// Signed distance of the hull of the rims in a half-plane through the axis, m, and the normal.
    fn in_section(&self, radial: f64, y: f64) -> (f64, [f64; 2]) {
        let [low, high] = self.rims;
        let [across, along] = self.side;
        let from_low = [radial - low.radius, y - low.height];
        let from_high = [radial - high.radius, y - high.height];
        let side = across * from_low[0] + along * from_low[1];
        let (above, below) = (from_high[1], -from_low[1]);
        if above.max(below).max(side) <= 0.0 {
            return if side >= above.max(below) {
                (side, self.side)
            } else if above >= below {
                (above, [0.0, 1.0])
            } else {
                (below, [0.0, -1.0])
            };
        }
        if above > 0.0 && radial <= high.radius {
            return (above, [0.0, 1.0]);
        }
        if below > 0.0 && radial <= low.radius {
            return (below, [0.0, -1.0]);
        }
        // along the side, upwards
        let up = |q: [f64; 2]| across * q[1] - along * q[0];
        if side > 0.0 && up(from_low) >= 0.0 && up(from_high) <= 0.0 {
            return (side, self.side);
        }
        let [to_low, to_high] = [from_low, from_high].map(|[u, v]| (u * u + v * v).sqrt());
        let (distance, [u, v]) =
            if to_low < to_high { (to_low, from_low) } else { (to_high, from_high) };
        if distance > 0.0 { (distance, [u / distance, v / distance]) } else { (0.0, self.side) }
    }

    /// The support function: extent along the unit vector `direction`, m.
    pub fn reach(&self, direction: &Vector3<f64>) -> f64 {
        let across = (direction.x * direction.x + direction.z * direction.z).sqrt();
        let [low, high] = self.rims.map(|rim| rim.height * direction.y + rim.radius * across);
        low.max(high) + self.rounding
    }

    /// The support point of each rim along the unit vector `direction`.
    pub(crate) fn farthest(&self, direction: &Vector3<f64>) -> [Point3<f64>; 2] {
        self.rims.map(|rim| self.on_rim(&rim, &level(direction), direction))
    }

    /// Support points along the unit vector `direction`: one of each rim, and three more at right
    /// angles around a rim that is not a point. Each has a key of rim and angle.
    pub(crate) fn around(
        &self,
        direction: &Vector3<f64>,
    ) -> impl Iterator<Item = (u32, Point3<f64>)> {
        let first = level(direction);
        let turns = [first, [-first[1], first[0]], [-first[0], -first[1]], [first[1], -first[0]]];
        let (round, direction) = (*self, *direction);
        (0..2).flat_map(move |n| {
            let rim = round.rims[n as usize];
            let count = if rim.radius > 0.0 { 4 } else { 1 };
            (0..count).map(move |k| (4 * n + k, round.on_rim(&rim, &turns[k as usize], &direction)))
        })
    }

    fn on_rim(&self, rim: &Rim, out: &[f64; 2], direction: &Vector3<f64>) -> Point3<f64> {
        Point3::new(out[0] * rim.radius, rim.height, out[1] * rim.radius)
            + direction * self.rounding
    }

    /// The smallest box.
    pub(crate) fn bounds(&self) -> Aabb {
        let [low, high] = self.rims;
        let across = low.radius.max(high.radius) + self.rounding;
        Aabb {
            min: Point3::new(-across, low.height - self.rounding, -across),
            max: Point3::new(across, high.height + self.rounding, across),
        }
    }

    /// Whether no length is negative or not a number, which maxima of them may hide.
    pub(crate) fn is_usable(&self) -> bool {
        let [low, high] = self.rims;
        let lengths = [low.radius, high.radius, high.height - low.height, self.rounding];
        lengths.iter().all(|x| *x >= 0.0)
    }

    /// Distance of the farthest surface point from the origin, m.
    pub(crate) fn radius(&self) -> f64 {
        let far = |rim: Rim| (rim.height * rim.height + rim.radius * rim.radius).sqrt();
        let [low, high] = self.rims.map(far);
        low.max(high) + self.rounding
    }

    /// Half of the least distance of two parallel supporting planes, m. In the plane of the axis
    /// one of the two lines contains a side of the section (Houle and Toussaint 1988).
    pub(crate) fn half_width(&self) -> f64 {
        let [low, high] = self.rims;
        let [across, along] = self.side;
        let direction = Vector3::new(across, along, 0.0);
        let aslant = self.reach(&direction) + self.reach(&-direction);
        0.5 * aslant.min(high.height - low.height + 2.0 * self.rounding)
    }

    /// Points on the surface at most `spacing` m apart, but at most [`Round::MAX_AROUND`] around
    /// it.
    pub(crate) fn points(&self, spacing: f64) -> Vec<Point3<f64>> {
        let mut points = Vec::new();
        let section = self.section(spacing);
        for [radial, y] in section {
            let around = (std::f64::consts::TAU * radial / spacing).ceil();
            let count = around.clamp(4.0, Self::MAX_AROUND) as u32;
            // a single point on the axis
            let count = if radial > 0.0 { count } else { 1 };
            for n in 0..count {
                let (sin, cos) =
                    libm::sincos(std::f64::consts::TAU * f64::from(n) / f64::from(count));
                points.push(Point3::new(radial * cos, y, radial * sin));
            }
        }
        points
    }

    /// Largest number of points around the axis and along each part of the section.
    pub(crate) const MAX_AROUND: f64 = 128.0;

    /// The outline of the section through the axis, from the lower end of the axis to the upper:
    /// radius and height of points at most `spacing` m apart.
    pub fn section(&self, spacing: f64) -> Vec<[f64; 2]> {
        let [low, high] = self.rims;
        let mut outline = Vec::new();
        let steps = |length: f64| (length / spacing).ceil().clamp(1.0, Self::MAX_AROUND) as u32;
        let mut line = |from: [f64; 2], to: [f64; 2]| {
            let length = ((to[0] - from[0]).powi(2) + (to[1] - from[1]).powi(2)).sqrt();
            let count = steps(length);
            outline.extend((0..=count).map(|n| {
                let share = f64::from(n) / f64::from(count);
                [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]
            }));
        };
        if self.rounding > 0.0 {
            return self.rounded_section(steps);
        }
        line([0.0, low.height], [low.radius, low.height]);
        line([low.radius, low.height], [high.radius, high.height]);
        line([high.radius, high.height], [0.0, high.height]);
        outline.dedup();
        outline
    }

    fn rounded_section(&self, steps: impl Fn(f64) -> u32) -> Vec<[f64; 2]> {
        use std::f64::consts::{FRAC_PI_2, PI};
        let [low, high] = self.rims;
        let [across, along] = self.side;
        let slope = libm::atan2(along, across);
        let mut outline = Vec::new();
        for (rim, from, to) in [(low, -FRAC_PI_2, slope), (high, slope, FRAC_PI_2)] {
            let count = steps(self.rounding * PI).max(2);
            outline.extend((0..=count).map(|n| {
                let angle = from + (to - from) * f64::from(n) / f64::from(count);
                let (sin, cos) = libm::sincos(angle);
                // the poles are points
                let out = if angle.abs() < FRAC_PI_2 { cos * self.rounding } else { 0.0 };
                [rim.radius + out, rim.height + sin * self.rounding]
            }));
        }
        let length = high.height - low.height;
        let (middle, count) = (outline.len() / 2, steps(length));
        let [from, to] = [outline[middle - 1], outline[middle]];
        let between = (1..count).map(|n| {
            let share = f64::from(n) / f64::from(count);
            [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]
        });
        let between: Vec<_> = between.collect();
        outline.splice(middle..middle, between);
        outline
    }
}

/// Slope of an axis to a normal below which they count as parallel: the rim has no unique support
/// point.
const LEVEL: f64 = 1e-9;

/// The direction across the axis of the unit vector `direction`; x if `direction` is along the
/// axis.
fn level(direction: &Vector3<f64>) -> [f64; 2] {
    let across = (direction.x * direction.x + direction.z * direction.z).sqrt();
    if across > LEVEL { [direction.x / across, direction.z / across] } else { [1.0, 0.0] }
}
