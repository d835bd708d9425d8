//! Queries at the current poses of bodies: ray casts, shape casts, overlaps, the nearest body.
//!
//! The first query after a step or another change builds a tree of the boxes of all bodies, in time
//! n log n for n bodies. Later queries take log n, unless many boxes overlap.

use contact::{Bodies, Groups, QueryTree, Ray, Shape, ShapeHit, Sweep};
use dynamics::Momentum;
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};

use crate::world::limits::is_usable;
use crate::world::steering::check;
use crate::{BodyId, World};

/// Filter of the bodies of a query; all by default.
#[derive(Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Bodies that may touch a body of these groups, by [`Groups::meet`].
    pub groups: Groups,
    /// If given, only the bodies for which this function returns true.
    pub wanted: Option<&'a dyn Fn(BodyId) -> bool>,
}

impl<'a> Filter<'a> {
    /// All bodies for which `wanted` returns true.
    pub fn only(wanted: &'a dyn Fn(BodyId) -> bool) -> Self {
        Self { wanted: Some(wanted), ..Self::default() }
    }

    /// All bodies that collide with these groups.
    pub fn groups(groups: Groups) -> Self {
        Self { groups, ..Self::default() }
    }
}

impl std::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter").field("groups", &self.groups).finish_non_exhaustive()
    }
}

/// The first hit of a ray or a moving solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CastHit {
    /// The body.
    pub body: BodyId,
    /// Distance travelled, m; zero for a hit at the start.
    pub distance: f64,
    /// Hit point on its surface, in the world, m.
    pub point: Point3<f64>,
    /// Unit normal of the surface at the point, out of the body.
    pub normal: Vector3<f64>,
}

/// The body nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestBody {
    /// The body.
    pub body: BodyId,
    /// Signed distance of its surface, m; negative if the point is inside.
    pub distance: f64,
    /// The nearest point of its surface, in the world, m.
    pub point: Point3<f64>,
    /// Unit normal of the surface at the point, out of the body.
    pub normal: Vector3<f64>,
}

