//! Surfaces of fragments for drawing, sharp where cuts meet the surface and each other.

use levelset::{Grid, LevelSet, Sheets, TriMesh};
use nalgebra::{Matrix3, Point3, Vector3};

use crate::{Alignment, Pattern};

/// One of the fractures that made a fragment.
#[derive(Clone, Copy, Debug)]
pub struct Break<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// Its alignment.
    pub at: Alignment,
    /// The [`Fragment::regions`](crate::Fragment::regions) of the resulting piece.
    pub regions: &'a [usize],
}

impl Break<'_> {
    /// Signed distance to the union of the regions, at a point of pattern space.
    fn value(&self, p: &Point3<f64>) -> f64 {
        let values = self.regions.iter().map(|&region| self.pattern.value(region, p));
        values.fold(f64::INFINITY, f64::min)
    }
}

/// A fragment's surface as triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Closed, wound counter-clockwise seen from outside; in the body's material space, which
    /// provides coordinates of a solid texture.
    pub mesh: TriMesh,
    /// For each triangle, whether it belongs to a cut instead of the whole body's surface.
    pub inner: Vec<bool>,
}

/// The surface of `fragment`, which came from `body` by `breaks`, the first one first.
///
/// Dual contouring (Ju, Losasso, Schaefer and Warren 2002): one vertex per sheet of the surface in
/// a voxel, so that no edge has more than two triangles (Nielson 2004), at the intersection of the
/// planes of its crossings. A crossing's plane is that of the body or of the region whose surface
/// the edge of the grid leaves first, so that edges and corners stay sharp through any number of
/// fractures. Parts between a cut and the body's surface that are too thin for a node of another
/// fragment are drawn with this one.
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

/// The planes of a sheet in a voxel, summed as the normal equations of the point nearest to all of
/// them.
#[derive(Clone, Default)]
struct Planes {
    voxel: [usize; 3],
    normals: Matrix3<f64>,
    offsets: Vector3<f64>,
    points: Vector3<f64>,
    count: f64,
}

/// A voxel that the surface crosses.
#[derive(Clone, Copy)]
struct Voxel {
    sheets: Sheets,
    /// Index of the planes of its first sheet.
    first: u32,
}

/// A quad across an edge of the grid.
struct Quad {
    vertices: [u32; 4],
    /// Intersection of the surface with the edge.
    point: Point3<f64>,
    normal: Vector3<f64>,
    inner: bool,
    /// Index of the inside node of the edge.
    inside: usize,
    /// Whether the face of the grid between each vertex and the next has two opposite corners
    /// inside: the surface crosses it twice.
    passed_twice: [bool; 4],
}

const NONE: u32 = u32::MAX;

/// Nodes are numbered with one more layer, outside, around the fragment's grid.
struct Contour<'a> {
    fragment: &'a LevelSet,
    body: &'a LevelSet,
    breaks: &'a [Break<'a>],
    dims: [usize; 3],
    /// Index of each voxel in `voxels`.
    places: Vec<u32>,
    voxels: Vec<Voxel>,
    planes: Vec<Planes>,
    quads: Vec<Quad>,
}

/// A side of a quad on a face that the surface crosses twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Passage {
    /// Vertices at both ends, the lower number first.
    ends: [u32; 2],
    /// The inside node around which the surface passes on the face.
    inside: usize,
    quad: usize,
    side: usize,
}

