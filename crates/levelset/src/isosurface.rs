//! Marching cubes (Lorensen and Cline 1987) with the topology of the trilinear interpolant: faces
//! by its asymptotes (Nielson and Hamann 1991), the inside of cells by its saddles (Chernyaev
//! 1995).

use nalgebra::{Point3, Unit, Vector3, center};

use crate::cube::{self, Loop, TABLE};
use crate::{LevelSet, TriMesh};

/// Where the surface closes beyond the last node of a grid that cuts the solid, in cells.
const RIM: f64 = 1e-3;

impl LevelSet {
    /// The zero surface as a triangle mesh: closed, wound outwards, every edge shared by exactly
    /// two triangles and every vertex on an edge of the grid or inside a cell.
    ///
    /// It has as many components and handles as the zero surface of [`LevelSet::value`], which no
    /// table by signs alone can guarantee.
    ///
    /// A solid that reaches the end of the grid is closed a thousandth of a cell beyond it.
    pub fn isosurface(&self) -> TriMesh {
        let mut march = March::new(self);
        for plane in 0..march.padded[0] - 1 {
            march.vertices(plane);
            march.cells(plane);
        }
        march.mesh
    }

    /// Outward unit normals at points near the surface, from the gradient; where it vanishes, the
    /// zero vector.
    pub fn normals(&self, points: &[Point3<f64>]) -> Vec<Vector3<f64>> {
        points
            .iter()
            .map(|p| self.normal(p).map_or_else(Vector3::zeros, Unit::into_inner))
            .collect()
    }
}

/// One sweep over the grid with a layer of outside nodes around it; indices here count that layer.
struct March<'a> {
    level_set: &'a LevelSet,
    padded: [usize; 3],
    /// Words of sign bits per row.
    words: usize,
    /// A bit per padded node, set inside; rows of `words`.
    signs: Vec<u64>,
    /// Vertex numbers on the x edges from the current plane, and on the y and z edges of the
    /// current (0) and next (1) plane.
    along_x: Vec<u32>,
    along_y: [Vec<u32>; 2],
    along_z: [Vec<u32>; 2],
    mesh: TriMesh,
}

impl<'a> March<'a> {
    fn new(level_set: &'a LevelSet) -> Self {
        let dims = level_set.grid().dims();
        let padded = dims.map(|n| n + 2);
        // one more bit, so that shifts may read past the row
        let words = padded[2] / 64 + 1;
        let mut signs = vec![0; padded[0] * padded[1] * words];
        for (row, samples) in level_set.as_slice().chunks_exact(dims[2]).enumerate() {
            let (i, j) = (row / dims[1] + 1, row % dims[1] + 1);
            let bits = &mut signs[(i * padded[1] + j) * words..][..words];
            pack_signs(samples, bits);
        }
        let plane = padded[1] * padded[2];
        let ids = || vec![0; plane];
        Self {
            level_set,
            padded,
            words,
            signs,
            along_x: ids(),
            along_y: [ids(), ids()],
            along_z: [ids(), ids()],
            mesh: TriMesh::default(),
        }
    }

    fn row(&self, i: usize, j: usize) -> &[u64] {
        &self.signs[(i * self.padded[1] + j) * self.words..][..self.words]
    }

    /// Numbers the vertices on the x edges from plane `i` and on the edges in plane `i + 1`.
    fn vertices(&mut self, i: usize) {
        self.along_y.swap(0, 1);
        self.along_z.swap(0, 1);
        let [_, ny, nz] = self.padded;
        for j in 0..ny {
            for word in 0..self.words {
                let here = self.row(i + 1, j)[word];
                let mut crossed = here ^ self.row(i, j)[word];
                while let Some(k) = take_bit(&mut crossed, word) {
                    self.along_x[j * nz + k] = self.vertex([i, j, k], 0);
                }
                if j + 1 < ny {
                    let mut crossed = here ^ self.row(i + 1, j + 1)[word];
                    while let Some(k) = take_bit(&mut crossed, word) {
                        self.along_y[1][j * nz + k] = self.vertex([i + 1, j, k], 1);
                    }
                }
                let mut crossed = here ^ shifted(self.row(i + 1, j), word);
                while let Some(k) = take_bit(&mut crossed, word) {
                    self.along_z[1][j * nz + k] = self.vertex([i + 1, j, k], 2);
                }
            }
        }
    }

