//! Surfaces of bodies, computed on demand.

use std::sync::Arc;

use contact::Shape;

use crate::{BodyId, Lineage, PaintedMesh, Solid, Surface, World};

/// The surface of a track, or the data to compute it on demand: the surfaces of thousands of pieces
/// take more memory than their solids, which exist anyway.
#[derive(Clone, Debug)]
pub enum LazySurface {
    /// Already computed.
    Made(Arc<Surface>),
    /// Not computed yet.
    Of(Arc<SurfaceSource>),
}

/// The arguments of [`Surface::of`].
#[derive(Clone, Debug)]
pub struct SurfaceSource {
    /// Its collision shape.
    pub shape: Arc<Shape>,
    /// Its solid, if it can break.
    pub solid: Option<Solid>,
    /// Its origin, if it is a fragment.
    pub lineage: Option<Arc<Lineage>>,
    /// The source mesh of the whole body.
    pub mesh: Option<Arc<PaintedMesh>>,
}

impl LazySurface {
    /// The surface; the same to the bit each time.
    pub fn surface(&self) -> Arc<Surface> {
        match self {
            Self::Made(surface) => Arc::clone(surface),
            Self::Of(solid) => {
                let SurfaceSource { shape, solid, lineage, mesh } = &**solid;
                let (solid, lineage, mesh) = (solid.as_ref(), lineage.as_deref(), mesh.as_deref());
                Arc::new(Surface::of(shape, solid, lineage, mesh))
            }
        }
    }

    /// An address that is equal for clones, which share a surface, as long as they exist.
    pub fn address(&self) -> usize {
        match self {
            Self::Made(surface) => Arc::as_ptr(surface).addr(),
            Self::Of(solid) => Arc::as_ptr(solid).addr(),
        }
    }
}

impl Default for LazySurface {
    /// An empty surface.
    fn default() -> Self {
        Self::Made(Arc::default())
    }
}

impl From<Surface> for LazySurface {
    fn from(surface: Surface) -> Self {
        Self::Made(Arc::new(surface))
    }
}

impl World {
    /// The surface of a body, computed on demand; `mesh` is the source mesh of its whole body.
    pub(crate) fn lazy_surface(
        &self,
        body: BodyId,
        mesh: Option<Arc<PaintedMesh>>,
    ) -> Option<LazySurface> {
        let i = self.ids.binary_search(&body).ok()?;
        let (shape, lineage) = (Arc::clone(&self.shapes[i]), self.details[i].lineage.clone());
        let solid = self.details[i].solid.clone();
        Some(LazySurface::Of(Arc::new(SurfaceSource { shape, solid, lineage, mesh })))
    }
}
