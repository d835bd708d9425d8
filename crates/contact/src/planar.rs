//! Rigid bodies in the xy plane by the impulse method: the lecture's algorithm in two dimensions.
//!
//! Circles and convex polygons, one impulse at a time. A body is one of three dimensions that only
//! turns about z ([`MassProperties::planar`]), so all impulse laws of this crate hold for it. The
//! lecture prints explicit Euler, positions first; here velocities go first (semi-implicit Euler),
//! without which anything that swings or bounces gains energy.
//!
//! ```
//! use brisance_contact::planar::{Outline, PlanarBody, PlanarWorld};
//! use nalgebra::{Point2, Vector2};
//!
//! let floor = Outline::rectangle(10.0, 1.0);
//! let mut world = PlanarWorld::default();
//! world.bodies.push(PlanarBody::fixed(floor, Point2::new(0.0, -0.5), 0.0));
//! let ball = Outline::Circle { radius: 0.5 };
//! world.bodies.push(PlanarBody::new(ball, 1000.0, Point2::new(0.0, 2.0), 0.0)?);
//! for _ in 0..600 {
//!     world.step(1.0 / 240.0);
//! }
//! assert!((world.bodies[1].place().y - 0.5).abs() < 0.01);
//! # Ok::<(), brisance_contact::planar::OutlineError>(())
//! ```

use dynamics::{Body, MassError, MassProperties, Momentum, Velocity, advance};
use nalgebra::{Isometry3, Matrix2, Point2, Translation3, Vector2, Vector3};

use crate::constraint::{ContactClass, classify};
use crate::passes::collide::mass_at;
use crate::{Clamp, Combine, Material, Mover, pair_impulse};

/// Overlap that is left alone, as a share of the smaller body.
const SLOP: f64 = 0.002;

/// The outline of a planar body, about its centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline {
    /// A circle.
    Circle {
        /// Radius, m.
        radius: f64,
    },
    /// A convex polygon: corners in m, counter-clockwise.
    Polygon(Vec<Point2<f64>>),
}

/// Why an outline makes no body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OutlineError {
    /// Its corners do not go once around, counter-clockwise, turning left at each.
    #[error("a polygon needs three corners or more, counter-clockwise and convex")]
    NotConvex,
    /// Its mass or moment is unusable.
    #[error(transparent)]
    Mass(#[from] MassError),
}

impl Outline {
    /// A rectangle of the given sides, m.
    pub fn rectangle(width: f64, height: f64) -> Self {
        let (x, y) = (0.5 * width, 0.5 * height);
        Self::Polygon([(-x, -y), (x, -y), (x, y), (-x, y)].map(|(x, y)| Point2::new(x, y)).into())
    }

    /// Area, m^2, centre, m, and second moment of area about that, m^4.
    fn moments(&self) -> Result<(f64, Vector2<f64>, f64), OutlineError> {
        let corners = match self {
            Self::Circle { radius } => {
                let square = radius * radius;
                let area = std::f64::consts::PI * square;
                return Ok((area, Vector2::zeros(), 0.5 * area * square));
            }
            Self::Polygon(corners) => corners,
        };
        let (mut area, mut first, mut second) = (0.0, Vector2::zeros(), 0.0);
        let n = corners.len();
        for i in 0..n {
            let [p, q, r] = [0, 1, 2].map(|k| corners[(i + k) % n].coords);
            let turns_left = n >= 3 && (q - p).perp(&(r - q)) > 0.0;
            if !turns_left {
                return Err(OutlineError::NotConvex);
            }
            // triangles from the origin, with sign
            let twice = p.perp(&q);
            area += 0.5 * twice;
            first += (p + q) * (twice / 6.0);
            second += twice / 12.0 * (p.dot(&p) + p.dot(&q) + q.dot(&q));
        }
        // left turns alone may also go round twice
        let turns_on = |c: &[Point2<f64>]| (c[0] - corners[0]).perp(&(c[1] - corners[0])) > 0.0;
        let once = n >= 3 && corners[1..].windows(2).all(turns_on);
        if !once {
            return Err(OutlineError::NotConvex);
        }
        let centre = first / area;
        Ok((area, centre, second - area * centre.norm_squared()))
    }

    fn moved(self, by: &Vector2<f64>) -> Self {
        match self {
            Self::Circle { .. } => self,
            Self::Polygon(corners) => {
                Self::Polygon(corners.into_iter().map(|corner| corner - by).collect())
            }
        }
    }