    /// Adds the vertex where the edge from a padded node along `axis` meets the surface.
    fn vertex(&mut self, node: [usize; 3], axis: usize) -> u32 {
        let mut at = node;
        at[axis] += 1;
        let t = match (self.sample(node), self.sample(at)) {
            (Some(a), Some(b)) => f64::from(a) / (f64::from(a) - f64::from(b)),
            // the layer around the grid has no samples
            (Some(_), None) => RIM,
            _ => 1.0 - RIM,
        };
        let mut offset = Vector3::from(node.map(|n| n as f64 - 1.0));
        offset[axis] += t;
        let grid = self.level_set.grid();
        self.mesh.vertices.push(grid.origin() + offset * grid.spacing());
        (self.mesh.vertices.len() - 1) as u32
    }

    fn sample(&self, node: [usize; 3]) -> Option<f32> {
        let inner = (0..3).all(|a| node[a] > 0 && node[a] + 1 < self.padded[a]);
        inner.then(|| self.level_set.as_slice()[self.level_set.grid().index(node.map(|n| n - 1))])
    }

    /// Adds the triangles of the cells between planes `i` and `i + 1`.
    fn cells(&mut self, i: usize) {
        let [_, ny, _] = self.padded;
        for j in 0..ny - 1 {
            for word in 0..self.words {
                let rows = [(i, j), (i, j + 1), (i + 1, j), (i + 1, j + 1)];
                let rows = rows.map(|(i, j)| {
                    let row = self.row(i, j);
                    (row[word], shifted(row, word))
                });
                let any = rows.iter().fold(0, |bits, (a, b)| bits | a | b);
                let all = rows.iter().fold(!0, |bits, (a, b)| bits & a & b);
                let mut mixed = any & !all;
                while let Some(k) = take_bit(&mut mixed, word) {
                    let at = k % 64;
                    let configuration = rows.iter().enumerate().fold(0, |bits, (n, (a, b))| {
                        bits | (a >> at & 1) << (2 * n) | (b >> at & 1) << (2 * n + 1)
                    });
                    self.cell([i, j, k], configuration as u8);
                }
            }
        }
    }

    fn cell(&mut self, [i, j, k]: [usize; 3], configuration: u8) {
        let nz = self.padded[2];
        let ids = Ids {
            along_x: &self.along_x,
            along_y: &self.along_y,
            along_z: &self.along_z,
            base: j * nz + k,
            nz,
        };
        if let Some(triangles) = TABLE.triangles(configuration) {
            self.mesh.triangles.extend(triangles.iter().map(|t| t.map(|e| ids.of(e))));
            return;
        }
        let samples = std::array::from_fn(|corner| {
            self.sample([i + (corner >> 2 & 1), j + (corner >> 1 & 1), k + (corner & 1)])
        });
        let values = samples.map(|sample: Option<f32>| f64::from(sample.unwrap_or(1.0)));
        let joined = |face| {
            let ring = cube::ring(face);
            let [a, b, c, d] = ring.map(|corner| values[corner]);
            // products of f32 are exact in f64, so both cells of a face decide alike
            let positive_pair_wins = a * c > b * d;
            let a_inside = configuration >> ring[0] & 1 == 1;
            positive_pair_wins == a_inside
        };
        let (loops, count) = cube::trace(configuration, joined);
        let loops = &loops[..count];
        // the layer around the grid has no samples and only closes the surface
        let whole = samples.iter().all(Option::is_some);
        let tube = if whole { tube(configuration, joined, &values, loops) } else { None };
        let vertices = |n: usize| loops[n].edges().iter().map(|&e| ids.of(e)).collect::<Vec<u32>>();
        for n in (0..count).filter(|n| tube.is_none_or(|tube| !tube.contains(n))) {
            add_polygon(&mut self.mesh, &vertices(n), loops[n].fan());
        }
        if let Some([first, second]) = tube {
            let (first, second) = (vertices(first), vertices(second));
            let grid = self.level_set.grid();
            let cell =
                Cell { values, low: grid.position([i - 1, j - 1, k - 1]), spacing: grid.spacing() };
            add_tube(&mut self.mesh, &first, &second, &cell);
        }
    }
}

