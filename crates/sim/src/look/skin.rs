//! Surfaces of bodies, made when they are drawn.

use std::sync::Arc;

use contact::Shape;

use crate::{BodyId, Lineage, PaintedMesh, Solid, Surface, World};

/// The surface of a track, or the data to make it on demand: the surfaces of thousands of pieces take more memory
/// than their solids, which exist anyway.
#[derive(Clone, Debug)]
pub enum Skin {
    /// As it is.
    Made(Arc<Surface>),
    /// Not made yet.
    Of(Arc<Undrawn>),
}

/// The arguments of [`Surface::of`].
#[derive(Clone, Debug)]
pub struct Undrawn {
    /// Its collision shape.
    pub shape: Arc<Shape>,
    /// Its solid, if it can break.
    pub solid: Option<Solid>,
    /// Where it came from, if it is a fragment.
    pub lineage: Option<Arc<Lineage>>,
    /// The mesh that the whole body was made from.
    pub mesh: Option<Arc<PaintedMesh>>,
}

impl Skin {
    /// The surface; the same to the bit each time.
    pub fn surface(&self) -> Arc<Surface> {
        match self {
            Self::Made(surface) => Arc::clone(surface),
            Self::Of(solid) => {
                let Undrawn { shape, solid, lineage, mesh } = &**solid;
                let (solid, lineage, mesh) = (solid.as_ref(), lineage.as_deref(), mesh.as_deref());
                Arc::new(Surface::of(shape, solid, lineage, mesh))
            }
        }
    }

    /// A number that is equal for skins that share a surface, as long as they exist.
    pub fn address(&self) -> usize {
        match self {
            Self::Made(surface) => Arc::as_ptr(surface).addr(),
            Self::Of(solid) => Arc::as_ptr(solid).addr(),
        }
    }
}

impl Default for Skin {
    /// Nothing.
    fn default() -> Self {
        Self::Made(Arc::default())
    }
}

impl From<Surface> for Skin {
    fn from(surface: Surface) -> Self {
        Self::Made(Arc::new(surface))
    }
}

impl World {
    /// The skin of a body; `mesh` is the mesh that its whole was made from.
    pub(crate) fn skin(&self, body: BodyId, mesh: Option<Arc<PaintedMesh>>) -> Option<Skin> {
        let i = self.ids.binary_search(&body).ok()?;
        let (shape, lineage) = (Arc::clone(&self.shapes[i]), self.lineages[i].clone());
        let solid = self.solids[i].clone();
        Some(Skin::Of(Arc::new(Undrawn { shape, solid, lineage, mesh })))
    }
}
