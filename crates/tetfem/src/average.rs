//! Stress averaged over a physical length.

use levelset::TetMesh;
use nalgebra::{Matrix3, Point3};

use crate::crack::{Tension, centroid, tension_bound, worst};
use crate::{Crack, parallel};

/// Neighborhoods for averages over a length, computed once: the tetrahedra of a mesh near each
/// vertex.
///
/// Strength is compared at vertices. They are on the surface at any mesh resolution, while
/// centroids only approach it under refinement.
///
/// At sharp corners and point loads, stress diverges under mesh refinement; its mean over a fixed
/// length converges, so that strength is a property of the material and not of the mesh. For a
/// block under forces spread over the same radius, 0.3 of its thickness, in impact or bending, the
/// greatest mean grows by 8 to 9 % from five cells across to ten (linear); without averaging it
/// doubles or more. Weights that decrease towards the radius converge more slowly, since they
/// emphasize the point of application.
#[derive(Clone, Debug)]
pub struct Averaging {
    radius: f64,
    /// The radius, limited to one that always covers the whole mesh, so that its square is finite.
    reach: f64,
    /// `None` if the radius is not a valid length.
    bins: Option<Bins>,
    /// Centroids and volumes in bin order.
    places: Vec<Point3<f64>>,
    volumes: Vec<f64>,
    /// The vertices of tetrahedra and the tetrahedra at each, by their index in that order.
    vertices: Vec<Vertex>,
    touching: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Vertex {
    place: Point3<f64>,
    /// End of its range of tetrahedra.
    end: u32,
}

/// Points per task.
const PLACES: usize = 32;

/// Contribution of a tetrahedron: the six entries of its stress times its volume, and its volume.
type Weighted = [f64; 8];

impl Averaging {
    /// For means over all tetrahedra whose centroids lie within `radius` m.
    ///
    /// # Panics
    /// If a tetrahedron refers to a missing vertex.
    pub fn new(mesh: &TetMesh, radius: f64) -> Self {
        let places: Vec<_> = (0..mesh.tets.len()).map(|t| centroid(mesh, t)).collect();
        let bounds = levelset::Aabb::around(&mesh.vertices);
        let across = bounds.map_or(0.0, |bounds| bounds.extents().norm());
        let reach = if across > 0.0 { radius.min(2.0 * across) } else { radius };
        let bins = if radius.is_finite() {
            bounds.and_then(|bounds| Bins::new(&places, &bounds, reach))
        } else {
            None
        };
        let order = || bins.iter().flat_map(|bins| bins.items.iter().map(|&t| t as usize));
        let mut corners: Vec<(u32, u32)> =
            (0..).zip(order()).flat_map(|(n, t)| mesh.tets[t].map(|v| (v, n))).collect();
        corners.sort_unstable();
        let touching = corners.iter().map(|corner| corner.1).collect();
        let mut end = 0;
        let vertices = corners.chunk_by(|a, b| a.0 == b.0).map(|same| {
            end += same.len() as u32;
            Vertex { place: mesh.vertices[same[0].0 as usize], end }
        });
        let vertices = vertices.collect();
        let (places, volumes) = order().map(|t| (places[t], mesh.volume(t))).unzip();
        Self { radius, reach, bins, places, volumes, vertices, touching }
    }

    /// The radius, m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// For every tetrahedron the volume-weighted mean of the stresses within the radius of its
    /// centroid; its own stress if the radius is not a valid length.
    ///
    /// # Panics
    /// If there is not one stress per tetrahedron.
    pub fn means(&self, stresses: &[Matrix3<f64>]) -> Vec<Matrix3<f64>> {
        let Some(bins) = &self.bins else { return stresses.to_vec() };
        let weighted = self.weighted(bins, stresses);
        let mean = |n: usize| mean(&self.sum(bins, &self.places[n], &weighted));
        let means = parallel::map(self.places.len(), PLACES, mean);
        let mut result = stresses.to_vec();
        bins.items.iter().zip(means).for_each(|(&tet, mean)| result[tet as usize] = mean);
        result
    }

