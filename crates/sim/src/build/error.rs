//! Why a scene cannot be built.

use contact::TetSolidError;
use dynamics::MassError;
use fracture::{LatticeError, PatternError};
use levelset::{GridError, MeshError, TetError};
use thiserror::Error;

use super::walls::ThinWalls;
use crate::scene::InvalidValue;
use crate::{BodyError, JointError, RigidError, SteeringError};

/// Why a scene cannot be built.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{part}: {cause}")]
#[non_exhaustive]
pub struct BuildError {
    /// The invalid body, joint or pattern, as `body \"bunny\"`.
    pub part: String,
    /// The error.
    pub cause: Cause,
}

/// An error in a part of a scene.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// Its mesh file is missing.
    #[error("the mesh file {file:?} was not read, or not as {kind}")]
    NoMesh {
        /// Name of the file as in the scene.
        file: String,
        /// The kind of file that the scene expects.
        kind: &'static str,
    },
    /// Its surface properties or its breakage are invalid.
    #[error(transparent)]
    Body(Box<BodyError>),
    /// Its tetrahedra are invalid.
    #[error(transparent)]
    Tets(#[from] TetError),
    /// Its tetrahedra do not form a lattice.
    #[error(transparent)]
    Lattice(Box<LatticeError>),
    /// Its tetrahedra cannot collide.
    #[error(transparent)]
    Collision(#[from] TetSolidError),
    /// Its tetrahedra are disconnected.
    #[error("the tetrahedra are {0} pieces that share no faces: make a body of each")]
    Disconnected(usize),
    /// Its mesh bounds no solid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Its mesh is open and bounds no solid.
    #[error(
        "its mesh is open ({}) and bounds no volume: close it",
        if *edges == 1 { "1 open edge".to_owned() } else { format!("{edges} open edges") }
    )]
    Open {
        /// Number of edges with only one triangle.
        edges: usize,
    },
    /// Its grid cannot be created.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// It has no mass.
    #[error(transparent)]
    Rigid(#[from] RigidError),
    /// The walls are too thin for the samples, so that no volume is left.
    #[error("walls are {0}")]
    Walls(ThinWalls),
    /// The region of an anchor contains no material of the body, or no contact with the supporting
    /// body.
    #[error(
        "no part of it is in the region of an anchor, or touches the supporting body of the anchor \
         in the region: move or enlarge the region"
    )]
    NotAnchored,
    /// Its pattern file is missing.
    #[error("the pattern file {file:?} was not read")]
    NoPattern {
        /// Name of the file as in the scene.
        file: String,
    },
    /// Its image of strength is missing.
    #[error("the picture {file:?} was not read")]
    NoPicture {
        /// Name of the file as in the scene.
        file: String,
    },
    /// Its pattern's parameters are out of range.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A value of the scene contradicts its files.
    #[error(transparent)]
    Scene(Box<InvalidValue>),
    /// The keyframes of a body are not a valid path.
    #[error(transparent)]
    Path(Box<SteeringError>),
    /// Its bodies cannot be joined this way.
    #[error(transparent)]
    Joint(#[from] JointError),
}

impl From<LatticeError> for Cause {
    fn from(error: LatticeError) -> Self {
        Self::Lattice(error.into())
    }
}

impl From<BodyError> for Cause {
    fn from(error: BodyError) -> Self {
        Self::Body(error.into())
    }
}

impl From<SteeringError> for Cause {
    fn from(error: SteeringError) -> Self {
        Self::Path(error.into())
    }
}

impl From<MassError> for Cause {
    fn from(error: MassError) -> Self {
        Self::Rigid(error.into())
    }
}
