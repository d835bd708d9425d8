//! Pieces shared by equal bodies: of one solid, divided by one pattern at one place.

use std::sync::Arc;

use crate::FractureModel;
use crate::breaking::divided::{Known, KnownPart, Part};
use crate::breaking::model::Division;
use crate::breaking::parent::Parent;
use crate::{BodyId, Placement, World};

impl World {
    /// Whether a body can share the pieces of another: only if patterns are aligned with the grid,
    /// cracks shed no crumbs, and neither bonds nor anchors affect the pieces.
    pub(crate) fn shares(&self, parent: &Parent) -> bool {
        self.settings.debris.crumbs.is_none()
            && parent.anchorage.is_none()
            && parent.breakage.as_ref().is_some_and(|breakage| {
                let snapped =
                    matches!(breakage.model, FractureModel::Prescored(_, Placement::Snapped));
                snapped && breakage.bonds.is_none()
            })
    }

    /// The pieces of a body, if an equal one was divided the same way before and all of them still
    /// exist.
    pub(crate) fn known_parts(&self, parent: &Parent, division: &Division) -> Option<Vec<Part>> {
        let least = self.min_volume(parent);
        let same = |known: &&Known| {
            std::ptr::eq(known.body.as_ptr(), Arc::as_ptr(&parent.shape))
                && known.mass.to_bits() == parent.mass.mass().to_bits()
                && Arc::ptr_eq(&known.pattern, &division.pattern)
                && known.at == division.at
                && known.least == least
                && known.parts.iter().all(|part| parent.is_of(&part.lineage.whole))
        };
        self.caches.divided.find(same)
    }