    /// Distance of the farthest point from the origin, m.
    fn radius(&self) -> f64 {
        match self {
            Self::Circle { radius } => *radius,
            Self::Polygon(corners) => corners.iter().map(|c| c.coords.norm()).fold(0.0, f64::max),
        }
    }
}

/// A body in the plane.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanarBody {
    outline: Outline,
    /// Its surface.
    pub material: Material,
    body: Body,
    pose: Isometry3<f64>,
    momentum: Momentum,
}

impl PlanarBody {
    /// A body of `density` kg/m^2 with its centre of mass at `place` m, turned by `angle` rad, at
    /// rest. The outline is moved so that its centre of mass is the origin.
    ///
    /// # Errors
    /// [`OutlineError`] if the outline is not convex or has no mass.
    pub fn new(
        outline: Outline,
        density: f64,
        place: Point2<f64>,
        angle: f64,
    ) -> Result<Self, OutlineError> {
        let (area, centre, second) = outline.moments()?;
        let mass = MassProperties::planar(area * density, second * density)?;
        let body = Body::Dynamic(mass);
        Ok(Self { body, ..Self::fixed(outline.moved(&centre), place, angle) })
    }

    /// A body that never moves, its outline's origin at `place` m, turned by `angle` rad.
    pub fn fixed(outline: Outline, place: Point2<f64>, angle: f64) -> Self {
        let turn = Velocity { angular: Vector3::z() * angle, ..Velocity::default() };
        let start =
            Isometry3::from_parts(Translation3::new(place.x, place.y, 0.0), Default::default());
        let pose = advance(&Body::Kinematic(turn), &start, &Momentum::default(), 1.0);
        let (body, momentum) = (Body::Static, Momentum::default());
        Self { outline, material: Material::default(), body, pose, momentum }
    }

    /// The same moving at `velocity` m/s and turning at `spin` rad/s.
    pub fn moving(mut self, velocity: Vector2<f64>, spin: f64) -> Self {
        if let Body::Dynamic(mass) = &self.body {
            let velocity = Velocity { linear: velocity.push(0.0), angular: Vector3::z() * spin };
            self.momentum = mass.momentum(&self.pose.rotation, &velocity);
        }
        self
    }

    /// Its centre of mass, m.
    pub fn place(&self) -> Point2<f64> {
        Point2::from(self.pose.translation.vector.xy())
    }

    /// Velocity of its centre of mass, m/s, and angular velocity, rad/s.
    pub fn velocity(&self) -> (Vector2<f64>, f64) {
        let velocity = self.body.velocity(&self.pose.rotation, &self.momentum);
        (velocity.linear.xy(), velocity.angular.z)
    }

    /// Cosine and sine of the angle it is turned by.
    pub fn direction(&self) -> Vector2<f64> {
        let q = &self.pose.rotation;
        Vector2::new(1.0 - 2.0 * q.k * q.k, 2.0 * q.w * q.k)
    }

    /// Its mass, kg; infinite if it never moves.
    pub fn mass(&self) -> f64 {
        self.body.mass_properties().map_or(f64::INFINITY, MassProperties::mass)
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self) -> f64 {
        self.body.kinetic_energy(&self.pose.rotation, &self.momentum)
    }

    fn corners(&self) -> Option<Vec<Vector2<f64>>> {
        let Outline::Polygon(corners) = &self.outline else { return None };
        let turn = turn(&self.direction());
        Some(corners.iter().map(|c| turn * c.coords + self.place().coords).collect())
    }
}

fn turn(direction: &Vector2<f64>) -> Matrix2<f64> {
    Matrix2::new(direction.x, -direction.y, direction.y, direction.x)
}

/// A point where two planar bodies touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarContact {
    /// Where, m.
    pub point: Point2<f64>,
    /// Unit normal out of the second body.
    pub normal: Vector2<f64>,
    /// Overlap, m.
    pub depth: f64,
}

/// Where two bodies touch or overlap; at most two points.
pub fn contacts(a: &PlanarBody, b: &PlanarBody) -> Vec<PlanarContact> {
    let flip = |c: PlanarContact| PlanarContact { normal: -c.normal, ..c };
    match (a.corners(), b.corners()) {
        (Some(p), Some(q)) => polygons(&p, &q),
        (Some(p), None) => circle_in(b, &p).into_iter().map(flip).collect(),
        (None, Some(q)) => circle_in(a, &q).into_iter().collect(),
        (None, None) => {
            let (p, q) = (a.place(), b.place());
            let apart = p - q;
            let depth = a.outline.radius() + b.outline.radius() - apart.norm();
            let normal = apart.try_normalize(0.0).unwrap_or_else(Vector2::x);
            let point = q + normal * (b.outline.radius() - 0.5 * depth);
            (depth >= 0.0).then_some(PlanarContact { point, normal, depth }).into_iter().collect()
        }
    }
}