/// The two polygons, if any, that bound one piece of the surface together.
fn tube(
    configuration: u8,
    joined: impl Fn(usize) -> bool,
    values: &[f64; 8],
    loops: &[Loop],
) -> Option<[usize; 2]> {
    if loops.len() < 2 {
        return None;
    }
    let regions = cube::regions(configuration, joined);
    let ends = cube::tunnel(values, &regions)?;
    let side = usize::from(configuration >> ends[0] & 1 == 0);
    let sides = |n: usize| cube::sides(configuration, &loops[n], &regions);
    let between = |a: usize, b: usize| {
        sides(a)[side] == regions[ends[0]]
            && sides(b)[side] == regions[ends[1]]
            && sides(a)[1 - side] == sides(b)[1 - side]
    };
    let all = 0..loops.len();
    all.clone().flat_map(|a| all.clone().map(move |b| [a, b])).find(|&[a, b]| between(a, b))
}

/// A cell and its samples.
struct Cell {
    values: [f64; 8],
    low: Point3<f64>,
    spacing: f64,
}

impl Cell {
    /// A point near the surface within the cell, projected onto it along the gradient.
    fn pulled_to_surface(&self, p: Point3<f64>) -> Point3<f64> {
        let mut at = (p - self.low) / self.spacing;
        for _ in 0..4 {
            let (value, slope) = self.trilinear(&at);
            let square = slope.norm_squared();
            if square > 0.0 {
                at -= (slope * (value / square)).cap_magnitude(0.2);
            }
            // off the faces, which the neighbors share
            at = at.map(|x| x.clamp(0.01, 0.99));
        }
        self.low + at * self.spacing
    }

    /// Value and gradient at an offset in the unit cube.
    fn trilinear(&self, at: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let (mut value, mut slope) = (0.0, Vector3::zeros());
        for (corner, sample) in self.values.iter().enumerate() {
            let high = Vector3::new(corner >> 2 & 1, corner >> 1 & 1, corner & 1);
            let weight = high.zip_map(at, |h, x| if h == 1 { x } else { 1.0 - x });
            let sign = high.map(|h| if h == 1 { *sample } else { -sample });
            value += sample * weight.product();
            slope += sign.component_mul(&weight.yzx().component_mul(&weight.zxy()));
        }
        (value, slope)
    }
}

/// Joins two polygons by a tube with a ring of vertices inside the cell, so that no edge of it can
/// belong to a neighboring cell, too.
fn add_tube(mesh: &mut TriMesh, first: &[u32], second: &[u32], cell: &Cell) {
    let spokes = spokes(mesh, first, second);
    let ring: Vec<u32> = spokes
        .iter()
        .map(|&[a, b]| {
            let middle = center(&mesh.vertices[a as usize], &mesh.vertices[b as usize]);
            mesh.vertices.push(cell.pulled_to_surface(middle));
            (mesh.vertices.len() - 1) as u32
        })
        .collect();
    for (n, &[a, b]) in spokes.iter().enumerate() {
        let next = (n + 1) % spokes.len();
        let [c, d] = spokes[next];
        let (here, there) = (ring[n], ring[next]);
        if a == c {
            mesh.triangles.extend([[d, b, here], [d, here, there], [here, a, there]]);
        } else {
            mesh.triangles.extend([[a, c, there], [a, there, here], [here, there, b]]);
        }
    }
}

