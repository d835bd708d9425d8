//! Where a fragment came from, for those who draw it.

use std::sync::Arc;

use contact::Shape;
use fracture::{Alignment, Pattern};

/// The whole body that a fragment once was part of, and the breaks since.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// Solid of the whole body. Fragments keep its material coordinates.
    pub whole: Arc<Shape>,
    /// The breaks that led to the fragment, the first one first.
    pub cuts: Vec<Cut>,
}

/// One break, as seen by one fragment.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The prescored space.
    pub pattern: Arc<Pattern>,
    /// Where it was in the material coordinates of the whole body.
    pub at: Alignment,
    /// The regions of the pattern that the fragment is made of.
    pub regions: Vec<usize>,
}