/// Sides of a polygon with their outward normals.
fn sides(p: &[Vector2<f64>]) -> impl Iterator<Item = (Vector2<f64>, Vector2<f64>, Vector2<f64>)> {
    (0..p.len()).filter_map(|i| {
        let (from, to) = (p[i], p[(i + 1) % p.len()]);
        let along = to - from;
        Vector2::new(along.y, -along.x).try_normalize(0.0).map(|normal| (from, to, normal))
    })
}

/// A circle against a polygon; the normal points out of the polygon.
fn circle_in(circle: &PlanarBody, polygon: &[Vector2<f64>]) -> Option<PlanarContact> {
    let (centre, radius) = (circle.place().coords, circle.outline.radius());
    let height = |side: &(Vector2<f64>, Vector2<f64>, Vector2<f64>)| (centre - side.0).dot(&side.2);
    let (from, to, out) = sides(polygon).max_by(|p, q| height(p).total_cmp(&height(q)))?;
    let along = to - from;
    let share = ((centre - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
    let nearest = from + along * share;
    let inside = height(&(from, to, out)) <= 0.0;
    let (normal, distance) = if inside {
        (out, height(&(from, to, out)))
    } else {
        ((centre - nearest).try_normalize(0.0)?, (centre - nearest).norm())
    };
    let depth = radius - distance;
    let point = Point2::from(centre - normal * (radius - 0.5 * depth));
    (depth >= 0.0).then_some(PlanarContact { point, normal, depth })
}

/// Two polygons, by the side that parts them best and what of the other lies behind it.
fn polygons(p: &[Vector2<f64>], q: &[Vector2<f64>]) -> Vec<PlanarContact> {
    let (Some(of_p), Some(of_q)) = (best_side(p, q), best_side(q, p)) else { return Vec::new() };
    if of_p.0 > 0.0 || of_q.0 > 0.0 {
        return Vec::new();
    }
    // the second is preferred, so that round-off does not swap them from step to step
    let second = of_q.0 >= of_p.0 - 1e-9;
    let ((_, (from, to, out)), other, sign) = if second { (of_q, p, 1.0) } else { (of_p, q, -1.0) };
    let facing = sides(other).min_by(|s, t| s.2.dot(&out).total_cmp(&t.2.dot(&out)));
    let Some((mut one, mut two, _)) = facing else { return Vec::new() };
    let along = (to - from).normalize();
    // cut the facing side where the ends of this one are
    for (end, inward) in [(from, along), (to, -along)] {
        let (s, t) = ((one - end).dot(&inward), (two - end).dot(&inward));
        let cut = |x: Vector2<f64>, y: Vector2<f64>, s: f64, t: f64| x + (y - x) * (s / (s - t));
        match (s < 0.0, t < 0.0) {
            (true, true) => return Vec::new(),
            (true, false) => one = cut(one, two, s, t),
            (false, true) => two = cut(two, one, t, s),
            (false, false) => {}
        }
    }
    let contact = |at: Vector2<f64>| {
        let depth = -(at - from).dot(&out);
        let point = Point2::from(at + out * (0.5 * depth));
        (depth >= 0.0).then_some(PlanarContact { point, normal: out * sign, depth })
    };
    [one, two].into_iter().filter_map(contact).collect()
}

type Side = (Vector2<f64>, Vector2<f64>, Vector2<f64>);

/// The side of `p` beyond which `q` lies farthest, and how far.
fn best_side(p: &[Vector2<f64>], q: &[Vector2<f64>]) -> Option<(f64, Side)> {
    let beyond =
        |side: &Side| q.iter().map(|c| (c - side.0).dot(&side.2)).fold(f64::INFINITY, f64::min);
    sides(p).map(|side| (beyond(&side), side)).max_by(|s, t| s.0.total_cmp(&t.0))
}

/// Bodies in the plane and what moves them.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanarWorld {
    /// The bodies.
    pub bodies: Vec<PlanarBody>,
    /// Acceleration of all that move, m/s^2.
    pub gravity: Vector2<f64>,
    /// Sweeps over all contacts.
    pub sweeps: usize,
    /// Share of the overlap that a step pushes out.
    pub push_out: f64,
    /// What is done to impulses that would add kinetic energy.
    pub clamp: Clamp,
    /// How the friction of two materials without a rule of their own becomes that of the pair.
    pub friction: Combine,
    /// The same of restitution.
    pub restitution: Combine,
}

impl Default for PlanarWorld {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            gravity: Vector2::new(0.0, -9.81),
            sweeps: 20,
            push_out: 0.2,
            clamp: Clamp::default(),
            friction: Combine::Max,
            restitution: Combine::Min,
        }
    }
}

