//! The area within outlines, and its extruded solid.

use levelset::{TriMesh, Union};
use nalgebra::{Point2, Point3};
use spade::{ConstrainedDelaunayTriangulation, Triangulation};

use super::curve::Region;
use super::error::OutlineFileError;
use super::split::{Line, split};

/// Cells of the grid that corners are rounded to, from the center of the box to its farthest side:
/// nearly equal points coincide, and products of differences are integers that fit 64 bits.
const GRID: f64 = (1_u64 << 25) as f64;

/// Extrudes the area within regions from z = -0.5 to 0.5.
///
/// # Errors
/// [`OutlineFileError`] if lines cross too often, or bound no area.
pub(super) fn solid(regions: &[Region]) -> Result<TriMesh, OutlineFileError> {
    let points = || regions.iter().flat_map(|region| region.polygons.iter().flatten());
    let cell = points().map(|p| p.coords.amax()).fold(0.0, f64::max) / GRID;
    let lines = split(lines(regions, cell))?;
    let (points, triangles) = triangles(&lines)?;
    let inside = inside(regions, lines, &points, &triangles);
    if inside.is_empty() {
        return Err(OutlineFileError::Empty);
    }
    let place = |p: &[i64; 2]| Point2::new(p[0] as f64 * cell, p[1] as f64 * cell);
    Ok(extruded(&points.iter().map(place).collect::<Vec<_>>(), &inside))
}

/// The lines of closed polygons, with corners on a grid.
fn lines(regions: &[Region], cell: f64) -> Vec<Line> {
    let on_grid = |p: &Point2<f64>| [p.x, p.y].map(|x| (x / cell).round() as i64);
    let mut lines = Vec::new();
    for (region, polygons) in (0..).zip(regions.iter().map(|region| &region.polygons)) {
        for polygon in polygons {
            let next = polygon.iter().cycle().skip(1);
            let ends = polygon.iter().zip(next).map(|(a, b)| [a, b].map(on_grid));
            lines.extend(ends.filter(|[a, b]| a != b).map(|ends| Line { ends, region }));
        }
    }
    lines
}

type Triangles = (Vec<[i64; 2]>, Vec<[u32; 3]>);

/// Triangles between all corners of lines that do not cross, none of which is on both sides of a
/// line.
fn triangles(lines: &[Line]) -> Result<Triangles, OutlineFileError> {
    let mut corners: Vec<[i64; 2]> = lines.iter().flat_map(|line| line.ends).collect();
    corners.sort_unstable();
    corners.dedup();
    let number = |p: &[i64; 2]| corners.partition_point(|other| other < p);
    let mut edges: Vec<[usize; 2]> =
        lines.iter().map(|line| line.ends.map(|p| number(&p))).collect();
    edges.iter_mut().for_each(|edge| edge.sort_unstable());
    edges.sort_unstable();
    edges.dedup();
    let place = |p: &[i64; 2]| spade::Point2::new(p[0] as f64, p[1] as f64);
    let mut mesh = ConstrainedDelaunayTriangulation::<spade::Point2<f64>>::new();
    let handles: Result<Vec<_>, _> = corners.iter().map(|p| mesh.insert(place(p))).collect();
    let handles = handles.map_err(|_| OutlineFileError::Empty)?;
    for edge in edges {
        let [from, to] = edge.map(|v| handles[v]);
        mesh.try_add_constraint(from, to);
    }
    let faces = mesh.inner_faces().map(|face| face.vertices().map(|v| v.fix().index() as u32));
    Ok((corners, faces.collect()))
}

