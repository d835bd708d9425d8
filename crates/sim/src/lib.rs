//! Rigid bodies at one time step per frame that break where they are hit.
//!
//! A [`World`] holds bodies as columns and [`World::step`] advances them by one frame: the whole
//! algorithm reads on one page in `step.rs`. A [`scene::Scene`] describes a world in a text file,
//! [`build`] makes one of it, and a [`Recorder`] keeps what happens. Nothing here prints or opens
//! files.

// a browser has one thread
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
extern crate serial as rayon;

mod anchor;
mod breakage;
mod build;
mod camera;
mod charts;
mod coat;
mod contact_events;
mod cut;
mod debris;
mod dent;
mod dust;
mod elastic;
mod energy;
mod event;
mod fingerprint;
mod forces;
mod free;
mod hits;
mod interpolation;
mod joint;
mod ku07;
mod lattice;
mod lineage;
mod load_path;
mod look;
mod mesh_warning;
mod model;
mod paint;
mod parent;
mod physics_scene;
mod piece_warning;
mod pieces;
mod query;
mod recording;
mod report;
mod rigid;
pub mod scene;
mod sharing;
mod skin;
mod sleep;
mod solid;
mod state;
mod steering;
mod step;
mod strength;
mod stress;
mod surface;
mod timeline;
mod user_data;
mod warning;
mod world;

// users can name the types of this API without further dependencies
pub use contact;
pub use dynamics;
pub use fracture;
pub use levelset;
pub use nalgebra;
pub use tetfem;

pub use anchor::{Anchor, Region};
pub use breakage::{Bonds, Breakage};
pub use build::{
    BuildError, Cause, MeshData, add_bodies, bond_loads, build, joint, mesh_geometry, pattern,
    sample_mesh, separate,
};
pub use camera::{Camera, Sight};
pub use coat::{Coat, Image, ImageKind, Opacity};
pub use contact::constraint::{JointKind, Motor};
pub use contact::{Combine, Groups};
pub use contact_events::{ContactEvents, Touching};
pub use debris::{Debris, Retire, Retired};
pub use dust::{Dust, Speck, Surroundings};
pub use elastic::ElasticBody;
pub use event::{Event, Happened, Misfit, ModelKind, Push, Trigger};
pub use interpolation::Corner;
pub use joint::{JointError, JointId, JointState, NewJoint};
pub use lattice::LatticeBody;
pub use lineage::{Cut, Lineage, Whole};
pub use load_path::AnchorLoad;
pub use look::{Appearance, Look, SmallPieces, Texture};
pub use mesh_warning::MeshWarning;
pub use model::{
    FixedPattern, FractureModel, LatticeModel, Level, Next, Placement, StressModel, Then,
};
pub use paint::{Paint, PaintedMesh};
pub use physics_scene::{
    Collider, ColliderSolid, PhysicsBody, PhysicsJoint, PhysicsMass, PhysicsMotion, PhysicsScene,
};
pub use piece_warning::PieceWarning;
pub use pieces::{Breaking, BrokenMesh, break_mesh, piece_pattern};
pub use query::{CastHit, Filter, NearestBody};
pub use recording::{Energy, Recorder, Recording, Stretch, Track};
pub use report::{Dent, Dissipation, Fracture, Motion, Report};
pub use rigid::{RigidError, rigid};
pub use skin::{Skin, Undrawn};
pub use solid::Solid;
pub use state::{RecordingState, StateError, WorldState};
pub use steering::SteeringError;
pub use step::Phase;
pub use strength::{Breaker, Strain, Strength};
pub use stress::{Stress, StressField, Tets};
pub use surface::{CoatGroup, Surface};
pub use timeline::{Action, Explosion, Path, Timeline, Wind};
pub use warning::Warning;
pub use world::{BodyId, BodyState, NewBody, Settings, World};

/// The Rust in the README runs as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