/// Pairs of facing vertices of two polygons, each one step along the first polygon or back along
/// the second from the last, once around both.
fn spokes(mesh: &TriMesh, first: &[u32], second: &[u32]) -> Vec<[u32; 2]> {
    let (m, n) = (first.len(), second.len());
    let distance = |i: usize, j: usize| {
        let [a, b] = [first[i % m], second[j % n]].map(|v| mesh.vertices[v as usize]);
        (a - b).norm_squared()
    };
    let pairs = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
    let nearest = pairs.min_by(|a, b| distance(a.0, a.1).total_cmp(&distance(b.0, b.1)));
    let (from, to) = nearest.unwrap_or((0, 0));
    let (mut steps, mut back) = (0, 0);
    let mut spokes = Vec::with_capacity(m + n);
    while steps < m || back < n {
        let (i, j) = (from + steps, to + n - back);
        spokes.push([first[i % m], second[j % n]]);
        let along = distance(i + 1, j) <= distance(i, j + n - 1);
        if back == n || steps < m && along {
            steps += 1;
        } else {
            back += 1;
        }
    }
    spokes
}

/// Triangulates a polygon as a fan from one of its vertices, or from its centroid.
fn add_polygon(mesh: &mut TriMesh, vertices: &[u32], fan: Option<usize>) {
    let n = vertices.len();
    if let Some(from) = fan {
        let at = |step: usize| vertices[(from + step) % n];
        mesh.triangles.extend((2..n).map(|step| [at(0), at(step - 1), at(step)]));
        return;
    }
    let sum: Vector3<f64> = vertices.iter().map(|&v| mesh.vertices[v as usize].coords).sum();
    mesh.vertices.push((sum / n as f64).into());
    let center = (mesh.vertices.len() - 1) as u32;
    mesh.triangles.extend((0..n).map(|step| [center, vertices[step], vertices[(step + 1) % n]]));
}

/// Vertex numbers around one cell.
struct Ids<'a> {
    along_x: &'a [u32],
    along_y: &'a [Vec<u32>; 2],
    along_z: &'a [Vec<u32>; 2],
    base: usize,
    nz: usize,
}

impl Ids<'_> {
    fn of(&self, edge: u8) -> u32 {
        let (m, base) = (edge as usize % 4, self.base);
        match edge / 4 {
            0 => self.along_x[base + (m >> 1) * self.nz + (m & 1)],
            1 => self.along_y[m >> 1][base + (m & 1)],
            _ => self.along_z[m >> 1][base + (m & 1) * self.nz],
        }
    }
}

/// Sets bit `k + 1` where sample `k` is inside.
fn pack_signs(samples: &[f32], bits: &mut [u64]) {
    let mut carry = 0;
    for (word, samples) in bits.iter_mut().zip(samples.chunks(64).chain(std::iter::repeat(&[][..])))
    {
        let signs = samples.iter().enumerate().fold(0, |w, (n, &v)| w | u64::from(v < 0.0) << n);
        *word = signs << 1 | carry;
        carry = signs >> 63;
    }
}

/// The word of a row whose bit `k` is that of node `k + 1`.
fn shifted(row: &[u64], word: usize) -> u64 {
    row[word] >> 1 | row.get(word + 1).map_or(0, |next| next << 63)
}

/// Removes the lowest set bit and returns its index in the row.
fn take_bit(bits: &mut u64, word: usize) -> Option<usize> {
    if *bits == 0 {
        return None;
    }
    let k = bits.trailing_zeros() as usize + 64 * word;
    *bits &= *bits - 1;
    Some(k)
}