impl<'a> Contour<'a> {
    fn new(fragment: &'a LevelSet, body: &'a LevelSet, breaks: &'a [Break<'a>]) -> Self {
        let dims = fragment.grid().dims().map(|n| n + 2);
        let places = vec![NONE; dims.iter().product()];
        let (voxels, planes, quads) = (Vec::new(), Vec::new(), Vec::new());
        Self { fragment, body, breaks, dims, places, voxels, planes, quads }
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
        let mut around = [[1, 1], [0, 1], [0, 0], [1, 0]].map(|[du, dv]| {
            let mut voxel = low;
            voxel[u] -= du;
            voxel[v] -= dv;
            // the earlier axis of the two first
            let place = if axis == 1 { 2 * dv + du } else { 2 * du + dv };
            self.add_plane(voxel, 4 * axis + place, &crossing)
        });
        let mut passed_twice = [(v, false), (u, true), (v, true), (u, false)]
            .map(|(side, is_up)| self.passes_twice([low, high], side, is_up));
        if !leaves {
            around.reverse();
            passed_twice[..3].reverse();
        }
        let inside = self.number(if leaves { low } else { high });
        let Crossing { point, normal, inner } = crossing;
        self.quads.push(Quad { vertices: around, point, normal, inner, inside, passed_twice });
    }

    /// Whether the two inside corners of the face at a crossed edge are opposite.
    fn passes_twice(&self, edge: [[usize; 3]; 2], side: usize, is_up: bool) -> bool {
        let beside = edge.map(|mut node| {
            node[side] = if is_up { node[side] + 1 } else { node[side] - 1 };
            self.is_inside(node)
        });
        let [low, high] = edge.map(|node| self.is_inside(node));
        beside == [high, low]
    }

    fn is_inside(&self, node: [usize; 3]) -> bool {
        self.sample(node) < 0.0
    }

    fn number(&self, [i, j, k]: [usize; 3]) -> usize {
        (i * self.dims[1] + j) * self.dims[2] + k
    }

    /// Adds the plane of a crossing to the sheet that crosses an edge of a voxel. Returns the index
    /// of the sheet.
    fn add_plane(&mut self, voxel: [usize; 3], edge: usize, crossing: &Crossing) -> u32 {
        let number = self.number(voxel);
        if self.places[number] == NONE {
            self.places[number] = self.voxels.len() as u32;
            let corner = |c: usize| {
                let [x, y, z] = voxel;
                u8::from(self.is_inside([x + (c >> 2), y + (c >> 1 & 1), z + (c & 1)])) << c
            };
            let sheets = Sheets::of((0..8).map(corner).sum());
            self.voxels.push(Voxel { sheets, first: self.planes.len() as u32 });
            let fresh = (0..sheets.count).map(|_| Planes { voxel, ..Planes::default() });
            self.planes.extend(fresh);
        }
        let Voxel { sheets, first } = self.voxels[self.places[number] as usize];
        let place = first + u32::from(sheets.of_edge[edge]);
        let planes = &mut self.planes[place as usize];
        let n = crossing.normal;
        planes.normals += n * n.transpose();
        planes.offsets += n * n.dot(&crossing.point.coords);
        planes.points += crossing.point.coords;
        planes.count += 1.0;
        place
    }

    /// The first exit from the fragment on the edge from an inside to an outside node.
    fn crossing(&self, inside: [usize; 3], outside: [usize; 3]) -> Crossing {
        let (a, b) = (self.position(inside), self.position(outside));
        // either end may lie on the surface, where interpolation rounds to either side
        let zero = |x: f64, y: f64| {
            let slack = 1e-6 * (y - x);
            (x < y && x <= slack && y >= -slack).then(|| (x / (x - y)).clamp(0.0, 1.0))
        };
        let of_body = zero(self.body.value(&a), self.body.value(&b)).map(|t| (t, None));
        let mut first = of_body;
        for cut in self.breaks {
            let to_pattern = cut.at.transform().inverse();
            let value = |p: &Point3<f64>| cut.value(&(to_pattern * p));
            if let Some(t) = zero(value(&a), value(&b))
                && first.is_none_or(|(least, _)| t < least)
            {
                first = Some((t, Some(cut)));
            }
        }
        let is_cut = matches!(first, Some((_, Some(_))));
        if is_cut && of_body.is_some() && self.is_alone(inside, outside) {
            first = of_body;
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
            // along a piece that was merged or that separated by itself
            None => {
                let (x, y) = (self.sample(inside), self.sample(outside));
                let point = a + (b - a) * (x / (x - y));
                let normal = self.slope(&point, |p| self.fragment.value(p));
                Crossing { point, normal: direction(normal, b - a), inner: true }
            }
        }
    }

    /// Whether no other fragment has a node in the four voxels around an edge. The part between the
    /// cut and the body's surface is then thinner than a voxel and no other drawing has it: this
    /// fragment includes it.
    fn is_alone(&self, inside: [usize; 3], outside: [usize; 3]) -> bool {
        let range = |axis: usize| {
            let (low, high) = (inside[axis].min(outside[axis]), inside[axis].max(outside[axis]));
            if low == high { low.saturating_sub(1)..high + 2 } else { low..high + 1 }
        };
        // a node may lie on the body's surface, where interpolation rounds to either side
        let slack = 1e-6 * self.fragment.grid().spacing();
        let is_others = |node: [usize; 3]| {
            !self.is_inside(node) && self.body.value(&self.position(node)) < -slack
        };
        range(0).all(|i| range(1).all(|j| range(2).all(|k| !is_others([i, j, k]))))
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
        let mut vertices: Vec<_> = self
            .planes
            .iter()
            .map(|planes| {
                let low = self.position(planes.voxel);
                let high = self.position(planes.voxel.map(|n| n + 1));
                planes.vertex().sup(&low).inf(&high)
            })
            .collect();
        let midpoints = self.midpoints(&mut vertices);
        let mut drawing = Drawing::default();
        for (quad, midpoints) in self.quads.iter().zip(&midpoints) {
            let triangles = quad.triangles(midpoints, &vertices);
            drawing.inner.extend(std::iter::repeat_n(quad.inner, triangles.len()));
            drawing.mesh.triangles.extend(triangles);
        }
        drawing.mesh.vertices = vertices;
        drawing
    }

    /// An additional vertex on a side of each quad, or none. Where the surface crosses a face twice
    /// between the same two vertices, four quads would share an edge: one of the two passages gets
    /// a vertex in its middle instead.
    fn midpoints(&self, vertices: &mut Vec<Point3<f64>>) -> Vec<[Option<u32>; 4]> {
        let mut passages: Vec<Passage> = Vec::new();
        for (n, quad) in self.quads.iter().enumerate() {
            for side in (0..4).filter(|&side| quad.passed_twice[side]) {
                let (a, b) = (quad.vertices[side], quad.vertices[(side + 1) % 4]);
                let ends = [a.min(b), a.max(b)];
                passages.push(Passage { ends, inside: quad.inside, quad: n, side });
            }
        }
        passages.sort_unstable();
        let mut midpoints = vec![[None; 4]; self.quads.len()];
        for ends in passages.chunk_by(|p, q| p.ends == q.ends) {
            for passage in ends.chunk_by(|p, q| p.inside == q.inside).skip(1) {
                let points = passage.iter().map(|of| self.quads[of.quad].point.coords);
                let middle = points.sum::<Vector3<f64>>() / passage.len() as f64;
                for of in passage {
                    midpoints[of.quad][of.side] = Some(vertices.len() as u32);
                }
                vertices.push(middle.into());
            }
        }
        midpoints
    }
}

impl Quad {
    /// The triangles, with the additional vertices on its sides.
    fn triangles(&self, midpoints: &[Option<u32>; 4], vertices: &[Point3<f64>]) -> Vec<[u32; 3]> {
        let [a, b, c, d] = self.vertices;
        if let Some(first) = midpoints.iter().position(Option::is_some) {
            // a fan from one of these contains none of the straight sides
            let side = |side: usize| [midpoints[side % 4], Some(self.vertices[(side + 1) % 4])];
            let rim: Vec<u32> = (first..first + 4).flat_map(side).flatten().collect();
            return rim[1..].windows(2).map(|pair| [rim[0], pair[0], pair[1]]).collect();
        }
        let splits = [[[a, b, c], [a, c, d]], [[a, b, d], [b, c, d]]];
        // the diagonal that follows an edge between two faces, not the one across it
        let worst = |split: &[[u32; 3]; 2]| {
            let [x, y] = split.map(|t| facing(vertices, t, &self.normal));
            x.min(y)
        };
        let is_first = worst(&splits[0]) >= worst(&splits[1]);
        if is_first { splits[0].into() } else { splits[1].into() }
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
    /// The point nearest to all planes; along undetermined directions, nearest to the center of
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
