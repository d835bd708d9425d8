//! Changes of the properties of bodies while a world runs.

use contact::{Groups, Material};

use crate::breaking::breakage::{Breakage, BreakageError};
use crate::{BodyId, SteeringError, World};

impl World {
    /// Sets the material of a body: its stiffness when it strikes others, and its strength if that
    /// is [`Strength::Material`](crate::Strength::Material). The default is stone. Its pieces
    /// inherit it. `false` if there is no such body.
    pub fn set_solid_material(&mut self, id: BodyId, material: fracture::Material) -> bool {
        let Ok(i) = self.ids.binary_search(&id) else { return false };
        self.details[i].solid_material = material;
        true
    }

    /// Sets the restitution and friction of a body from the next frame on. The body wakes, and so do
    /// sleepers that touch it.
    ///
    /// # Errors
    ///
    /// [`SteeringError`] if there is no such body or a coefficient is invalid.
    ///
    /// ```
    /// # use brisance_sim::contact::{Material, Shape};
    /// # use brisance_sim::{NewBody, Settings, World};
    /// # let mut world = World::new(Settings::default());
    /// # let floor = world.add(NewBody::fixed(Shape::half_space()))?;
    /// let ice = Material { friction: 0.02, ..Material::default() };
    /// world.set_material(floor, ice)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_material(&mut self, id: BodyId, material: Material) -> Result<(), SteeringError> {
        material.check()?;
        let i = self.known(id)?;
        if self.materials[i] != material {
            self.materials[i] = material;
            self.wake_around(id);
        }
        Ok(())
    }

    /// Sets the collision groups of a body from the next frame on. The body wakes, and so do sleepers
    /// near it. Bodies that start to collide while they overlap are pushed apart.
    ///
    /// # Errors
    ///
    /// [`SteeringError::Unknown`].
    ///
    /// ```
    /// # use brisance_sim::contact::Shape;
    /// # use brisance_sim::{Groups, NewBody, Settings, World};
    /// # let mut world = World::new(Settings::default());
    /// # let door = world.add(NewBody::fixed(Shape::half_space()))?;
    /// // from now on nothing collides with it
    /// world.set_groups(door, Groups { memberships: 0, filter: 0 })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_groups(&mut self, id: BodyId, groups: Groups) -> Result<(), SteeringError> {
        let i = self.known(id)?;
        if self.groups[i] != groups {
            self.groups[i] = groups;
            self.caches.query_tree.take();
            self.wake_around(id);
            self.wake_near(i);
        }
        Ok(())
    }

    /// Sets how a body breaks from the next frame on; with `None` it is unbreakable. A
    /// [`WorldState`](crate::WorldState) contains whether it breaks, not how.
    ///
    /// # Errors
    ///
    /// [`SteeringError`] if there is no such body, it cannot break or a number is invalid.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use brisance_sim::fracture::{Pattern, Voronoi};
    /// use brisance_sim::nalgebra::Vector3;
    /// use brisance_sim::{Breakage, FractureModel, NewBody, Placement, Settings, Strength, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let cube = world.add(NewBody::cuboid(Vector3::repeat(0.5), 2000.0)?)?;
    ///
    /// let pattern = Pattern::voronoi(&Voronoi::new(20, 1))?;
    /// world.set_breakage(
    ///     cube,
    ///     Some(Breakage {
    ///         model: FractureModel::Prescored(Arc::new(pattern), Placement::Turned),
    ///         strength: Strength::Impulse(10.0),
    ///         generations: 1,
    ///         min_share: 0.01,
    ///         min_size: 0.0,
    ///         bonds: None,
    ///     }),
    /// )?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_breakage(
        &mut self,
        id: BodyId,
        breakage: Option<Breakage>,
    ) -> Result<(), SteeringError> {
        breakage.as_ref().map_or(Ok(()), Breakage::check)?;
        let i = self.known(id)?;
        if breakage.is_some() {
            let solid = self.solid(i).ok_or(BreakageError::NoSolid)?.into_owned();
            self.details[i].solid = Some(solid);
        }
        // in a plane bodies do not break
        self.details[i].breakage = breakage.filter(|_| !self.settings.plane);
        Ok(())
    }

    /// Wakes a body, with sleepers that touch it or are joined to it. Bodies that are awake and still
    /// stay awake for another half second.
    ///
    /// # Errors
    ///
    /// [`SteeringError::Unknown`].
    pub fn wake_body(&mut self, id: BodyId) -> Result<(), SteeringError> {
        self.known(id)?;
        self.wake_around(id);
        Ok(())
    }

    /// The index of a body.
    pub(super) fn known(&self, id: BodyId) -> Result<usize, SteeringError> {
        self.ids.binary_search(&id).map_err(|_| SteeringError::Unknown(id))
    }
}