    /// The volume-weighted mean of the stresses within the radius of each vertex and of its
    /// incident tetrahedra, with the vertex position; empty if the radius is not a valid length.
    /// Vertices without tetrahedra are omitted.
    ///
    /// # Panics
    /// If there is not one stress per tetrahedron.
    pub fn means_at_vertices(&self, stresses: &[Matrix3<f64>]) -> Vec<(Point3<f64>, Matrix3<f64>)> {
        let Some(bins) = &self.bins else { return Vec::new() };
        let weighted = self.weighted(bins, stresses);
        let mean = |v: usize| (self.vertices[v].place, self.mean_at(bins, v, &weighted));
        parallel::map(self.vertices.len(), PLACES, mean)
    }

    /// The crack at the vertex of the greatest tension in [`Averaging::means_at_vertices`], the
    /// first of equals, if it exceeds `strength`, Pa; [`Crack::find`] if the radius is not a valid
    /// length. Computes only the means that may exceed it.
    ///
    /// # Panics
    /// If there is not one stress per tetrahedron of `mesh`, which must be the mesh passed to
    /// `new`.
    pub fn crack(&self, mesh: &TetMesh, stresses: &[Matrix3<f64>], strength: f64) -> Option<Crack> {
        let Some(bins) = &self.bins else { return Crack::find(mesh, stresses, strength) };
        assert_eq!(stresses.len(), self.places.len(), "one stress per tetrahedron");
        let may_crack = self.candidates(bins, stresses, strength);
        if may_crack.is_empty() {
            return None;
        }
        let weighted = self.weighted(bins, stresses);
        let mean = |n: usize| (may_crack[n], self.mean_at(bins, may_crack[n], &weighted));
        let means = parallel::map(may_crack.len(), PLACES, mean);
        let Tension { number: v, size: tension, direction: normal } =
            worst(means.iter().map(|(v, stress)| (*v, stress)), strength)?;
        let tet = self.around(v).iter().map(|&n| bins.items[n as usize]).min()?;
        Some(Crack { tet: tet as usize, tension, origin: self.vertices[v].place, normal })
    }

    /// The tetrahedra at a vertex.
    fn around(&self, v: usize) -> &[u32] {
        let start = v.checked_sub(1).map_or(0, |before| self.vertices[before].end);
        &self.touching[start as usize..self.vertices[v].end as usize]
    }

    fn mean_at(&self, bins: &Bins, v: usize, weighted: &[Weighted]) -> Matrix3<f64> {
        let place = &self.vertices[v].place;
        let mut sum = self.sum(bins, place, weighted);
        for &n in self.around(v) {
            let n = n as usize;
            if (self.places[n] - place).norm_squared() > self.reach * self.reach {
                sum.iter_mut().zip(&weighted[n]).for_each(|(sum, part)| *sum += part);
            }
        }
        mean(&sum)
    }