impl PlanarWorld {
    /// Advances all bodies by `dt` s: forces, impulses where bodies touch, then positions.
    pub fn step(&mut self, dt: f64) {
        let gravity = self.gravity.push(0.0);
        for body in &mut self.bodies {
            if let Body::Dynamic(mass) = &body.body {
                body.momentum.linear += gravity * (mass.mass() * dt);
            }
        }
        let found = self.touching();
        // what gravity gives in the step is no collision
        let slow = 2.0 * gravity.norm() * dt;
        for _ in 0..self.sweeps {
            for (pair, contact) in &found {
                self.hit(*pair, contact, slow);
            }
        }
        for body in &mut self.bodies {
            body.pose = advance(&body.body, &body.pose, &body.momentum, dt);
        }
        for (pair, contact) in &found {
            self.part(*pair, contact);
        }
    }

    /// Kinetic and potential energy of all that move, J.
    pub fn energy(&self) -> f64 {
        let of = |body: &PlanarBody| match body.body {
            Body::Dynamic(mass) => {
                body.kinetic_energy() - mass.mass() * self.gravity.dot(&body.place().coords)
            }
            Body::Static | Body::Kinematic(_) => 0.0,
        };
        self.bodies.iter().map(of).sum()
    }

    fn touching(&self) -> Vec<((usize, usize), PlanarContact)> {
        let bodies = &self.bodies;
        let pairs = (0..bodies.len()).flat_map(|i| (i + 1..bodies.len()).map(move |j| (i, j)));
        let near = |&(i, j): &(usize, usize)| {
            let (p, q) = (&bodies[i], &bodies[j]);
            let moves = [p, q].iter().any(|b| b.body.mass_properties().is_some());
            moves && (p.place() - q.place()).norm() <= p.outline.radius() + q.outline.radius()
        };
        pairs
            .filter(near)
            .flat_map(|(i, j)| {
                contacts(&bodies[i], &bodies[j]).into_iter().map(move |c| ((i, j), c))
            })
            .collect()
    }

    /// The impulse of one contact by its class.
    fn hit(&mut self, (i, j): (usize, usize), contact: &PlanarContact, slow: f64) {
        let normal = contact.normal.push(0.0);
        let [(mut a, arm_a), (mut b, arm_b)] = [i, j].map(|n| self.mover(n, &contact.point));
        let u = a.velocity.at(&arm_a) - b.velocity.at(&arm_b);
        let (p, q) = (&self.bodies[i].material, &self.bodies[j].material);
        let restitution = match classify(u.dot(&normal), slow) {
            ContactClass::Colliding => p.restitution_with(q, self.restitution),
            ContactClass::Resting => 0.0,
            ContactClass::Separating => return,
        };
        let k = mass_at(&a, &arm_a) + mass_at(&b, &arm_b);
        let friction = p.friction_with(q, self.friction);
        let impulse = pair_impulse(&normal, &k, &u, restitution, friction);
        let impulse = self.clamp.limit(&impulse, &normal, &k, &u);
        a.apply(&impulse, &arm_a);
        b.apply(&-impulse, &arm_b);
        for (n, mover) in [(i, a), (j, b)] {
            let momentum = &mut self.bodies[n].momentum;
            let gained = mover.gained.planar();
            momentum.linear += gained.linear;
            momentum.angular += gained.angular;
        }
    }

    /// Moves two bodies apart along the normal by a share of their overlap.
    fn part(&mut self, (i, j): (usize, usize), contact: &PlanarContact) {
        let size = self.bodies[i].outline.radius().min(self.bodies[j].outline.radius());
        let overlap = contact.depth - SLOP * size;
        let [p, q] = [i, j].map(|n| 1.0 / self.bodies[n].mass());
        if overlap <= 0.0 || p + q == 0.0 {
            return;
        }
        let move_by = contact.normal.push(0.0) * (self.push_out * overlap / (p + q));
        self.bodies[i].pose.translation.vector += move_by * p;
        self.bodies[j].pose.translation.vector -= move_by * q;
    }

    fn mover(&self, n: usize, point: &Point2<f64>) -> (Mover, Vector3<f64>) {
        let body = &self.bodies[n];
        let arm = (point - body.place()).push(0.0);
        (Mover::new(&body.body, &body.pose, &body.momentum), arm)
    }
}
