//! Bodies to add to a world, and their states.

use std::sync::Arc;

use contact::{Groups, Material, MaterialError, Shape};
use dynamics::{Body, MassProperties, Momentum, Velocity};
use fracture::Geometry;
use nalgebra::{Isometry3, Point3, Vector3};
use thiserror::Error;

use crate::world::limits::{MAX_NUMBER, is_usable};
use crate::{BodyId, Breakage, BreakageError, Lineage, RigidError, Solid, rigid};

/// A body to add to a [`World`](crate::World). Constructors create common ones, whose fields may
/// then be changed.
#[derive(Clone, Debug)]
pub struct NewBody {
    /// Static, kinematic or dynamic, with its mass.
    pub body: Body,
    /// Body coordinates (center of mass, principal axes) to world.
    pub pose: Isometry3<f64>,
    /// Velocity of a dynamic body; that of a kinematic one is in `body`.
    pub velocity: Velocity,
    /// Its collision shape, in body coordinates.
    pub shape: Arc<Shape>,
    /// Its solid, if it can break, be cut or anchored; by default the samples of a sampled shape. A
    /// single convex shape that can break has an exact one by default.
    pub solid: Option<Solid>,
    /// Its surface properties.
    pub material: Material,
    /// Its collision groups. Its pieces inherit them.
    pub groups: Groups,
    /// How it breaks, if it does. Without a solid, only single convex shapes can.
    pub breakage: Option<Breakage>,
}

/// Why a body was rejected.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BodyError {
    /// Its restitution or friction is invalid.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// It cannot break as its [`NewBody::breakage`] says.
    #[error(transparent)]
    Breakage(#[from] BreakageError),
}

impl NewBody {
    /// A solid of uniform `density` kg/m^3 at rest, with its geometry at the origin of the world.
    /// It collides by [`Solid::shape`] and is unbreakable.
    ///
    /// # Errors
    /// [`RigidError`] if the solid is empty or the density is not a positive number.
    ///
    /// ```
    /// use brisance_sim::fracture::Geometry;
    /// use brisance_sim::levelset::{Aabb, Grid, Solid};
    /// use brisance_sim::nalgebra::{Isometry3, Point3, Vector3};
    /// use brisance_sim::{NewBody, Settings, World};
    ///
    /// let ring = Solid::Torus { major: 0.3, minor: 0.1 };
    /// let corner = Point3::new(0.4, 0.1, 0.4);
    /// let grid = Grid::enclosing(&Aabb { min: -corner, max: corner }, 0.02, 3, Grid::MAX_NODES)?;
    /// let ring = Geometry::primitive(ring, grid).expect("a solid");
    ///
    /// let mut world = World::new(Settings::default());
    /// let ring = NewBody::new(ring, 2700.0)?.at(&Isometry3::translation(0.0, 2.0, 0.0));
    /// let ball = NewBody::ball(0.1, 7800.0)?.at(&Isometry3::translation(0.0, 3.0, 0.0));
    /// let table = NewBody::cuboid(Vector3::new(1.0, 0.05, 1.0), 600.0)?;
    /// for body in [ring, ball, table] {
    ///     world.add(body)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(geometry: impl Into<Arc<Geometry>>, density: f64) -> Result<Self, RigidError> {
        let geometry = geometry.into();
        let (mass, material) = rigid(geometry.moments(), density)?;
        let solid = Solid { geometry, material };
        let body = Self::of(Body::Dynamic(mass), solid.shape());
        Ok(Self { pose: material, solid: Some(solid), ..body })
    }

    /// A ball about the origin of the world, `radius` in m, of uniform `density` kg/m^3, at rest.
    ///
    /// # Errors
    /// [`RigidError`] if a number is not positive and finite.
    pub fn ball(radius: f64, density: f64) -> Result<Self, RigidError> {
        let mass = density * (4.0 / 3.0 * std::f64::consts::PI) * radius.powi(3);
        let mass = MassProperties::ball(mass, radius)?;
        Ok(Self::of(Body::Dynamic(mass), Shape::ball(radius)))
    }

    /// A box about the origin of the world, `half` its edge lengths in m, of uniform `density`
    /// kg/m^3, at rest.
    ///
    /// # Errors
    /// [`RigidError`] if a number is not positive and finite.
    pub fn cuboid(half: Vector3<f64>, density: f64) -> Result<Self, RigidError> {
        if half.iter().any(|x| *x <= 0.0) {
            return Err(RigidError::Empty);
        }
        let mass = 8.0 * density * half.product();
        let mass = MassProperties::cuboid(mass, &half)?;
        Ok(Self::of(Body::Dynamic(mass), Shape::cuboid(half, half.min())))
    }

    /// A static body, with its shape at the origin of the world.
    pub fn fixed(shape: impl Into<Arc<Shape>>) -> Self {
        Self::of(Body::Static, shape)
    }

    /// The body moved by `place`.
    #[must_use]
    pub fn at(self, place: &Isometry3<f64>) -> Self {
        Self { pose: place * self.pose, ..self }
    }

    /// A body with collision shape `shape` at the origin of the world: at rest, of the default
    /// material, in the default groups, and unbreakable.
    pub fn of(body: Body, shape: impl Into<Arc<Shape>>) -> Self {
        Self {
            body,
            pose: Isometry3::identity(),
            velocity: Velocity::default(),
            shape: shape.into(),
            solid: None,
            material: Material::default(),
            groups: Groups::default(),
            breakage: None,
        }
    }

    pub(super) fn is_usable(&self) -> bool {
        let usable =
            |v: &Velocity| v.linear.iter().chain(v.angular.iter()).all(|x| x.abs() <= MAX_NUMBER);
        let moved = match &self.body {
            Body::Kinematic(velocity) => usable(velocity),
            Body::Static | Body::Dynamic(_) => usable(&self.velocity),
        };
        moved && self.shape.is_usable() && is_usable(&self.pose, &self.momentum())
    }

    pub(super) fn momentum(&self) -> Momentum {
        match &self.body {
            Body::Dynamic(mass) => mass.momentum(&self.pose.rotation, &self.velocity),
            Body::Static | Body::Kinematic(_) => Momentum::default(),
        }
    }

    /// Restricts it to motion in the xy plane, and makes it unbreakable. `false` if none of its
    /// principal axes is along z.
    pub(super) fn flatten(&mut self) -> bool {
        let Body::Dynamic(mass) = &self.body else { return true };
        let Some(mass) = mass.in_plane(&self.pose.rotation) else { return false };
        self.body = Body::Dynamic(mass);
        self.velocity.linear.z = 0.0;
        self.velocity.angular = Vector3::z() * self.velocity.angular.z;
        self.breakage = None;
        true
    }

    /// The same body, static and without collisions.
    pub(super) fn frozen(self) -> Self {
        let known = is_usable(&self.pose, &Momentum::default());
        Self {
            body: Body::Static,
            pose: if known { self.pose } else { Isometry3::identity() },
            velocity: Velocity::default(),
            shape: Arc::new(Shape::empty()),
            solid: None,
            material: Material::default(),
            groups: self.groups,
            breakage: None,
        }
    }
}