    /// The vertices whose mean may exceed `strength`: the excess around the vertex must outweigh
    /// the deficit, in some direction. The excess is summed over all cubes that the radius can
    /// reach from the vertex's cube, the deficit over those that it covers from any point in that
    /// cube.
    fn candidates(&self, bins: &Bins, stresses: &[Matrix3<f64>], strength: f64) -> Vec<usize> {
        let excess = |(&tet, volume): (&u32, &f64)| {
            (tension_bound(&stresses[tet as usize]) - strength) * volume
        };
        let excesses: Vec<f64> = bins.items.iter().zip(&self.volumes).map(excess).collect();
        if !excesses.iter().any(|x| *x > 0.0) {
            return Vec::new();
        }
        let sum = |of: fn(f64) -> f64| -> Vec<f64> {
            let bin = |ends: &[u32]| {
                excesses[ends[0] as usize..ends[1] as usize].iter().map(|x| of(*x)).sum()
            };
            bins.starts.windows(2).map(bin).collect()
        };
        let ratio = self.reach / bins.size;
        let above = bins.around(sum(|x| x.max(0.0)), ratio.ceil() as usize);
        // only cubes up to a diagonal less than the radius are entirely within it
        let inner = ratio / 3.0_f64.sqrt() - 1.0;
        let below = (inner >= 0.0).then(|| bins.around(sum(|x| (-x).max(0.0)), inner as usize));
        let rounding = 1e-9 * excesses.iter().map(|x| x.abs()).sum::<f64>();
        let may_crack = |v: &usize| {
            let cube = bins.key(bins.cell(&self.vertices[*v].place)) as usize;
            let short = below.as_ref().map_or(0.0, |below| below[cube]);
            let far = |n: &u32| excesses[*n as usize].max(0.0);
            above[cube] + rounding > short || self.around(*v).iter().map(far).sum::<f64>() > short
        };
        (0..self.vertices.len()).filter(may_crack).collect()
    }

    fn weighted(&self, bins: &Bins, stresses: &[Matrix3<f64>]) -> Vec<Weighted> {
        assert_eq!(stresses.len(), self.places.len(), "one stress per tetrahedron");
        let pairs = bins.items.iter().zip(&self.volumes);
        let weigh = |(&tet, &v): (&u32, &f64)| {
            let s = stresses[tet as usize] * v;
            [s.m11, s.m22, s.m33, s.m21, s.m31, s.m32, v, 0.0]
        };
        pairs.map(weigh).collect()
    }

    /// The sum over the tetrahedra within the radius of a point.
    fn sum(&self, bins: &Bins, place: &Point3<f64>, weighted: &[Weighted]) -> Weighted {
        let square = self.reach * self.reach;
        let mut sum = [0.0; 8];
        bins.visit_near(place, self.reach, |range| {
            // locals stay in registers, references do not
            let mut own = sum;
            for (other, part) in self.places[range.clone()].iter().zip(&weighted[range]) {
                // branch-free: a branch would be mispredicted half of the time
                let is_near = f64::from(u8::from((other - place).norm_squared() <= square));
                for (sum, part) in own.iter_mut().zip(part) {
                    *sum += part * is_near;
                }
            }
            sum = own;
        });
        sum
    }
}

fn mean([xx, yy, zz, yx, zx, zy, volume, _]: &Weighted) -> Matrix3<f64> {
    Matrix3::new(*xx, *yx, *zx, *yx, *yy, *zy, *zx, *zy, *zz) / *volume
}

/// [`Averaging::means`] for a single use.
///
/// # Panics
/// If there is not one stress per tetrahedron.
pub fn average_stresses(
    mesh: &TetMesh,
    stresses: &[Matrix3<f64>],
    radius: f64,
) -> Vec<Matrix3<f64>> {
    assert_eq!(stresses.len(), mesh.tets.len(), "one stress per tetrahedron");
    Averaging::new(mesh, radius).means(stresses)
}

/// Points sorted into cubes along x, y and z.
#[derive(Clone, Debug)]
struct Bins {
    low: Point3<f64>,
    size: f64,
    dims: [usize; 3],
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Bins {
    /// Cubes per radius. Not an integer, so that rounding puts nothing beyond the last cube.
    const PER_RADIUS: f64 = 3.9;
    /// Maximum number of cubes along twice the radius.
    const MAX_SLABS: usize = 9;
    /// Maximum number of cubes per point.
    const MAX_CUBES: usize = 4;

    /// Cubes over the bounding box of the vertices; `None` if the radius is not a valid length.
    fn new(places: &[Point3<f64>], bounds: &levelset::Aabb, radius: f64) -> Option<Self> {
        let extents = bounds.extents();
        let mut size = radius / Self::PER_RADIUS;
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        let cubes = |size: f64| [0, 1, 2].map(|axis| (extents[axis] / size).floor() + 1.0);
        while cubes(size).iter().product::<f64>() > (Self::MAX_CUBES * places.len()) as f64 {
            size *= 1.25;
        }
        let dims = cubes(size).map(|count| count as usize);
        let mut bins = Self { low: bounds.min, size, dims, starts: Vec::new(), items: Vec::new() };
        let mut keyed: Vec<(u32, u32)> =
            places.iter().enumerate().map(|(n, p)| (bins.key(bins.cell(p)), n as u32)).collect();
        keyed.sort_unstable();
        bins.starts = vec![0; dims.iter().product::<usize>() + 1];
        keyed.iter().for_each(|(key, _)| bins.starts[*key as usize + 1] += 1);
        for key in 1..bins.starts.len() {
            bins.starts[key] += bins.starts[key - 1];
        }
        bins.items = keyed.into_iter().map(|e| e.1).collect();
        Some(bins)
    }

    fn cell(&self, place: &Point3<f64>) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.slab(axis, place[axis]))
    }

