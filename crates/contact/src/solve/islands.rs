//! Connected components of bodies in contact.

use dynamics::{Body, Velocity};

use crate::Columns;

/// Groups of dynamic bodies connected by contacts. Static and kinematic bodies belong to none and
/// connect none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Islands {
    /// Index of the island of each body.
    island: Vec<Option<u32>>,
    /// One per island.
    grounded: Vec<bool>,
    /// One per island.
    driven: Vec<bool>,
}

impl Islands {
    /// Finds the connected components of touching `pairs`, numbered by their first body.
    pub fn new(columns: Columns<'_>, pairs: &[(u32, u32)]) -> Self {
        let dynamic = |i: u32| matches!(columns.bodies[i as usize], Body::Dynamic(_));
        let mut parent: Vec<u32> = (0..columns.bodies.len() as u32).collect();
        for &(a, b) in pairs {
            if dynamic(a) && dynamic(b) {
                let (p, q) = (root(&mut parent, a), root(&mut parent, b));
                // the lower index becomes the root, so that islands are numbered by their first
                // body
                parent[p.max(q) as usize] = p.min(q);
            }
        }
        let mut island: Vec<Option<u32>> = vec![None; parent.len()];
        let mut count = 0;
        for i in 0..parent.len() as u32 {
            let root = root(&mut parent, i);
            if root == i && dynamic(i) {
                island[i as usize] = Some(count);
                count += 1;
            } else {
                island[i as usize] = island[root as usize];
            }
        }
        let mut grounded = vec![false; count as usize];
        let mut driven = grounded.clone();
        for &(a, b) in pairs {
            let (mover, touching) = match (dynamic(a), dynamic(b)) {
                (true, false) => (b, island[a as usize]),
                (false, true) => (a, island[b as usize]),
                _ => continue,
            };
            if let Some(i) = touching {
                grounded[i as usize] = true;
                driven[i as usize] |= moves(&columns.bodies[mover as usize]);
            }
        }
        Self { island, grounded, driven }
    }

    /// Marks the island of body `i`, if it has one, as driven.
    pub(crate) fn drive(&mut self, i: u32) {
        if let Some(island) = self.island[i as usize] {
            self.driven[island as usize] = true;
        }
    }

    /// The island of each body.
    pub fn of_bodies(&self) -> &[Option<u32>] {
        &self.island
    }

    /// Whether a body of the island touches a static or kinematic one.
    pub fn is_grounded(&self, island: u32) -> bool {
        self.grounded[island as usize]
    }

    /// Whether a body of the island touches a moving kinematic one, or is driven by a motor.
    pub fn is_driven(&self, island: u32) -> bool {
        self.driven[island as usize]
    }

    /// Number of islands.
    pub fn count(&self) -> usize {
        self.grounded.len()
    }
}

/// Whether a kinematic body moves and may do work.
fn moves(body: &Body) -> bool {
    matches!(body, Body::Kinematic(velocity) if *velocity != Velocity::default())
}

fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        // path halving
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}
