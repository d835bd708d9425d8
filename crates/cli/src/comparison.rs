//! Comparison of fracture models: the same bodies under the same impacts.

mod measure;
mod model;
mod page;
mod plots;
mod power_law;
mod report;

pub use measure::{BuiltScene, Energies, FirstImpact, Measured, Outcome, measure};
pub use model::{Fineness, Model, UnknownModel, with_model};
pub use page::page;
pub use plots::{convergence, sizes};
pub use power_law::PowerLaw;
pub use report::{ModelResult, REPORT_SCHEMA, Report, Run};