/// The state of a body.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BodyState<'a> {
    /// Its handle.
    pub id: BodyId,
    /// Static, kinematic or dynamic, with its mass.
    pub body: &'a Body,
    /// Body coordinates to world.
    pub pose: &'a Isometry3<f64>,
    /// Momentum of a dynamic body.
    pub momentum: &'a Momentum,
    /// Its collision shape.
    pub shape: &'a Arc<Shape>,
    /// Its solid.
    pub solid: Option<&'a Solid>,
    /// Its collision groups.
    pub groups: Groups,
    /// How it breaks.
    pub breakage: Option<&'a Breakage>,
    /// Its lineage, if it is a fragment.
    pub lineage: Option<&'a Lineage>,
    /// Whether it is asleep.
    pub asleep: bool,
}

impl BodyState<'_> {
    /// Velocity of its center of mass, m/s, and angular velocity, rad/s, in world axes.
    ///
    /// ```
    /// use brisance_sim::dynamics::Velocity;
    /// use brisance_sim::nalgebra::{Point3, Vector3};
    /// use brisance_sim::{NewBody, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let spin = Velocity { linear: Vector3::x(), angular: Vector3::y() * 10.0 };
    /// let ball = world.add(NewBody { velocity: spin, ..NewBody::ball(0.1, 500.0)? })?;
    /// let state = world.get(ball).expect("a ball");
    /// assert!((state.velocity().angular.y - 10.0).abs() < 1e-12);
    /// let side = Point3::new(0.0, 0.0, -0.1);
    /// assert!(state.velocity_at(&side).norm() < 1e-12, "the point of contact of a rolling ball rests");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn velocity(&self) -> Velocity {
        self.body.velocity(&self.pose.rotation, self.momentum)
    }

    /// Velocity of its material point at `point` in the world, m/s.
    pub fn velocity_at(&self, point: &Point3<f64>) -> Vector3<f64> {
        self.velocity().at(&(point.coords - self.pose.translation.vector))
    }
}
