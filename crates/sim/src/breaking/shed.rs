//! Pieces shed crumbs.

use dynamics::{Body, MassProperties};
use fracture::Pieces;
use levelset::total_order;

use crate::breaking::crumbs::{CrackedPiece, Rim};
use crate::breaking::parent::Parent;
use crate::{BodyId, Crumbs, Events, World};

impl World {
    /// The cracks of pieces; none unless cracks shed crumbs.
    pub(crate) fn rims(&self, parent: &Parent, broken: &Pieces) -> Vec<Rim> {
        if self.settings.debris.crumbs.is_none() {
            return Vec::new();
        }
        Rim::of_pieces(broken, parent.solid.geometry.level_set())
    }

    /// Marks pieces that shed crumbs at the end of the frame.
    pub(crate) fn crack(&mut self, pieces: &[BodyId], rims: Vec<Rim>) {
        let cracked = pieces.iter().zip(rims).map(|(&body, rim)| CrackedPiece { body, rim });
        self.debris.cracked.extend(cracked);
    }

    /// Sheds the crumbs of the cracks of this frame. Pieces that broke again within the frame shed
    /// none.
    pub(crate) fn shed_crumbs(&mut self, events: &mut Events) {
        let mut cracked = std::mem::take(&mut self.debris.cracked);
        let crumbs = self.settings.debris.crumbs.filter(Crumbs::is_usable);
        let Some(crumbs) = crumbs else { return };
        // pieces with fewer crumbs than their share leave the rest to the others
        cracked.sort_by_cached_key(|piece| total_order(piece.rim.area));
        let count = cracked.len();
        let limit = crumbs.max_count.min(Crumbs::MAX_COUNT);
        for (n, CrackedPiece { body, rim }) in cracked.into_iter().enumerate() {
            let Ok(i) = self.ids.binary_search(&body) else { continue };
            let Some((solid, mass)) = self.details[i].solid.as_ref().zip(self.mass_of(i)) else {
                continue;
            };
            if self.debris.dust.contains(&body) {
                continue;
            }
            let most = limit.saturating_sub(self.debris.crumb_count) / (count - n);
            let shed = crumbs.of_piece(body, mass.mass(), solid, &rim, most);
            self.debris.crumb_count += shed.len();
            self.lighten(i, shed.iter().map(|crumb| crumb.mass).sum());
            events.crumbs.extend(shed);
        }
    }

    /// Takes a part of the mass of a body, kg, evenly, at unchanged velocity.
    fn lighten(&mut self, i: usize, part: f64) {
        let Some(mass) = self.mass_of(i).copied() else { return };
        let share = 1.0 - part / mass.mass();
        let Ok(left) = MassProperties::artificial(mass.mass() * share, mass.inertia() * share)
        else {
            return;
        };
        if let Some(anchorage) = &mut self.details[i].anchorage {
            anchorage.mass = left;
        }
        if matches!(self.bodies[i], Body::Dynamic(_)) {
            self.bodies[i] = Body::Dynamic(left);
            self.momenta[i].linear *= share;
            self.momenta[i].angular *= share;
        }
        if matches!(self.acting[i], Body::Dynamic(_)) {
            self.acting[i] = self.bodies[i];
        }
        self.debris.retired_mass += part;
    }
}
