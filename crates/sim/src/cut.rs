//! Cutting bodies by hand.

use std::sync::Arc;

use contact::Field;
use fracture::{Alignment, Pattern};
use levelset::LevelSet;
use nalgebra::{Isometry3, Point3, Unit, UnitVector3, Vector3};

use crate::breakage::Clusters;
use crate::model::Division;
use crate::{BodyId, Fracture, World};

/// Places looked at along each side of what an edge sweeps over.
const MOST_PLACES: f64 = 400.0;

impl World {
    /// Cuts what a straight edge passes through on its way, as a sword does: every dynamic sampled
    /// body that the swept surface reaches into is cut by the plane of the sweep, and the parts
    /// move on as the body did. Mass, momentum and energy stay what they were.
    ///
    /// `from` and `to` are the ends of the edge before and after, m. Does nothing if they span no
    /// plane. Parts may be cut and broken again as the body could.
    pub fn cut(&mut self, from: [Point3<f64>; 2], to: [Point3<f64>; 2]) -> Vec<Fracture> {
        let edge = from[1] - from[0];
        let way = nalgebra::center(&to[0], &to[1]) - nalgebra::center(&from[0], &from[1]);
        let Some(normal) = Unit::try_new(edge.cross(&way), 0.0) else { return Vec::new() };
        // a plane has one pattern, whatever it cuts
        let sites = [Point3::new(0.0, -0.5, 0.0), Point3::new(0.0, 0.5, 0.0)];
        let Ok(pattern) = Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)) else {
            return Vec::new();
        };
        let pattern = Arc::new(pattern);
        let ids: Vec<BodyId> = self.iter().map(|state| state.id).collect();
        let cut = |id| self.cut_body(id, (from, to), &normal, &pattern);
        ids.into_iter().filter_map(cut).collect()
    }

    fn cut_body(
        &mut self,
        id: BodyId,
        sweep: ([Point3<f64>; 2], [Point3<f64>; 2]),
        normal: &UnitVector3<f64>,
        pattern: &Arc<Pattern>,
    ) -> Option<Fracture> {
        let parent = self.parent(id)?;
        let Field::Grid { level_set, material } = parent.shape.field() else { return None };
        let to_material = material * parent.pose.inverse();
        let at = reached(level_set, &to_material, sweep)?;
        let turned = Unit::new_unchecked(to_material * normal.into_inner());
        let bounds = level_set.grid().bounds();
        let alignment = Alignment::enclosing(&bounds, at, turned);
        let division = Division { pattern: Arc::clone(pattern), at: alignment, tets: Vec::new() };
        let shattered = self.divided(&parent, &division)?;
        if !self.fits(&shattered) {
            return None;
        }
        let Clusters { shattered, is_held, .. } = self.clusters(&parent, shattered, None);
        // parts are cut, not broken: they are as strong as the body was
        let is_joined = vec![true; shattered.fragments.len()];
        let clusters = Clusters { shattered, is_joined, is_held };
        let point = to_material.inverse() * at;
        self.replace(&parent, clusters, &division, (point, Vector3::zeros()))
    }
}

/// A place of the swept surface inside a body, in its material space: the one deepest inside.
fn reached(
    level_set: &LevelSet,
    to_material: &Isometry3<f64>,
    (from, to): ([Point3<f64>; 2], [Point3<f64>; 2]),
) -> Option<Point3<f64>> {
    let [from, to] = [from, to].map(|ends| ends.map(|p| to_material * p));
    let bounds = level_set.grid().bounds();
    let spacing = level_set.grid().spacing();
    let count = |length: f64| (length / spacing).ceil().clamp(1.0, MOST_PLACES);
    let along = count((from[1] - from[0]).norm().max((to[1] - to[0]).norm()));
    let across = count((to[0] - from[0]).norm().max((to[1] - from[1]).norm()));
    let mut deepest = (0.0, None);
    for i in 0..=along as usize {
        let share = i as f64 / along;
        let ends = [from, to].map(|[a, b]| a + (b - a) * share);
        for j in 0..=across as usize {
            let p = ends[0] + (ends[1] - ends[0]) * (j as f64 / across);
            if bounds.clamp(&p) == p && level_set.value(&p) < deepest.0 {
                deepest = (level_set.value(&p), Some(p));
            }
        }
    }
    deepest.1
}
