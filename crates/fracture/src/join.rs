//! Joining fragments.

use levelset::{Grid, LevelSet};
use ndarray::Array3;

use crate::{Bond, Fragment, Shattered};

impl Shattered {
    /// Joins the fragments of equal entries of `groups`, which are numbered from 0 without gaps;
    /// the result has one fragment per group, in their order, and the bonds between them.
    ///
    /// Moments add up as over all fragments. The signed distance of a joined fragment is that of
    /// the parent, except near removed parts; its signs are those of its parts. Particles inside
    /// are dropped.
    ///
    /// # Panics
    /// If the number of groups differs from the number of fragments.
    pub fn joined(self, parent: &LevelSet, groups: &[usize]) -> Self {
        assert_eq!(self.fragments.len(), groups.len(), "one group per fragment");
        let count = groups.iter().max().map_or(0, |most| most + 1);
        let mut members = vec![Vec::new(); count];
        for (fragment, &group) in groups.iter().enumerate() {
            members[group].push(fragment);
        }
        let fragments = members.iter().map(|members| self.union(parent, members)).collect();
        let bonds = joined_bonds(&self.bonds, groups);
        Self { fragments, bonds }
    }

    fn union(&self, parent: &LevelSet, members: &[usize]) -> Fragment {
        if let [alone] = members {
            return self.fragments[*alone].clone();
        }
        let parts = || members.iter().map(|&member| &self.fragments[member]);
        let level_set = self.level_set(parent, members);
        // within half a cell of the surface; deeper ones belong to the cuts between the parts
        let skin = -0.5 * level_set.grid().spacing();
        let particles = parts().flat_map(|part| &part.particles);
        let mut regions: Vec<usize> = parts().flat_map(|p| p.regions.iter().copied()).collect();
        regions.sort_unstable();
        regions.dedup();
        Fragment {
            particles: particles.filter(|p| level_set.value(p) >= skin).copied().collect(),
            moments: parts().map(|part| part.moments).sum(),
            level_set,
            regions,
        }
    }

    /// The parent's minus other fragments: the larger of its distance and the negative of each of
    /// theirs.
    fn level_set(&self, parent: &LevelSet, members: &[usize]) -> LevelSet {
        let (mut low, mut high) = (parent.grid().dims(), [0; 3]);
        for &member in members {
            let (first, last) = nodes(parent.grid(), &self.fragments[member]);
            for a in 0..3 {
                low[a] = low[a].min(first[a]);
                high[a] = high[a].max(last[a]);
            }
        }
        let grid = parent.grid().subgrid(low, high);
        let [nx, ny, nz] = grid.dims();
        let mut values = Array3::from_shape_fn((nx, ny, nz), |(i, j, k)| {
            parent.values()[[low[0] + i, low[1] + j, low[2] + k]]
        });
        for (index, other) in self.fragments.iter().enumerate() {
            if members.contains(&index) {
                continue;
            }
            let (first, last) = nodes(parent.grid(), other);
            let range = |a: usize| first[a].max(low[a])..(last[a] + 1).min(high[a] + 1);
            for i in range(0) {
                for j in range(1) {
                    for k in range(2) {
                        let node = [i, j, k];
                        let theirs = std::array::from_fn::<_, 3, _>(|a| node[a] - first[a]);
                        let ours = std::array::from_fn::<_, 3, _>(|a| node[a] - low[a]);
                        let value = -other.level_set.values()[theirs];
                        values[ours] = values[ours].max(value);
                    }
                }
            }
        }
        LevelSet::from_values(grid, values)
    }
}

/// First and last node of a fragment's grid in its parent's.
fn nodes(parent: &Grid, fragment: &Fragment) -> ([usize; 3], [usize; 3]) {
    let grid = fragment.level_set.grid();
    let from = grid.origin() - parent.origin();
    let first = std::array::from_fn(|a| (from[a] / parent.spacing()).round() as usize);
    (first, std::array::from_fn(|a| first[a] + grid.dims()[a] - 1))
}

/// The bonds between groups, merged by pair and sorted.
pub(crate) fn joined_bonds(bonds: &[Bond], groups: &[usize]) -> Vec<Bond> {
    let mut joined: Vec<Bond> = Vec::new();
    for bond in bonds {
        let mut pair = bond.fragments.map(|fragment| groups[fragment]);
        pair.sort_unstable();
        if pair[0] != pair[1] {
            let is_same = pair == bond.fragments.map(|fragment| groups[fragment]);
            let normal = if is_same { bond.normal } else { -bond.normal };
            joined.push(Bond { fragments: pair, normal, ..*bond });
        }
    }
    joined.sort_by_cached_key(|bond| bond.fragments);
    joined.dedup_by(|next, sum| {
        let same = next.fragments == sum.fragments;
        if same {
            let area = sum.area + next.area;
            sum.center += (next.center - sum.center) * (next.area / area);
            sum.normal += (next.normal - sum.normal) * (next.area / area);
            sum.area = area;
        }
        same
    });
    joined
}