    fn slab(&self, axis: usize, at: f64) -> usize {
        // negative values saturate to 0
        (((at - self.low[axis]) / self.size) as usize).min(self.dims[axis] - 1)
    }

    fn key(&self, [i, j, k]: [usize; 3]) -> u32 {
        ((i * self.dims[1] + j) * self.dims[2] + k) as u32
    }

    /// Visits ranges of items that together cover all within `radius` of a point.
    fn visit_near(
        &self,
        place: &Point3<f64>,
        radius: f64,
        mut visit: impl FnMut(std::ops::Range<usize>),
    ) {
        // a margin for rounding
        let square = radius * radius * (1.0 + 1e-9);
        let slabs = [0, 1, 2].map(|axis| {
            self.slab(axis, place[axis] - radius)..self.slab(axis, place[axis] + radius) + 1
        });
        let gap = |axis: usize, slab: usize| {
            let from = self.low[axis] + slab as f64 * self.size;
            (from - place[axis]).max(place[axis] - from - self.size).max(0.0).powi(2)
        };
        let mut gaps = [f64::INFINITY; Self::MAX_SLABS];
        for (gap_of, slab) in gaps.iter_mut().zip(slabs[2].clone()) {
            *gap_of = gap(2, slab);
        }
        let middle = self.slab(2, place.z) - slabs[2].start;
        for i in slabs[0].clone() {
            let left = square - gap(0, i);
            for j in slabs[1].clone() {
                let left = left - gap(1, j);
                if left < 0.0 {
                    continue;
                }
                let before = gaps[..middle].iter().rev().take_while(|gap| **gap <= left).count();
                let after = gaps[middle + 1..].iter().take_while(|gap| **gap <= left).count();
                let cube = self.key([i, j, slabs[2].start + middle]) as usize;
                visit(self.starts[cube - before] as usize..self.starts[cube + after + 1] as usize);
            }
        }
    }

    /// The sums over all cubes at most `half` cubes away along each axis.
    fn around(&self, mut values: Vec<f64>, half: usize) -> Vec<f64> {
        let [nx, ny, nz] = self.dims;
        let mut line = Vec::new();
        for (count, stride) in [(nz, 1), (ny, nz), (nx, ny * nz)] {
            for n in 0..nx * ny * nz / count {
                let first = n / stride * (stride * count) + n % stride;
                line.clear();
                line.extend((0..count).map(|k| values[first + k * stride]));
                let mut sum: f64 = line[..half.min(count)].iter().sum();
                for k in 0..count {
                    sum += line.get(k + half).copied().unwrap_or(0.0);
                    values[first + k * stride] = sum;
                    sum -= k.checked_sub(half).map_or(0.0, |gone| line[gone]);
                }
            }
        }
        values
    }
}
