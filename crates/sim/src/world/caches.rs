//! Results of earlier frames and queries.

use std::sync::OnceLock;

use contact::{Broad, Cache, QueryTree};

use crate::breaking::divided::Divided;

/// Results that later frames and queries reuse. Only `contacts` affects the motion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caches {
    /// Contacts and impulses of the last frame, for the warm start.
    pub(crate) contacts: Cache,
    /// Candidate pairs of the last frame.
    pub(crate) broad: Broad,
    pub(crate) divided: Divided,
    /// Built by the first query after a change.
    pub(crate) query_tree: OnceLock<QueryTree>,
}
