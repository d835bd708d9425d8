//! Shared faces: items grouped by common vertices, in linear time.

/// Items sorted by `(lowest vertex, rest)`, grouped first by counting so that it takes linear time
/// on meshes, whose vertices have few neighbors.
pub(crate) fn sorted_by_vertex<T: Ord + Copy + Default>(
    vertices: usize,
    items: impl Iterator<Item = (u32, T)> + Clone,
) -> Vec<(u32, T)> {
    let mut ends = vec![0usize; vertices + 1];
    for (v, _) in items.clone() {
        ends[v as usize + 1] += 1;
    }
    for v in 0..vertices {
        ends[v + 1] += ends[v];
    }
    let total = ends[vertices];
    let mut sorted = vec![(0, T::default()); total];
    let mut next = ends.clone();
    for (v, item) in items {
        sorted[next[v as usize]] = (v, item);
        next[v as usize] += 1;
    }
    for v in 0..vertices {
        sorted[ends[v]..ends[v + 1]].sort_unstable();
    }
    sorted
}

/// Sets that merge; each is named by its lowest member.
#[derive(Clone, Debug)]
pub struct Union {
    parents: Vec<u32>,
}

impl Union {
    /// `count` sets of one member each.
    pub fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect() }
    }

    /// Adds singletons up to `count` members in all.
    pub(crate) fn grow(&mut self, count: usize) {
        self.parents.extend(self.parents.len() as u32..count as u32);
    }

    /// Merges the sets of two members.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn join(&mut self, a: u32, b: u32) {
        // most are in one set already
        if self.parents[a as usize] == self.parents[b as usize] {
            return;
        }
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    fn root(&mut self, mut member: u32) -> u32 {
        while self.parents[member as usize] != member {
            let above = self.parents[self.parents[member as usize] as usize];
            self.parents[member as usize] = above;
            member = above;
        }
        member
    }

    /// A number from 1 for each member's set, in order of lowest members, and how many there are.
    pub fn numbered(mut self) -> (Vec<u32>, usize) {
        let mut count = 0;
        for m in 0..self.parents.len() {
            // a root is never above its members, so it is numbered before them
            let parent = self.parents[m] as usize;
            self.parents[m] = if parent == m {
                count += 1;
                count
            } else {
                self.parents[parent]
            };
        }
        (self.parents, count as usize)
    }
}
