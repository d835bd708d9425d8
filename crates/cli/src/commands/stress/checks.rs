//! Checks of loads and supports: positions far from the body, and loads that cause no deformation.

use std::io::Write;

use fracture::nearest_on_triangle;
use levelset::{Aabb, TetMesh};
use nalgebra::Point3;
use thiserror::Error;

use crate::loads_file::LoadCase;
use crate::wording::{number, place};

/// Why loads and supports do not fit a body.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StressError {
    /// A force is farther from the body than the body is large.
    #[error(
        "the load at {} is {} m from the surface, and the body is {} m large, from {} to {}: give a \
         point on it",
        place(at), number(*distance), number(bounds.extents().norm()), place(&bounds.min),
        place(&bounds.max)
    )]
    FarOff {
        /// Point of the force.
        at: Point3<f64>,
        /// Distance from the surface, m.
        distance: f64,
        /// Bounding box of the body.
        bounds: Box<Aabb>,
    },
    /// All vertices are fixed.
    #[error("{option} fixes all vertices, so that nothing can deform: {suggestion}")]
    FixesAll {
        /// The option or the file of the supports.
        option: String,
        /// The suggested fix.
        suggestion: String,
    },
}

/// Share of the size of a body within which a point counts as on its surface.
const ON_SURFACE: f64 = 1e-3;

/// Checks loads; returns notes and warnings.
///
/// # Errors
/// [`StressError::FarOff`].
pub(super) fn check_loads(
    mesh: &TetMesh,
    load_case: &LoadCase,
) -> Result<Vec<String>, StressError> {
    let mut notes = Vec::new();
    let surface = mesh.boundary();
    let Some(bounds) = Aabb::around(&mesh.vertices) else { return Ok(notes) };
    let size = bounds.extents().norm();
    for (contact, _) in &load_case.contacts {
        let at = contact.place;
        let points =
            (0..surface.triangles.len()).map(|t| nearest_on_triangle(&at, &surface.corners(t)));
        let nearest = points.min_by(|a, b| (a - at).norm().total_cmp(&(b - at).norm()));
        let Some(nearest) = nearest else { continue };
        let distance = (nearest - at).norm();
        if distance > size {
            return Err(StressError::FarOff { at, distance, bounds: Box::new(bounds) });
        }
        if distance > ON_SURFACE * size {
            let (from, to, by) = (place(&at), place(&nearest), number(distance));
            notes.push(format!(
                "note: the load at {from} is moved by {by} m to the surface, to {to}"
            ));
        }
    }
    let is_free = !load_case.supports.contains(&true);
    let is_pressed = load_case.pressures.iter().any(|&pressure| pressure != 0.0);
    let is_pushed = load_case.contacts.iter().any(|(contact, _)| contact.force.norm() > 0.0);
    if !is_pressed && !is_pushed {
        if load_case.body_force.norm() == 0.0 {
            notes
                .push("warning: all loads are 0, so that the stress is 0: give a force".to_owned());
        } else if is_free {
            notes.push(
                "warning: without supports a body force moves the body and makes no stress: fix a part \
                 of it by --fix, or by `support` in --loads"
                    .to_owned(),
            );
        }
    }
    Ok(notes)
}

/// Checks that supports leave some vertex free. `option` names the source of the supports; `suggestion`
/// suggests a fix.
///
/// # Errors
/// [`StressError::FixesAll`].
pub(super) fn check_supports(
    supports: &[bool],
    option: &str,
    suggestion: impl FnOnce() -> String,
) -> Result<(), StressError> {
    if supports.iter().all(|&fixed| fixed) && !supports.is_empty() {
        return Err(StressError::FixesAll { option: option.to_owned(), suggestion: suggestion() });
    }
    Ok(())
}

/// The warning about a body that loads do not deform, if it has supports: all loads act on fixed
/// vertices. Loads that [`check_loads`] warns about must be excluded first.
pub(super) fn no_deformation_warning(load_case: &LoadCase) -> Option<&'static str> {
    load_case.supports.contains(&true).then_some(
        "warning: nothing deforms: all loads are on fixed vertices. Fix fewer, or give a larger \
         --collision-radius",
    )
}

/// Prints notes and warnings.
pub(super) fn print(notes: &[String]) {
    for line in notes {
        // stderr may be closed
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}
