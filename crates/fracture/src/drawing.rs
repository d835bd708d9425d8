//! Surfaces of fragments for drawing, sharp where cuts meet the surface and each other.

use levelset::{Grid, LevelSet, TriMesh};
use nalgebra::{Matrix3, Point3, Vector3};

use crate::{Alignment, Pattern};

/// One of the fractures that made a fragment.
#[derive(Clone, Copy, Debug)]
pub struct Break<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// Where it was.
    pub at: Alignment,
    /// The [`Fragment::regions`](crate::Fragment::regions) of the piece that came out.
    pub regions: &'a [usize],
}

impl Break<'_> {
    /// Signed distance to what the regions hold between them, at a point of pattern space.
    fn value(&self, p: &Point3<f64>) -> f64 {
        let values = self.regions.iter().map(|&region| self.pattern.value(region, p));
        values.fold(f64::INFINITY, f64::min)
    }
}

/// A fragment's surface as triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Closed, wound counter-clockwise seen from outside; in the body's material space, which serves
    /// as coordinates of a solid texture.
    pub mesh: TriMesh,
    /// Per triangle, whether it is of a cut rather than of the whole body's surface.
    pub inner: Vec<bool>,
}

/// The surface of `fragment`, which came from `body` by `breaks`, the first break first.
///
/// Dual contouring (JLSW02): one vertex per voxel that the surface crosses, where the planes of
/// its crossings meet. A crossing's plane is that of the body or of the region whose surface the
/// edge of the grid leaves first, so edges and corners stay sharp through any number of breaks.
pub fn draw(fragment: &LevelSet, body: &LevelSet, breaks: &[Break]) -> Drawing {
    let mut contour = Contour::new(fragment, body, breaks);
    let [nx, ny, nz] = contour.dims;
    for i in 0..nx - 1 {
        for j in 0..ny - 1 {
            for k in 0..nz - 1 {
                for axis in 0..3 {
                    contour.add_edge([i, j, k], axis);
                }
            }
        }
    }
    contour.finish()
}

/// The plane of the surface at a crossing of an edge of the grid.
struct Crossing {
    point: Point3<f64>,
    normal: Vector3<f64>,
    inner: bool,
}

/// A voxel's planes, summed as the normal equations of the point nearest to all of them.
#[derive(Clone, Default)]
struct Planes {
    voxel: [usize; 3],
    normals: Matrix3<f64>,
    offsets: Vector3<f64>,
    points: Vector3<f64>,
    count: f64,
}

/// A quad across an edge of the grid.
struct Quad {
    vertices: [u32; 4],
    normal: Vector3<f64>,
    inner: bool,
}

const NONE: u32 = u32::MAX;

/// Nodes are numbered with one more layer, outside, around the fragment's grid.
struct Contour<'a> {
    fragment: &'a LevelSet,
    body: &'a LevelSet,
    breaks: &'a [Break<'a>],
    dims: [usize; 3],
    /// Per voxel its place in `planes`.
    places: Vec<u32>,
    planes: Vec<Planes>,
    quads: Vec<Quad>,
}