    /// Adds the pieces of a body to the cache.
    pub(crate) fn remember_division(
        &mut self,
        parent: &Parent,
        division: &Division,
        pieces: &[BodyId],
    ) {
        let part = |id: &BodyId| {
            let i = self.ids.binary_search(id).ok()?;
            let lineage = self.details[i].lineage.as_ref()?;
            let solid = self.details[i].solid.as_ref()?;
            Some(KnownPart {
                shape: Arc::downgrade(&self.shapes[i]),
                geometry: Arc::downgrade(&solid.geometry),
                material: solid.material,
                mass: *self.mass_of(i)?,
                lineage: Arc::clone(lineage),
            })
        };
        let Some(parts) = pieces.iter().map(part).collect() else { return };
        let known = Known {
            body: Arc::downgrade(&parent.shape),
            mass: parent.mass.mass(),
            pattern: Arc::clone(&division.pattern),
            at: division.at,
            least: self.min_volume(parent),
            parts,
        };
        self.caches.divided.remember(known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breaking::hits::Hit;
    use crate::breaking::response::tests::solid;
    use crate::{Bonds, Breakage, NewBody, Report, Settings, Solid, Strength, Trigger};
    use contact::{Field, Shape};
    use dynamics::{Body, Velocity};
    use fracture::Voronoi;
    use nalgebra::{Isometry3, Point3, Vector3};
    use proptest::prelude::*;

    /// Bricks that share a solid, and a node of it near its surface.
    fn bricks(
        moving: &[(Isometry3<f64>, Velocity)],
        placement: Placement,
        bonds: Option<Bonds>,
    ) -> (World, Vec<BodyId>, Point3<f64>) {
        let (shape, mass, frame, grid) = solid();
        let pattern = Arc::new(fracture::Pattern::voronoi(&Voronoi::new(60, 3)).unwrap());
        let mut world = World::new(Settings::default());
        let add = |(pose, velocity): &(Isometry3<f64>, Velocity)| {
            world
                .add(NewBody {
                    pose: pose * frame,
                    velocity: *velocity,
                    breakage: Some(Breakage {
                        model: FractureModel::Prescored(Arc::clone(&pattern), placement),
                        strength: Strength::Impulse(1.0),
                        generations: 2,
                        min_share: 1e-4,
                        min_size: 0.0,
                        bonds,
                    }),
                    ..NewBody::of(Body::Dynamic(mass), Arc::clone(&shape))
                })
                .unwrap()
        };
        let ids = moving.iter().map(add).collect();
        let node = grid.position([12, 16, 8]);
        (world, ids, frame.inverse_transform_point(&node))
    }

    /// The pieces of a body that is hit; empty if it does not break.
    fn broken(
        world: &mut World,
        body: BodyId,
        at: Point3<f64>,
        normal: Vector3<f64>,
    ) -> Vec<BodyId> {
        let mut report = Report::default();
        let (impulse, reactions) = (normal * 5.0, Vec::new());
        let hit = Hit {
            body,
            at,
            normal,
            impulse,
            strength: 1.0,
            duration: None,
            reactions,
            energy: 0.0,
        };
        world.break_bodies(&[hit], Trigger::Collision(0), &mut report);
        report.events.fractures.pop().map_or(Vec::new(), |fracture| fracture.fragments)
    }

    fn shapes(world: &World, ids: &[BodyId]) -> Vec<Arc<Shape>> {
        ids.iter().map(|id| Arc::clone(world.get(*id).unwrap().shape)).collect()
    }

    fn shared(a: &[Arc<Shape>], b: &[Arc<Shape>]) -> usize {
        a.iter().zip(b).filter(|(a, b)| Arc::ptr_eq(a, b)).count()
    }

    fn moving() -> impl Strategy<Value = (Isometry3<f64>, Velocity)> {
        let vector = |size: f64| [-size..=size, -size..=size, -size..=size].prop_map(Vector3::from);
        (vector(4.0), vector(3.0), vector(10.0), vector(20.0)).prop_map(
            |(at, turn, linear, angular)| (Isometry3::new(at, turn), Velocity { linear, angular }),
        )
    }

    fn unit() -> impl Strategy<Value = Vector3<f64>> {
        [-1.0..=1.0, -1.0..=1.0, 0.1..=1.0_f64].prop_map(|n| Vector3::from(n).normalize())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn bodies_hit_at_one_node_share_pieces_that_are_as_those_of_one_alone(
            first in moving(),
            second in moving(),
            (normal, other) in (unit(), unit()),
            offset in [-0.009..0.009, -0.009..0.009, -0.009..0.009_f64],
        ) {
            let (mut world, ids, at) = bricks(&[first, second], Placement::Snapped, None);
            let one = broken(&mut world, ids[0], at, normal);
            prop_assert!(one.len() > 4);
            let before = (world.mass(), world.momentum(), world.kinetic_energy());
            // the body axes are a permutation of those of its samples, and so is the deviation
            let two = broken(&mut world, ids[1], at + Vector3::from(offset), other);
            prop_assert_eq!(shared(&shapes(&world, &one), &shapes(&world, &two)), one.len());
            prop_assert_eq!(one.len(), two.len());
            let lineage = |id: &BodyId| world.get(*id).unwrap().lineage.unwrap();
            prop_assert!(one.iter().zip(&two).all(|(a, b)| std::ptr::eq(lineage(a), lineage(b))));

            // Su09 section 4.2, for the second of them
            let after = (world.mass(), world.momentum(), world.kinetic_energy());
            prop_assert!((after.0 - before.0).abs() <= 1e-12 * before.0);
            let linear = (after.1.linear - before.1.linear).norm();
            let angular = (after.1.angular - before.1.angular).norm();
            let size = world.mass() * 20.0;
            prop_assert!(linear <= 1e-12 * size && angular <= 1e-11 * size, "{linear} {angular}");
            prop_assert!((after.2 - before.2).abs() <= 1e-12 * before.2);

            // equal to the bit to pieces that are not shared
            let (mut alone, ids, _) = bricks(&[second], Placement::Snapped, None);
            let pieces = broken(&mut alone, ids[0], at, other);
            prop_assert_eq!(pieces.len(), two.len());
            for (a, b) in pieces.iter().zip(&two) {
                let (a, b) = (alone.get(*a).unwrap(), world.get(*b).unwrap());
                prop_assert_eq!((a.body, a.pose, a.momentum), (b.body, b.pose, b.momentum));
                prop_assert_eq!(a.shape.points(), b.shape.points());
                let [Field::Grid { level_set, .. }, Field::Grid { level_set: other, .. }] =
                    [a.shape.field(), b.shape.field()]
                else {
                    panic!("pieces are sampled");
                };
                prop_assert!(level_set == other);
            }
        }
    }

    #[test]
    fn what_differs_or_is_gone_is_not_shared() {
        let still = [(Isometry3::identity(), Velocity::default()); 4];
        let up = Vector3::new(0.0, 0.6, 0.8);
        let (mut world, ids, at) = bricks(&still, Placement::Snapped, None);
        let one = broken(&mut world, ids[0], at, up);
        let held = shapes(&world, &one);
        let solids: Vec<Solid> =
            one.iter().map(|id| world.get(*id).unwrap().solid.unwrap().clone()).collect();
        let beside = broken(&mut world, ids[1], at + Vector3::repeat(0.02), up);
        assert!(beside.len() > 4);
        assert_eq!(shared(&held, &shapes(&world, &beside)), 0);
        // a piece that still has another owner exists
        world.remove(one[2]);
        let again = broken(&mut world, ids[2], at, up);
        assert_eq!(shared(&held, &shapes(&world, &again)), one.len());
        for id in again.iter().chain(&one) {
            world.remove(*id);
        }
        drop((held, solids));
        let fresh = broken(&mut world, ids[3], at, up);
        assert_eq!(fresh.len(), one.len());
        assert!(shapes(&world, &fresh).iter().all(|shape| Arc::strong_count(shape) == 2));

        let weak = Some(Bonds { strength: 1.0, duration: 0.001 });
        for (placement, bonds) in [(Placement::Turned, None), (Placement::Snapped, weak)] {
            let (mut world, ids, at) = bricks(&still[..2], placement, bonds);
            let [one, two] = [0, 1].map(|n| broken(&mut world, ids[n], at, up));
            assert_eq!((one.len() > 4, one.len()), (true, two.len()));
            assert_eq!(shared(&shapes(&world, &one), &shapes(&world, &two)), 0);
        }
    }
}