impl World {
    /// The first hit of a ray from a point along a unit vector within `max_distance` m, which may
    /// be infinite. A ray that starts in a body, or on its surface, hits it there: exclude it by
    /// the filter. Triangle meshes are hit from both sides. `None` also if a number is not finite.
    ///
    /// Exact up to round-off. Hits of sampled bodies have the accuracy of their samples; the ray
    /// may miss parts thinner than a quarter of their spacing.
    ///
    /// ```
    /// use brisance_sim::contact::Shape;
    /// use brisance_sim::nalgebra::{Isometry3, Point3, Vector3};
    /// use brisance_sim::{Filter, NewBody, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let wall = NewBody::fixed(Shape::cuboid(Vector3::new(0.1, 2.0, 2.0), 0.1));
    /// let wall = world.add(wall.at(&Isometry3::translation(3.0, 0.0, 0.0)))?;
    /// let eye = Point3::origin();
    /// let hit = world.cast_ray(&eye, &Vector3::x_axis(), 100.0, &Filter::default());
    /// let hit = hit.expect("the wall");
    /// assert_eq!((hit.body, hit.normal), (wall, -Vector3::x()));
    /// assert!((hit.distance - 2.9).abs() < 1e-12);
    ///
    /// let others = |id| id != wall;
    /// assert!(world.cast_ray(&eye, &Vector3::x_axis(), 100.0, &Filter::only(&others)).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast_ray(
        &self,
        from: &Point3<f64>,
        along: &UnitVector3<f64>,
        max_distance: f64,
        filter: &Filter<'_>,
    ) -> Option<CastHit> {
        let ray = Ray { from: *from, along: *along, max_distance };
        self.with_bodies(filter, |bodies| bodies.cast_ray(&ray)).map(|found| self.hit(found))
    }

    /// The first body hit by a moving ball of `radius` m. Its center starts at `from` and moves by
    /// `way`, m. Half-spaces, balls, boxes, solids of revolution and hulls are exact; for other
    /// shapes see [`World::cast_shape`].
    ///
    /// ```
    /// # use brisance_sim::contact::Shape;
    /// # use brisance_sim::nalgebra::{Isometry3, Point3, Vector3};
    /// # use brisance_sim::{Filter, NewBody, Settings, World};
    /// # let mut world = World::new(Settings::default());
    /// # let floor = world.add(NewBody::fixed(Shape::half_space()))?;
    /// let way = Vector3::new(0.0, -5.0, 0.0);
    /// let hit = world.cast_ball(&Point3::new(0.0, 2.0, 0.0), 0.5, &way, &Filter::default());
    /// assert!((hit.expect("the floor").distance - 1.5).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast_ball(
        &self,
        from: &Point3<f64>,
        radius: f64,
        way: &Vector3<f64>,
        filter: &Filter<'_>,
    ) -> Option<CastHit> {
        let pose = Isometry3::from_parts(from.coords.into(), nalgebra::UnitQuaternion::identity());
        self.cast_shape(&Shape::ball(radius), &pose, way, filter)
    }

    /// Shape cast: the first body that a solid hits on a translation, m, from `pose`, without
    /// rotation; `None` also if a number is not finite or beyond 1e30, the solid is not
    /// [usable](Shape::is_usable) or is unbounded, or the translation is zero. A solid that overlaps a
    /// body at the start hits it there.
    ///
    /// Hits of unions of convex solids are accurate to 1e-10 of their size. Triangle meshes are hit
    /// by their triangles, and sampled bodies to the accuracy of their samples: their surface points
    /// are tested against the signed distance of the other body, as for contacts.
    pub fn cast_shape(
        &self,
        shape: &Shape,
        pose: &Isometry3<f64>,
        way: &Vector3<f64>,
        filter: &Filter<'_>,
    ) -> Option<CastHit> {
        let (along, max_distance) = UnitVector3::try_new_and_get(*way, 0.0)?;
        if !is_known(pose) || check(way).is_err() {
            return None;
        }
        let (solid, sweep) = (shape.at(pose), Sweep { along, max_distance });
        let found = self.with_bodies(filter, |bodies| bodies.sweep(&solid, &sweep));
        found.map(|found| self.hit(found))
    }

    /// The bodies that a ball about a point overlaps or touches, in the order of [`BodyId`].
    pub fn overlap_ball(
        &self,
        center: &Point3<f64>,
        radius: f64,
        filter: &Filter<'_>,
    ) -> Vec<BodyId> {
        let rotation = nalgebra::UnitQuaternion::identity();
        let pose = Isometry3::from_parts(center.coords.into(), rotation);
        self.overlap_shape(&Shape::ball(radius), &pose, filter)
    }

    /// The bodies that a box of half edge lengths `half`, m, overlaps or touches, in the order of
    /// [`BodyId`].
    ///
    /// ```
    /// # use brisance_sim::contact::Shape;
    /// # use brisance_sim::nalgebra::{Isometry3, Point3, Vector3};
    /// # use brisance_sim::{Filter, NewBody, Settings, World};
    /// # let mut world = World::new(Settings::default());
    /// # let ball = world.add(NewBody::fixed(Shape::ball(0.5)).at(&Isometry3::translation(1.0, 0.0, 0.0)))?;
    /// let (here, all) = (Isometry3::identity(), Filter::default());
    /// assert_eq!(world.overlap_box(&Vector3::repeat(0.6), &here, &all), [ball]);
    /// assert!(world.overlap_box(&Vector3::repeat(0.4), &here, &all).is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn overlap_box(
        &self,
        half: &Vector3<f64>,
        pose: &Isometry3<f64>,
        filter: &Filter<'_>,
    ) -> Vec<BodyId> {
        if !half.iter().all(|x| x.is_finite() && *x > 0.0) {
            return Vec::new();
        }
        // sampled bodies are tested at their own surface points, and thin ones at those of the box
        self.overlap_shape(&Shape::cuboid(*half, half.max() / 8.0), pose, filter)
    }

    /// The bodies that a solid at `pose` overlaps or touches, in the order of [`BodyId`]; none if a
    /// number is not finite or beyond 1e30, or the solid is not [usable](Shape::is_usable). The
    /// accuracy is that of [`World::cast_shape`]. Half-spaces and meshes
    /// do not overlap each other.
    pub fn overlap_shape(
        &self,
        shape: &Shape,
        pose: &Isometry3<f64>,
        filter: &Filter<'_>,
    ) -> Vec<BodyId> {
        if !is_known(pose) {
            return Vec::new();
        }
        let found = self.with_bodies(filter, |bodies| bodies.overlapping(&shape.at(pose)));
        found.into_iter().map(|i| self.ids[i]).collect()
    }

    /// The body whose surface is nearest to a point, at most `max_distance` m away, which may be
    /// infinite; if several bodies contain the point, the one with the greatest depth. The nearest
    /// point of a sampled surface is approximate.
    ///
    /// ```
    /// # use brisance_sim::contact::Shape;
    /// # use brisance_sim::nalgebra::{Isometry3, Point3, Vector3};
    /// # use brisance_sim::{Filter, NewBody, Settings, World};
    /// # let mut world = World::new(Settings::default());
    /// # let floor = world.add(NewBody::fixed(Shape::half_space()))?;
    /// let nearest = world.nearest_body(&Point3::new(1.0, 0.4, 0.0), 1.0, &Filter::default());
    /// assert_eq!(nearest.expect("the floor").point, Point3::new(1.0, 0.0, 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest_body(
        &self,
        p: &Point3<f64>,
        max_distance: f64,
        filter: &Filter<'_>,
    ) -> Option<NearestBody> {
        if check(p.iter()).is_err() || max_distance.is_nan() {
            return None;
        }
        let (i, found) = self.with_bodies(filter, |bodies| bodies.nearest(p, max_distance))?;
        let ShapeHit { distance, point, normal } = found;
        Some(NearestBody { body: self.ids[i], distance, point, normal })
    }

    fn hit(&self, (i, ShapeHit { distance, point, normal }): (usize, ShapeHit)) -> CastHit {
        CastHit { body: self.ids[i], distance, point, normal }
    }

    /// Runs a query on the bodies that pass a filter.
    fn with_bodies<T>(&self, filter: &Filter<'_>, ask: impl FnOnce(Bodies<'_>) -> T) -> T {
        let tree = self.caches.query_tree.get_or_init(|| QueryTree::new(&self.shapes, &self.poses));
        let wanted = |i: usize| {
            filter.groups.meet(&self.groups[i]) && filter.wanted.is_none_or(|of| of(self.ids[i]))
        };
        ask(Bodies { shapes: &self.shapes, poses: &self.poses, tree, wanted: &wanted })
    }
}

/// Whether a pose is valid.
fn is_known(pose: &Isometry3<f64>) -> bool {
    is_usable(pose, &Momentum::default())
}
