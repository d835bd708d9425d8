//! Cutting bodies by hand.

use std::sync::Arc;

use fracture::{Alignment, Pattern};
use levelset::LevelSet;
use nalgebra::{Isometry3, Point3, Unit, UnitVector3, Vector3};

use crate::breakage::{Clusters, Outcome, sizes};
use crate::event::{Event, Trigger};
use crate::hits::Hit;
use crate::model::Division;
use crate::{BodyId, Fracture, Report, Solid, World};

/// Places looked at along each side of what an edge sweeps over.
const MAX_PLACES: f64 = 400.0;

impl World {
    /// Cuts what a straight edge passes through on its way, as a sword does: every dynamic sampled
    /// body that the swept surface reaches into is cut by the plane of the sweep, and the parts
    /// move on as the body did. Mass, momentum and energy stay what they were.
    ///
    /// `from` and `to` are the ends of the edge before and after, m. Does nothing if they span no
    /// plane. Parts may be cut and broken again as the body could.
    pub fn cut(&mut self, from: [Point3<f64>; 2], to: [Point3<f64>; 2]) -> Vec<Fracture> {
        let mut report = Report::default();
        self.cut_all(from, to, &mut report);
        self.pass_user_data_on(&report);
        report.fractures
    }

    /// [`World::cut`] that reports all that it does.
    pub(crate) fn cut_all(
        &mut self,
        from: [Point3<f64>; 2],
        to: [Point3<f64>; 2],
        report: &mut Report,
    ) {
        let edge = from[1] - from[0];
        let way = nalgebra::center(&to[0], &to[1]) - nalgebra::center(&from[0], &from[1]);
        let Some(normal) = Unit::try_new(edge.cross(&way), 0.0) else { return };
        let ids: Vec<BodyId> = self.iter().map(|state| state.id).collect();
        let mut any = false;
        for body in ids {
            let Some((at, normal)) = self.reached(body, (from, to), &normal) else { continue };
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
            self.tell(Event { outcome: outcome.happened(), ..event }, report);
            self.settle_outcome(body, outcome, report);
            any = true;
        }
        if any {
            self.release_overloaded(report);
        }
    }

    /// Where a swept surface cuts a body and across which plane, in its material space.
    fn reached(
        &self,
        id: BodyId,
        sweep: ([Point3<f64>; 2], [Point3<f64>; 2]),
        normal: &UnitVector3<f64>,
    ) -> Option<(Point3<f64>, UnitVector3<f64>)> {
        let i = self.ids.binary_search(&id).ok()?;
        let Solid { geometry, material } = self.solids[i].as_ref()?;
        self.mass_of(i)?;
        let to_material = material * self.poses[i].inverse();
        let at = deepest(geometry.level_set(), &to_material, sweep)?;
        Some((at, Unit::new_unchecked(to_material * normal.into_inner())))
    }

    /// Cuts a body at a plane through a place, both in its material space.
    pub(crate) fn cut_at(
        &mut self,
        id: BodyId,
        at: &Point3<f64>,
        normal: &UnitVector3<f64>,
    ) -> Option<Box<Fracture>> {
        let parent = self.parent(id)?;
        let Solid { geometry, material } = &parent.solid;
        // a plane has one pattern, whatever it cuts
        let sites = [Point3::new(0.0, -0.5, 0.0), Point3::new(0.0, 0.5, 0.0)];
        let pattern = Arc::new(Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).ok()?);
        let bounds = geometry.bounds();
        let alignment = Alignment::enclosing(&bounds, *at, *normal);
        let division = Division::new(pattern, alignment);
        let broken = self.divided(&parent, &division)?;
        if !self.fits(sizes(&broken)) {
            return None;
        }
        let Clusters { broken, is_held, .. } = self.clusters(&parent, broken, None);
        // parts are cut, not broken: they are as strong as the body was
        let is_joined = vec![true; broken.pieces.len()];
        let clusters = Clusters { broken, is_joined, is_held };
        let point = parent.pose * (material.inverse() * at);
        let fracture = self.replace(&parent, clusters, &division, (point, Vector3::zeros()));
        fracture.map(Box::new)
    }
}

/// A place of the swept surface inside a body, in its material space: the one deepest inside.
fn deepest(
    level_set: &LevelSet,
    to_material: &Isometry3<f64>,
    (from, to): ([Point3<f64>; 2], [Point3<f64>; 2]),
) -> Option<Point3<f64>> {
    let [from, to] = [from, to].map(|ends| ends.map(|p| to_material * p));
    let bounds = level_set.grid().bounds();
    let spacing = level_set.grid().spacing();
    let count = |length: f64| (length / spacing).ceil().clamp(1.0, MAX_PLACES);
    let along = count((from[1] - from[0]).norm().max((to[1] - to[0]).norm()));
    let across = count((to[0] - from[0]).norm().max((to[1] - from[1]).norm()));
    let mut found = (0.0, None);
    for i in 0..=along as usize {
        let share = i as f64 / along;
        let ends = [from, to].map(|[a, b]| a + (b - a) * share);
        for j in 0..=across as usize {
            let p = ends[0] + (ends[1] - ends[0]) * (j as f64 / across);
            if bounds.clamp(&p) == p && level_set.value(&p) < found.0 {
                found = (level_set.value(&p), Some(p));
            }
        }
    }
    found.1
}