/// The triangles within regions. A sweep visits lines and triangles in order of height, so that
/// each triangle is compared only with the lines at its height.
fn inside(
    regions: &[Region],
    mut lines: Vec<Line>,
    points: &[[i64; 2]],
    triangles: &[[u32; 3]],
) -> Vec<[u32; 3]> {
    let three_times_middle =
        |triangle: &[u32; 3]| [0, 1].map(|k| triangle.iter().map(|&v| points[v as usize][k]).sum());
    let mut middles: Vec<(usize, [i64; 2])> =
        triangles.iter().map(three_times_middle).enumerate().collect();
    middles.sort_by_cached_key(|(_, [_, y])| *y);
    let heights = |line: &Line| line.ends.map(|[_, y]| 3 * y);
    let low = |line: &Line| heights(line)[0].min(heights(line)[1]);
    let high = |line: &Line| heights(line)[0].max(heights(line)[1]);
    lines.sort_by_cached_key(low);
    let mut lines = lines.into_iter().peekable();
    let mut active: Vec<Line> = Vec::new();
    let mut windings = vec![0_i64; regions.len()];
    let mut is_inside = vec![false; triangles.len()];
    for (n, place) in middles {
        active.retain(|line| high(line) > place[1]);
        while let Some(line) = lines.next_if(|line| low(line) <= place[1]) {
            active.extend(Some(line).filter(|line| high(line) > place[1]));
        }
        active.iter().for_each(|line| windings[line.region as usize] = 0);
        for line in &active {
            windings[line.region as usize] += crossing(&line.ends, place);
        }
        is_inside[n] = active.iter().any(|line| {
            let winding = windings[line.region as usize];
            let is_even_odd = regions[line.region as usize].is_even_odd;
            if is_even_odd { winding % 2 != 0 } else { winding != 0 }
        });
    }
    triangles.iter().zip(is_inside).filter(|(_, is)| *is).map(|(triangle, _)| *triangle).collect()
}

/// Contribution of a line to the winding number, counter-clockwise, at the point `[x / 3, y / 3]`:
/// not zero if the line crosses the ray from there to the right.
fn crossing(ends: &[[i64; 2]; 2], [x, y]: [i64; 2]) -> i64 {
    let [a, b] = ends.map(|end| end.map(|x| 3 * x));
    if (a[1] <= y) == (b[1] <= y) {
        return 0;
    }
    let is_up = b[1] > a[1];
    let side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
    let is_right = (side > 0) == is_up;
    if is_right { if is_up { 1 } else { -1 } } else { 0 }
}

/// Extrudes counter-clockwise triangles from z = -0.5 to 0.5 into a closed 2-manifold. Parts that
/// touch at a single point get separate vertices there.
fn extruded(points: &[Point2<f64>], triangles: &[[u32; 3]]) -> TriMesh {
    let names = names(triangles);
    let count = names.iter().max().map_or(0, |most| most + 1);
    let mut vertices = vec![Point3::origin(); 2 * count as usize];
    for (name, v) in names.iter().zip(triangles.as_flattened()) {
        let p = points[*v as usize];
        vertices[*name as usize] = Point3::new(p.x, p.y, 0.5);
        vertices[(name + count) as usize] = Point3::new(p.x, p.y, -0.5);
    }
    let top = names.as_chunks::<3>().0;
    let bottom = top.iter().map(|&[a, b, c]| [c + count, b + count, a + count]);
    let mut all = top.to_vec();
    all.extend(bottom);
    for [a, b] in rim(top) {
        all.extend([[a, a + count, b + count], [a, b + count, b]]);
    }
    TriMesh { vertices, triangles: all }
}

/// The vertex of each triangle corner. Corners at one point share a vertex if their triangles are
/// connected across edges; otherwise the vertex is split.
fn names(triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut union = Union::new(3 * triangles.len());
    let mut edges: Vec<([u32; 2], [u32; 2])> = Vec::with_capacity(3 * triangles.len());
    for (t, triangle) in (0_u32..).zip(triangles) {
        for k in 0..3 {
            let next = (k + 1) % 3;
            let (a, b) = (3 * t + k, 3 * t + next);
            let (u, v) = (triangle[k as usize], triangle[next as usize]);
            edges.push(if u < v { ([u, v], [a, b]) } else { ([v, u], [b, a]) });
        }
    }
    edges.sort_unstable();
    for pair in edges.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        (0..2).for_each(|k| union.join(pair[0].1[k], pair[1].1[k]));
    }
    union.numbered().0.into_iter().map(|name| name - 1).collect()
}

/// The boundary edges, with the triangle on their left.
fn rim(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let edges = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edges: Vec<[u32; 2]> = edges.collect();
    edges.sort_unstable();
    let is_single = |&[a, b]: &[u32; 2]| edges.binary_search(&[b, a]).is_err();
    edges.iter().copied().filter(is_single).collect()
}
