//! Parts of a level set.

use ndarray::s;

use crate::LevelSet;

impl LevelSet {
    /// The samples of nodes `low` to `high`, inclusive.
    ///
    /// # Panics
    /// If `high` is not a node or is not above `low` on every axis.
    pub fn cropped(&self, low: [usize; 3], high: [usize; 3]) -> Self {
        let grid = self.grid().subgrid(low, high);
        let part = self.values().slice(s![low[0]..=high[0], low[1]..=high[1], low[2]..=high[2]]);
        Self::from_values(grid, part.to_owned())
    }

    /// The smallest part with all inside samples and `margin` more nodes on each side where the
    /// grid has them; `None` if no sample is inside.
    pub fn cropped_to_inside(&self, margin: usize) -> Option<Self> {
        let (low, high) = self.inside_range()?;
        let dims = self.grid().dims();
        // a single inside node still needs one cell around it
        let margin = margin.max(1);
        let high = std::array::from_fn(|a| high[a].saturating_add(margin).min(dims[a] - 1));
        Some(self.cropped(low.map(|n| n.saturating_sub(margin)), high))
    }

    /// Lowest and highest node indices of the inside samples; `None` if there are none.
    pub fn inside_range(&self) -> Option<([usize; 3], [usize; 3])> {
        let [_, ny, nz] = self.grid().dims();
        let mut range: Option<([usize; 3], [usize; 3])> = None;
        for (row, samples) in self.as_slice().chunks_exact(nz).enumerate() {
            let Some(first) = samples.iter().position(|&v| v < 0.0) else { continue };
            let last = samples.iter().rposition(|&v| v < 0.0).unwrap_or(first);
            let (i, j) = (row / ny, row % ny);
            let (low, high) = range.get_or_insert(([i, j, first], [i, j, last]));
            for (a, (from, to)) in [(i, i), (j, j), (first, last)].into_iter().enumerate() {
                low[a] = low[a].min(from);
                high[a] = high[a].max(to);
            }
        }
        range
    }
}
