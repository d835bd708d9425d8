//! The grab tool: a kinematic body without a surface, joined to the grabbed body.

use contact::Shape;
use contact::constraint::JointKind;
use dynamics::{Body, Velocity};
use nalgebra::{Isometry3, Point3, Vector3};
use sim::{BodyId, JointId, NewBody, NewJoint, Report, World};

/// Time constant of the approach to the target, s: the hand aims at the speed distance /
/// `APPROACH_TIME`.
const APPROACH_TIME: f64 = 0.2;
/// Maximum speed of the hand, m/s.
const MAX_SPEED: f64 = 8.0;
/// Maximum acceleration of the hand, m/s^2; bounds the force on the grabbed body.
const MAX_ACCELERATION: f64 = 40.0;

/// A hand that holds a body.
#[derive(Debug)]
pub(crate) struct Hand {
    body: BodyId,
    joint: JointId,
    target: Point3<f64>,
    velocity: Vector3<f64>,
}

impl Hand {
    /// Grabs the body `held` at the point `at`, m. The joint breaks above `force`, N. `None` if the
    /// joint cannot be created.
    pub(crate) fn new(
        world: &mut World,
        held: BodyId,
        at: Point3<f64>,
        force: f64,
    ) -> Option<Self> {
        let hand = NewBody {
            pose: Isometry3::translation(at.x, at.y, at.z),
            ..NewBody::of(Body::Kinematic(Velocity::default()), Shape::empty())
        };
        let body = world.add(hand).ok()?;
        let joint = world.add_joint(NewJoint {
            kind: JointKind::Point,
            bodies: [body, held],
            anchors: [at; 2],
            axis: Vector3::x(),
            limits: None,
            motor: None,
            break_force: force,
            break_torque: f64::INFINITY,
            collides: false,
        });
        match joint {
            Ok(joint) => Some(Self { body, joint, target: at, velocity: Vector3::zeros() }),
            Err(_) => {
                world.remove(body);
                None
            }
        }
    }

    /// Sets the target, m.
    pub(crate) fn drag(&mut self, target: Point3<f64>) {
        self.target = target;
    }

    /// Moves the hand towards its target in the next frame.
    pub(crate) fn advance(&mut self, world: &mut World) {
        let dt = world.settings().dt;
        let Some(at) = world.get(self.body).map(|state| state.pose.translation.vector) else {
            return;
        };
        let wanted = ((self.target.coords - at) / APPROACH_TIME).cap_magnitude(MAX_SPEED);
        self.velocity += (wanted - self.velocity).cap_magnitude(MAX_ACCELERATION * dt);
        let pose = Isometry3::translation(
            at.x + self.velocity.x * dt,
            at.y + self.velocity.y * dt,
            at.z + self.velocity.z * dt,
        );
        // cannot fail: coordinates of commands are finite and bounded
        let _ = world.move_kinematic(self.body, &pose);
    }

    /// Whether the joint of the hand broke in a frame.
    pub(crate) fn slipped(&self, report: &Report) -> bool {
        report.events.broken_joints.contains(&self.joint)
    }

    /// Releases the grabbed body.
    pub(crate) fn release(self, world: &mut World) {
        world.remove_joint(self.joint);
        world.remove(self.body);
    }

    /// The kinematic body of the hand, which is not part of the scene.
    pub(crate) fn body(&self) -> BodyId {
        self.body
    }
}
