//! Rigid bodies at one time step per frame that break where they are hit.
//!
//! A [`World`] holds bodies as columns and [`World::step`] advances them by one frame: `step.rs`
//! contains the whole algorithm on one page. A [`scene::Scene`] describes a world in a text file,
//! [`build`] builds it, and a [`Recorder`] records a run. Nothing here prints or opens files.

// a browser has one thread
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
extern crate serial as rayon;

mod breaking;
mod build;
mod frame;
mod look;
mod record;
pub mod scene;
mod script;
mod sleep;
mod step;
mod world;

// users can name the types of this API without further dependencies
pub use contact;
pub use dynamics;
pub use fracture;
pub use levelset;
pub use nalgebra;
pub use tetfem;

pub use breaking::anchor::{Anchor, AnchorLoad, Region};
pub use breaking::bonds::Bonds;
pub use breaking::breakage::{Breakage, BreakageError};
pub use breaking::critical_impact::CriticalImpact;
pub use breaking::crumbs::{Crumb, Crumbs};
pub use breaking::debris::{Debris, Retire, RetireAction};
pub use breaking::elastic::{ElasticBody, StressModel};
pub use breaking::lattice::{LatticeBody, LatticeModel};
pub use breaking::lineage::{Cut, Lineage, Whole};
pub use breaking::model::FractureModel;
pub use breaking::prescored::{CenteredPattern, FixedPattern, Level, NextPattern, Placement};
pub use breaking::strength::{ImpactLoad, Strength};
pub use breaking::stress::{Stress, StressField, Tets};
pub use build::error::{BuildError, Cause};
pub use build::mass_warning::MassWarning;
pub use build::mesh_data::MeshData;
pub use build::mesh_warning::MeshWarning;
pub use build::piece_warning::PieceWarning;
pub use build::wall_warning::WallWarning;
pub use build::walls::ThinWalls;
pub use build::{
    add_bodies, bond_capacity, build, joint, mesh_geometry, pattern, sample_mesh, separate,
};
pub use contact::constraint::{JointKind, Motor};
pub use contact::{Combine, Groups};
pub use frame::counters::Counters;
pub use frame::events::{Dent, Events, Fracture, Motion};
pub use frame::ledger::{Dissipation, EnergyLedger};
pub use frame::loads::{BodyStress, Loads};
pub use frame::phase::Phase;
pub use frame::report::Report;
pub use look::coat::{Coat, Image, ImageKind, Opacity, Wrap};
pub use look::lazy_surface::{LazySurface, SurfaceSource};
pub use look::paint::{Paint, PaintedMesh};
pub use look::surface::{CoatGroup, Surface};
pub use look::{Appearance, Look, SmallPieces, Texture};
pub use record::camera::{Camera, CameraKey};
pub use record::dust::surroundings::Surroundings;
pub use record::dust::{Dust, DustAmount, LandedCrumb, ShownSpeck, Speck};
pub use record::physics_scene::{
    Collider, ColliderSolid, PhysicsBody, PhysicsJoint, PhysicsMass, PhysicsMotion, PhysicsScene,
};
pub use record::pieces::{Breaking, BrokenMesh, break_mesh, piece_pattern};
pub use record::recording::{
    Energy, RecordedCrumb, Recorder, Recording, TimedWaypoint, Trace, TraceChunk, Track,
};
pub use record::state::RecordingState;
pub use script::event::{Event, HitOutcome, ModelKind, Push, ReplayMismatch, Trigger};
pub use script::timeline::{Action, Explosion, Path, PathKey, TimedAction, Timeline, Wind};
pub use world::World;
pub use world::body::{BodyError, BodyState, NewBody};
pub use world::id::{BodyId, JointId};
pub use world::joint::{JointError, JointState, NewJoint};
pub use world::query::{CastHit, Filter, NearestBody};
pub use world::rigid::{RigidError, rigid};
pub use world::settings::Settings;
pub use world::solid::Solid;
pub use world::state::{StateError, WorldState};
pub use world::steering::SteeringError;
pub use world::touching::{ContactEvents, TouchingPair};
pub use world::warning::Warning;
pub use world::waypoint::Waypoint;

/// Tests the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
