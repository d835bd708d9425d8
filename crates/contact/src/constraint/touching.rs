//! The rows of contacts: one along the normal, two of friction.

use nalgebra::Vector3;

use super::row::{Bounds, Row};
use crate::narrow::contacts::{Contact, Manifold};
use crate::settings::FrictionBounds;
use crate::{Columns, Contacts};

/// Rows of a contact.
pub(crate) const PER_CONTACT: usize = 3;

/// Target speed along the normal, friction coefficient and bound of a contact.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) target: f64,
    pub(super) friction: f64,
    pub(super) form: FrictionBounds,
}

/// Three rows per contact, in the order of [`Contacts::all`].
pub(super) fn contact_rows(
    contacts: &Contacts,
    rule: impl Fn(&Manifold, &Contact) -> Rule,
) -> Vec<Row> {
    let mut rows = Vec::with_capacity(PER_CONTACT * contacts.len());
    for pair in contacts.manifolds() {
        for contact in contacts.of(pair) {
            let along = |direction| Row::along([pair.a, pair.b], direction, contact.arms);
            let Rule { target, friction: coefficient, form } = rule(pair, contact);
            let normal = rows.len() as u32;
            rows.push(Row { target, bounds: Bounds::PUSH, ..along(contact.normal) });
            let bounds = match form {
                FrictionBounds::Box => [Bounds::Box { normal, coefficient }; 2],
                FrictionBounds::Cone => [Bounds::Cone { normal, coefficient }, Bounds::Cone2],
            };
            for (tangent, bounds) in tangents(&contact.normal).into_iter().zip(bounds) {
                rows.push(Row { bounds, ..along(tangent) });
            }
        }
    }
    rows
}

/// Two tangents of a unit normal, continuous in it except where z changes sign (Duff et al. 2017).
pub(crate) fn tangents(n: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let sign = if n.z < 0.0 { -1.0 } else { 1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    [
        Vector3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
        Vector3::new(b, sign + n.y * n.y * a, -n.y),
    ]
}

/// The impulse on `a` of each contact, N s.
pub(super) fn vectors(rows: &[Row], impulses: &[f64]) -> Vec<Vector3<f64>> {
    let own = rows.chunks(PER_CONTACT).zip(impulses.chunks(PER_CONTACT));
    own.map(|(rows, own)| rows.iter().zip(own).map(|(row, j)| row.linear * *j).sum()).collect()
}

/// The friction coefficient of a pair.
pub(super) fn friction(columns: Columns<'_>, pair: &Manifold, combine: crate::Combine) -> f64 {
    let [p, q] = [pair.a, pair.b].map(|i| &columns.materials[i as usize]);
    p.friction_with(q, combine)
}
