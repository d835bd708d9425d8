//! Cutting bodies along a swept edge.

use std::borrow::Cow;
use std::sync::Arc;

use fracture::{Alignment, Pattern};
use levelset::Aabb;
use nalgebra::{Point3, Unit, UnitVector3, Vector3};

use crate::breaking::hits::Hit;
use crate::breaking::model::Division;
use crate::breaking::outcome::Outcome;
use crate::breaking::pieces::{Clusters, PointImpact, sizes};
use crate::script::event::{Event, Trigger};
use crate::{BodyId, Events, Fracture, Solid, World};

/// Smallest share of the volume of a body that a cut separates.
const SLIVER: f64 = 1e-6;

impl World {
    /// Cuts bodies with a moving straight edge, such as a sword: the plane of the sweep cuts every
    /// dynamic body that the swept surface reaches into, breakable or not. The parts keep the
    /// motion of the body. Mass, momentum and energy are conserved.
    ///
    /// Primitives, convex solids and closed meshes are split as meshes and their holes capped (Br11
    /// section 3): parts are exact, however thin, and convex parts collide as hulls. Other solids
    /// are cut as samples.
    ///
    /// `from` and `to` are the ends of the edge before and after, m. Without effect if they span no
    /// plane. Parts may be cut again, and break like the body. A body stays whole if there is no
    /// room for its parts, or if a part is below the least size of pieces or debris, or below a
    /// millionth of its volume.
    /// A joint stays with the part at its anchor. If there is none, the next frame breaks it.
    pub fn cut(&mut self, from: [Point3<f64>; 2], to: [Point3<f64>; 2]) -> Vec<Fracture> {
        let mut events = Events::default();
        self.place_joints();
        self.cut_all(from, to, &mut events);
        self.transfer_joints(&events);
        self.pass_user_data_on(&events);
        events.fractures
    }

    /// [`World::cut`] with all its events.
    pub(crate) fn cut_all(
        &mut self,
        from: [Point3<f64>; 2],
        to: [Point3<f64>; 2],
        events: &mut Events,
    ) -> bool {
        let edge = from[1] - from[0];
        let way = nalgebra::center(&to[0], &to[1]) - nalgebra::center(&from[0], &from[1]);
        let Some(normal) = Unit::try_new(edge.cross(&way), 0.0) else { return false };
        let ids: Vec<BodyId> = self.iter().map(|state| state.id).collect();
        let mut any = false;
        for body in ids {
            let Some((at, normal)) = self.reached(body, [from, to], &normal) else { continue };
            let (normal, impulse) = (normal.into_inner(), Vector3::zeros());
            let (strength, reactions) = (f64::INFINITY, Vec::new());
            let hit = Hit {
                body,
                at,
                normal,
                impulse,
                strength,
                duration: None,
                reactions,
                energy: f64::INFINITY,
            };
            let Some(event) = self.event(&hit, Trigger::Cut) else { continue };
            let Some(fracture) = self.cut_at(body, &at, &Unit::new_unchecked(normal)) else {
                continue;
            };
            let outcome = Outcome::Broke(fracture);
            self.report_event(Event { outcome: outcome.hit_outcome(), ..event }, events);
            self.settle_outcome(body, outcome, events);
            any = true;
        }
        if any {
            self.release_overloaded(events);
        }
        any
    }

    /// The point and plane at which a swept surface cuts a body, in its material space.
    fn reached(
        &self,
        id: BodyId,
        sweep: [[Point3<f64>; 2]; 2],
        normal: &UnitVector3<f64>,
    ) -> Option<(Point3<f64>, UnitVector3<f64>)> {
        let i = self.ids.binary_search(&id).ok()?;
        self.mass_of(i)?;
        // most bodies are far from the blade
        let center = Point3::from(self.poses[i].translation.vector);
        let near = Aabb::around(sweep.as_flattened())?.clamp(&center);
        if (near - center).norm() > self.shapes[i].radius() {
            return None;
        }
        let Solid { geometry, material } = &*self.solid(i)?;
        let to_material = material * self.poses[i].inverse();
        let [from, to] = sweep.map(|ends| ends.map(|p| to_material * p));
        let at = geometry.swept(from, to)?;
        Some((at, Unit::new_unchecked(to_material * normal.into_inner())))
    }

    /// Cuts a body by a plane through a point, both in its material space.
    pub(crate) fn cut_at(
        &mut self,
        id: BodyId,
        at: &Point3<f64>,
        normal: &UnitVector3<f64>,
    ) -> Option<Box<Fracture>> {
        let i = self.ids.binary_search(&id).ok()?;
        if self.details[i].solid.is_none() {
            self.details[i].solid = self.solid(i).map(Cow::into_owned);
        }
        let parent = self.parent(id)?;
        let Solid { geometry, material } = &parent.solid;
        // a plane is the same pattern in every body
        let sites = [Point3::new(0.0, -0.5, 0.0), Point3::new(0.0, 0.5, 0.0)];
        let pattern = Arc::new(Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).ok()?);
        let bounds = geometry.bounds();
        let alignment = Alignment::enclosing(&bounds, *at, *normal);
        let division = Division::new(pattern, alignment);
        let least = self.min_size(&parent).powi(3).max(SLIVER * geometry.moments().volume);
        let broken = geometry.divide(&division.pattern, &division.at, least);
        if broken.pieces.len() < 2 || !self.fits(sizes(&broken)) {
            return None;
        }
        let Clusters { broken, is_held, .. } = self.clusters(&parent, broken, None);
        // parts are cut, not broken: they keep the strength of the body
        let is_joined = vec![true; broken.pieces.len()];
        let clusters = Clusters { broken, is_joined, is_held };
        let point = parent.pose * (material.inverse() * at);
        let impact = PointImpact { point, impulse: Vector3::zeros() };
        let fracture = self.replace(&parent, clusters, &division, impact);
        fracture.map(Box::new)
    }
}