impl<'a> Contour<'a> {
    fn new(fragment: &'a LevelSet, body: &'a LevelSet, breaks: &'a [Break<'a>]) -> Self {
        let dims = fragment.grid().dims().map(|n| n + 2);
        let places = vec![NONE; dims.iter().product()];
        Self { fragment, body, breaks, dims, places, planes: Vec::new(), quads: Vec::new() }
    }

    fn position(&self, node: [usize; 3]) -> Point3<f64> {
        let grid: &Grid = self.fragment.grid();
        grid.origin() + Vector3::from(node.map(|n| n as f64 - 1.0)) * grid.spacing()
    }

    /// The fragment's sample; just outside in the added layer.
    fn sample(&self, node: [usize; 3]) -> f64 {
        let inner = node.map(|n| n.wrapping_sub(1));
        let sample = self.fragment.values().get(inner);
        sample.map_or(1e-3 * self.fragment.grid().spacing(), |&value| f64::from(value))
    }

    /// Adds the edge from `low` along `axis` if the surface crosses it.
    fn add_edge(&mut self, low: [usize; 3], axis: usize) {
        let mut high = low;
        high[axis] += 1;
        let leaves = self.sample(low) < 0.0;
        if leaves == (self.sample(high) < 0.0) {
            return;
        }
        let crossing = if leaves { self.crossing(low, high) } else { self.crossing(high, low) };
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        // the added layer is outside, so an inside end has voxels on all sides
        let around = [[1, 1], [0, 1], [0, 0], [1, 0]].map(|[du, dv]| {
            let mut voxel = low;
            voxel[u] -= du;
            voxel[v] -= dv;
            self.add_plane(voxel, &crossing)
        });
        let vertices = if leaves { around } else { [around[3], around[2], around[1], around[0]] };
        self.quads.push(Quad { vertices, normal: crossing.normal, inner: crossing.inner });
    }

    fn add_plane(&mut self, voxel: [usize; 3], crossing: &Crossing) -> u32 {
        let place =
            &mut self.places[(voxel[0] * self.dims[1] + voxel[1]) * self.dims[2] + voxel[2]];
        if *place == NONE {
            *place = self.planes.len() as u32;
            self.planes.push(Planes { voxel, ..Planes::default() });
        }
        let planes = &mut self.planes[*place as usize];
        let n = crossing.normal;
        planes.normals += n * n.transpose();
        planes.offsets += n * n.dot(&crossing.point.coords);
        planes.points += crossing.point.coords;
        planes.count += 1.0;
        *place
    }

    /// Where the edge from an inside to an outside node leaves the fragment first.
    fn crossing(&self, inside: [usize; 3], outside: [usize; 3]) -> Crossing {
        let (a, b) = (self.position(inside), self.position(outside));
        // either end may lie on the surface, where interpolation rounds to either side
        let zero = |x: f64, y: f64| {
            let slack = 1e-6 * (y - x);
            (x < y && x <= slack && y >= -slack).then(|| (x / (x - y)).clamp(0.0, 1.0))
        };
        let mut first = zero(self.body.value(&a), self.body.value(&b)).map(|t| (t, None));
        for cut in self.breaks {
            let to_pattern = cut.at.transform().inverse();
            let value = |p: &Point3<f64>| cut.value(&(to_pattern * p));
            if let Some(t) = zero(value(&a), value(&b))
                && first.is_none_or(|(least, _)| t < least)
            {
                first = Some((t, Some(cut)));
            }
        }
        match first {
            Some((t, cut)) => {
                let point = a + (b - a) * t;
                let normal = match cut {
                    Some(cut) => self.slope(&point, |p| {
                        let to_pattern = cut.at.transform().inverse();
                        cut.value(&(to_pattern * p))
                    }),
                    None => self.slope(&point, |p| self.body.value(p)),
                };
                Crossing { point, normal: direction(normal, b - a), inner: cut.is_some() }
            }
            // along a piece that was taken in or that parted by itself
            None => {
                let (x, y) = (self.sample(inside), self.sample(outside));
                let point = a + (b - a) * (x / (x - y));
                let normal = self.slope(&point, |p| self.fragment.value(p));
                Crossing { point, normal: direction(normal, b - a), inner: true }
            }
        }
    }

    /// Gradient by differences over a fraction of a voxel, so that sharp edges stay sharp.
    fn slope(&self, p: &Point3<f64>, value: impl Fn(&Point3<f64>) -> f64) -> Vector3<f64> {
        let step = 0.1 * self.fragment.grid().spacing();
        Vector3::from_fn(|a, _| {
            let step = Vector3::ith(a, step);
            value(&(p + step)) - value(&(p - step))
        })
    }

    fn finish(self) -> Drawing {
        let vertices: Vec<_> = self
            .planes
            .iter()
            .map(|planes| {
                let low = self.position(planes.voxel);
                let high = self.position(planes.voxel.map(|n| n + 1));
                planes.vertex().sup(&low).inf(&high)
            })
            .collect();
        let mut drawing = Drawing::default();
        for quad in &self.quads {
            let [a, b, c, d] = quad.vertices;
            let splits = [[[a, b, c], [a, c, d]], [[a, b, d], [b, c, d]]];
            // the diagonal that follows an edge between two faces, not the one across it
            let worst = |split: &[[u32; 3]; 2]| {
                let [x, y] = split.map(|t| facing(&vertices, t, &quad.normal));
                x.min(y)
            };
            let split = if worst(&splits[0]) >= worst(&splits[1]) { splits[0] } else { splits[1] };
            drawing.mesh.triangles.extend(split);
            drawing.inner.extend([quad.inner; 2]);
        }
        drawing.mesh.vertices = vertices;
        drawing
    }
}

/// Unit normal along `normal`, or along `edge` where it vanishes.
fn direction(normal: Vector3<f64>, edge: Vector3<f64>) -> Vector3<f64> {
    normal.try_normalize(1e-300).unwrap_or_else(|| edge.normalize())
}

/// Cosine between a triangle's normal and `normal`; 0 for a triangle without area.
fn facing(vertices: &[Point3<f64>], [a, b, c]: [u32; 3], normal: &Vector3<f64>) -> f64 {
    let [a, b, c] = [a, b, c].map(|n| vertices[n as usize]);
    (b - a).cross(&(c - a)).try_normalize(1e-300).map_or(0.0, |n| n.dot(normal))
}

impl Planes {
    /// The point nearest to all planes; along directions they leave open, nearest to the middle of
    /// their crossings.
    fn vertex(&self) -> Point3<f64> {
        let middle = self.points / self.count;
        let eigen = self.normals.symmetric_eigen();
        let right = self.offsets - self.normals * middle;
        let mut offset = Vector3::zeros();
        for (axis, &value) in eigen.eigenvectors.column_iter().zip(&eigen.eigenvalues) {
            // smooth curvature is below this, an edge of 30 degrees or more above
            if value > 0.05 * self.count {
                offset += axis * (axis.dot(&right) / value);
            }
        }
        Point3::from(middle + offset)
    }
}
