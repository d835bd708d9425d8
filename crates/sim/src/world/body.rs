//! A body that is added to a world, and one as it is.

use std::sync::Arc;

use contact::{Groups, Material, Shape};
use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Vector3};

use crate::world::limits::{MAX_NUMBER, is_usable};
use crate::{BodyId, Breakage, Lineage, Solid};

/// A body to add to a [`World`](crate::World).
#[derive(Clone, Debug)]
pub struct NewBody {
    /// What it is.
    pub body: Body,
    /// Body coordinates (center of mass, principal axes) to world.
    pub pose: Isometry3<f64>,
    /// Velocity of a dynamic body; that of a kinematic one is in `body`.
    pub velocity: Velocity,
    /// What it collides with, in body coordinates.
    pub shape: Arc<Shape>,
    /// What it is made of, if it can break, be cut or anchored; the samples of a sampled shape unless
    /// given.
    pub solid: Option<Solid>,
    /// Its surface.
    pub material: Material,
    /// Whom it may touch. Its pieces inherit it.
    pub groups: Groups,
    /// How it breaks, if it does. Only bodies with a solid do.
    pub breakage: Option<Breakage>,
}

impl NewBody {
    pub(super) fn is_usable(&self) -> bool {
        let usable =
            |v: &Velocity| v.linear.iter().chain(v.angular.iter()).all(|x| x.abs() <= MAX_NUMBER);
        let moved = match &self.body {
            Body::Kinematic(velocity) => usable(velocity),
            Body::Static | Body::Dynamic(_) => usable(&self.velocity),
        };
        moved && is_usable(&self.pose, &self.momentum())
    }

    pub(super) fn momentum(&self) -> Momentum {
        match &self.body {
            Body::Dynamic(mass) => mass.momentum(&self.pose.rotation, &self.velocity),
            Body::Static | Body::Kinematic(_) => Momentum::default(),
        }
    }

    /// Lets it move in the xy plane alone, and never break. `false` if no axis of it is along z.
    pub(super) fn flatten(&mut self) -> bool {
        let Body::Dynamic(mass) = &self.body else { return true };
        let Some(mass) = mass.in_plane(&self.pose.rotation) else { return false };
        self.body = Body::Dynamic(mass);
        self.velocity.linear.z = 0.0;
        self.velocity.angular = Vector3::z() * self.velocity.angular.z;
        self.breakage = None;
        true
    }

    /// The same body at rest and out of the way.
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

/// A body as it is now.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BodyState<'a> {
    /// Its name.
    pub id: BodyId,
    /// What it is.
    pub body: &'a Body,
    /// Body coordinates to world.
    pub pose: &'a Isometry3<f64>,
    /// Momentum of a dynamic body.
    pub momentum: &'a Momentum,
    /// What it collides with.
    pub shape: &'a Arc<Shape>,
    /// What it is made of.
    pub solid: Option<&'a Solid>,
    /// Whom it may touch.
    pub groups: Groups,
    /// How it breaks.
    pub breakage: Option<&'a Breakage>,
    /// Where it came from, if it broke off something.
    pub lineage: Option<&'a Lineage>,
    /// Whether it is held because it was still.
    pub asleep: bool,
}
