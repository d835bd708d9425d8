//! A user-defined number per body.

use crate::{BodyId, Events, World};

impl World {
    /// Sets or removes the user-defined number of a body, such as an index into the tables of a
    /// game. Returns `false` if there is no such body. When a body breaks or dents, its pieces or
    /// the dented body inherit the number. Checkpoints contain the number.
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

    /// The number of a body, set by [`World::set_user_data`] or inherited; `None` without a number
    /// or without such a body.
    pub fn user_data(&self, id: BodyId) -> Option<u64> {
        self.ids.binary_search(&id).ok()?;
        self.user_data.get(&id).copied()
    }

    /// Transfers the numbers of bodies to their pieces and to the dented bodies that replace them.
    pub(crate) fn pass_user_data_on(&mut self, events: &Events) {
        if self.user_data.is_empty() {
            return;
        }
        let broke = events.fractures.iter().map(|event| (event.parent, &event.fragments[..]));
        let dented =
            events.dents.iter().map(|dent| (dent.before, std::slice::from_ref(&dent.after)));
        let mut open: Vec<(BodyId, &[BodyId])> = broke.chain(dented).collect();
        // ascending handles: parents come before their pieces, which may have broken, too
        open.sort_by_cached_key(|(parent, _)| *parent);
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
