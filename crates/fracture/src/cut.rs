//! Grid edges that a cut crosses.

/// An edge from `node` to the next node along `axis`, whose ends are inside the parent and in
/// different pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) node: [u32; 3],
    pub(crate) axis: u8,
}

impl Cut {
    /// The edge's two nodes.
    pub(crate) fn ends(&self) -> [[usize; 3]; 2] {
        let low = self.node.map(|n| n as usize);
        let mut high = low;
        high[usize::from(self.axis)] += 1;
        [low, high]
    }
}

/// All cut edges of a label field (0 is outside), in order of their nodes, then axes.
pub(crate) fn cuts(dims: [usize; 3], labels: &[u32]) -> Vec<Cut> {
    let [nx, ny, nz] = dims;
    let mut cuts = Vec::new();
    for i in 0..nx {
        for j in 0..ny {
            let start = (i * ny + j) * nz;
            let row = &labels[start..start + nz];
            let mut push = |axis: u8, k: usize| {
                cuts.push(Cut { node: [i as u32, j as u32, k as u32], axis });
            };
            if i + 1 < nx {
                let next = &labels[start + ny * nz..][..nz];
                differing(row, next, |k| push(0, k));
            }
            if j + 1 < ny {
                let next = &labels[start + nz..][..nz];
                differing(row, next, |k| push(1, k));
            }
            differing(&row[..nz - 1], &row[1..], |k| push(2, k));
        }
    }
    cuts
}

fn differing(row: &[u32], next: &[u32], mut found: impl FnMut(usize)) {
    // whole chunks at a time: nearly all are uniform
    const CHUNK: usize = 16;
    for (chunk, (a, b)) in row.chunks(CHUNK).zip(next.chunks(CHUNK)).enumerate() {
        if a == b {
            continue;
        }
        for (k, (&a, &b)) in a.iter().zip(b).enumerate() {
            if a != b && a != 0 && b != 0 {
                found(chunk * CHUNK + k);
            }
        }
    }
}
