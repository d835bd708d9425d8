//! A user-defined number per body.

use crate::{BodyId, Events, World};

impl World {
    /// Sets or removes a number of the caller for a body, such as an index into the tables of a
    /// game; `false` if there is no such body. Its pieces inherit it, and so does the dented body
    /// that replaces it. Checkpoints contain it.
    ///
    /// ```
    /// # use brisance_sim::contact::Shape;
    /// # use brisance_sim::{NewBody, Settings, World};
    /// # let mut world = World::new(Settings::default());
    /// # let floor = world.add(NewBody::fixed(Shape::half_space()))?;
    /// assert_eq!(world.user_data(floor), None);
    /// world.set_user_data(floor, Some(7));
    /// assert_eq!(world.user_data(floor), Some(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_user_data(&mut self, id: BodyId, number: Option<u64>) -> bool {
        let is_there = self.ids.binary_search(&id).is_ok();
        match number.filter(|_| is_there) {
            Some(number) => self.user_data.insert(id, number),
            None => self.user_data.remove(&id),
        };
        is_there
    }

    /// The number that [`World::set_user_data`] set for a body or its parent; `None` if there is
    /// none, or no such body.
    pub fn user_data(&self, id: BodyId) -> Option<u64> {
        self.ids.binary_search(&id).ok()?;
        self.user_data.get(&id).copied()
    }

    /// Passes the numbers of bodies on to their pieces and to the dented bodies that replace them.
    pub(crate) fn pass_user_data_on(&mut self, events: &Events) {
        if self.user_data.is_empty() {
            return;
        }
        let broke = events.fractures.iter().map(|event| (event.parent, &event.fragments[..]));
        let dented =
            events.dents.iter().map(|dent| (dent.before, std::slice::from_ref(&dent.after)));
        let mut open: Vec<(BodyId, &[BodyId])> = broke.chain(dented).collect();
        // handles ascend, so that pieces come after their parents
        open.sort_by_key(|(parent, _)| *parent);
        for (parent, heirs) in open {
            if let Some(number) = self.user_data.remove(&parent) {
                self.user_data.extend(heirs.iter().map(|heir| (*heir, number)));
            }
        }
        if self.user_data.len() > self.ids.len() {
            let ids = &self.ids;
            self.user_data.retain(|id, _| ids.binary_search(id).is_ok());
        }
    }
}
