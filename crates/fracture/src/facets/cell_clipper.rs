//! Intersection of a closed surface with one convex cell, computed from the faces near the cell
//! alone.
//!
//! The faces are clipped by the planes of the cell. A cap closes the clipped surface in each plane:
//! its border is the clipped edges in that plane and the parts of the edges of the cell that lie
//! inside the solid. The winding number at each corner of the cell says which parts those are. It
//! follows from the crossings of the surface with the edges of the cell. A cell without crossings
//! takes the winding number of one corner from a ray.

use levelset::Aabb;
use nalgebra::{Point3, UnitVector3};

use super::ConvexCell;
use super::boxes::FaceBoxes;
use super::clip::ON_PLANE;
use super::surface::{Cap, Face, Facets, Tag};
use crate::cell::Plane;
use crate::hull::CellHull;

/// Planes of a cell, one bit of a word each.
const MAX_PLANES: usize = 64;
/// Marks an edge that lies in no plane of the cell.
const FREE: u8 = u8::MAX;

/// Clips one solid by cells, with buffers that are reused from cell to cell.
pub(super) struct CellClipper<'a> {
    /// Its faces are all convex.
    solid: &'a Facets,
    boxes: &'a FaceBoxes,
    bounds: Aabb,
    /// Index in `points` of each vertex of the solid, or `u32::MAX`.
    names: Vec<u32>,
    /// The vertices of the solid that have an index in `points`.
    named: Vec<u32>,
    /// Planes of the cell, each with the distance up to which a vertex counts as on it, m.
    planes: Vec<(Plane, f64)>,
    points: Vec<Point3<f64>>,
    /// Per point a bit for each plane that the point is in front of.
    in_front: Vec<u64>,
    /// Per point its distance from each plane, m.
    distances: Vec<f64>,
    /// Faces behind all planes.
    whole: Vec<Face>,
    /// Faces that cross planes, clipped by the planes processed so far.
    crossed: Vec<Polygon>,
    corners: Vec<u32>,
    /// For each of `corners` the plane that contains the edge to the next.
    edge_planes: Vec<u8>,
    /// Edges that cross the current plane, lower index first, sorted, each with its new vertex.
    crossings: Vec<([u32; 2], u32)>,
}

#[derive(Clone, Copy)]
struct Polygon {
    face: Face,
    /// The planes that the face crosses.
    planes: u64,
}

/// A point where the surface crosses an edge of the cell.
struct Crossing {
    edge: usize,
    /// Coordinate along the edge from its lower end.
    along: f64,
    vertex: u32,
    /// Change of the winding number along the edge, from its lower to its higher end.
    change: i32,
}

impl<'a> CellClipper<'a> {
    /// Clips `solid`, which has no caps. `boxes` are those of its faces, `bounds` is the box around
    /// it.
    pub(super) fn new(solid: &'a Facets, boxes: &'a FaceBoxes, bounds: Aabb) -> Self {
        Self {
            solid,
            boxes,
            bounds,
            names: vec![u32::MAX; solid.vertices.len()],
            named: Vec::new(),
            planes: Vec::new(),
            points: Vec::new(),
            in_front: Vec::new(),
            distances: Vec::new(),
            whole: Vec::new(),
            crossed: Vec::new(),
            corners: Vec::new(),
            edge_planes: Vec::new(),
            crossings: Vec::new(),
        }
    }

    /// The intersection with a cell, which may be empty. `near` contains every face that may
    /// overlap the cell. `None` if a vertex is on a plane within rounding, or the winding numbers
    /// are not 0 and 1: the caller then clips the closed surface plane by plane.
    pub(super) fn intersection(&mut self, cell: &ConvexCell<'_>, near: &[u32]) -> Option<Facets> {
        let (hull, corners) = cell.hull.as_ref()?;
        if cell.planes.len() > MAX_PLANES {
            return None;
        }
        let size = self.solid.size;
        let least = |plane: &Plane| (*plane, ON_PLANE * size.max(plane.offset.abs()));
        self.planes.clear();
        self.planes.extend(cell.planes.iter().map(least));
        let is_clear = self.gather(near);
        self.named.drain(..).for_each(|v| self.names[v as usize] = u32::MAX);
        is_clear?;
        let planes = self.crossed.iter().fold(0, |all, polygon| all | polygon.planes);
        for n in (0..cell.planes.len()).filter(|n| planes >> n & 1 == 1) {
            self.clip(n)?;
        }
        let crossings = self.crossings_of(hull, corners)?;
        let windings = self.windings(hull, corners, &crossings)?;
        self.closed(hull, corners, &crossings, &windings)
    }

    /// Adds a vertex; `None` if it lies on plane `first` or a later one.
    fn add(&mut self, p: Point3<f64>, first: usize) -> Option<u32> {
        let start = self.distances.len();
        self.distances.extend(self.planes.iter().map(|(plane, _)| plane.value(&p)));
        let own = &self.distances[start..];
        let mut in_front = 0;
        for (n, (distance, (_, least))) in own.iter().zip(&self.planes).enumerate() {
            if n >= first && distance.abs() <= *least {
                return None;
            }
            in_front |= u64::from(*distance > 0.0) << n;
        }
        self.in_front.push(in_front);
        self.points.push(p);
        Some(self.points.len() as u32 - 1)
    }

    /// Collects the faces that are not entirely in front of one plane.
    fn gather(&mut self, near: &[u32]) -> Option<()> {
        self.points.clear();
        self.in_front.clear();
        self.distances.clear();
        self.whole.clear();
        self.crossed.clear();
        self.corners.clear();
        let solid = self.solid;
        for &n in near {
            let face = solid.faces[n as usize];
            let start = self.corners.len() as u32;
            let (mut all, mut any) = (u64::MAX, 0);
            for &v in solid.corners_of(&face) {
                let mut name = self.names[v as usize];
                if name == u32::MAX {
                    name = self.add(solid.vertices[v as usize], 0)?;
                    self.names[v as usize] = name;
                    self.named.push(v);
                }
                let in_front = self.in_front[name as usize];
                (all, any) = (all & in_front, any | in_front);
                self.corners.push(name);
            }
            let face = Face { start, ..face };
            match (all, any) {
                (0, 0) => self.whole.push(face),
                (0, planes) => self.crossed.push(Polygon { face, planes }),
                _ => self.corners.truncate(start as usize),
            }
        }
        self.edge_planes.clear();
        self.edge_planes.resize(self.corners.len(), FREE);
        Some(())
    }

    /// Clips all polygons by a plane.
    fn clip(&mut self, n: usize) -> Option<()> {
        let mut crossings = std::mem::take(&mut self.crossings);
        let mut polygons = std::mem::take(&mut self.crossed);
        crossings.clear();
        for polygon in polygons.iter().filter(|polygon| polygon.planes >> n & 1 == 1) {
            crossings.extend(self.edges(&polygon.face).filter_map(|(from, to, _)| {
                let is_crossed = self.is_in_front(from, n) != self.is_in_front(to, n);
                is_crossed.then_some(([from.min(to), from.max(to)], 0))
            }));
        }
        crossings.sort_unstable();
        crossings.dedup();
        for (ends, vertex) in &mut crossings {
            let [p, q] = ends.map(|v| self.points[v as usize]);
            let [from, to] = ends.map(|v| self.distances[v as usize * self.planes.len() + n]);
            *vertex = self.add(p + (q - p) * (from / (from - to)), n + 1)?;
        }
        self.crossings = crossings;
        polygons.retain_mut(|polygon| {
            polygon.planes >> n & 1 == 0 || self.clip_polygon(&mut polygon.face, n)
        });
        self.crossed = polygons;
        Some(())
    }

    fn is_in_front(&self, v: u32, n: usize) -> bool {
        self.in_front[v as usize] >> n & 1 == 1
    }

    /// The edges of a polygon and the plane that each lies in.
    fn edges(&self, face: &Face) -> impl Iterator<Item = (u32, u32, u8)> {
        let corners = &self.corners[face.range()];
        let next = corners[1..].iter().chain(&corners[..1]);
        let ends = corners.iter().zip(next).zip(&self.edge_planes[face.range()]);
        ends.map(|((&from, &to), &plane)| (from, to, plane))
    }

    /// The part of a polygon behind a plane (Sutherland and Hodgman 1974); false if it is empty.
    fn clip_polygon(&mut self, face: &mut Face, n: usize) -> bool {
        let range = face.range();
        let count = range.clone().filter(|&k| self.is_in_front(self.corners[k], n)).count();
        if count == 0 || count == range.len() {
            return count == 0;
        }
        let start = self.corners.len() as u32;
        let last = range.end - 1;
        for k in range.clone() {
            let (from, to) =
                (self.corners[k], self.corners[if k == last { range.start } else { k + 1 }]);
            let is_behind = [from, to].map(|v| !self.is_in_front(v, n));
            if is_behind[0] {
                self.corners.push(from);
                self.edge_planes.push(self.edge_planes[k]);
            }
            if is_behind[0] != is_behind[1] {
                let ends = [from.min(to), from.max(to)];
                let found = self.crossings.binary_search_by(|(other, _)| other.cmp(&ends));
                let (_, vertex) = self.crossings[found.expect("all edges that cross were found")];
                self.corners.push(vertex);
                self.edge_planes.push(if is_behind[0] { n as u8 } else { self.edge_planes[k] });
            }
        }
        *face = Face { start, len: self.corners.len() as u32 - start, ..*face };
        true
    }

    /// Crossings of the surface with the edges of the cell, sorted by edge and along each edge.
    fn crossings_of(&self, hull: &CellHull, corners: &[Point3<f64>]) -> Option<Vec<Crossing>> {
        let mut found = Vec::new();
        for polygon in &self.crossed {
            let range = polygon.face.range();
            let mut before = self.edge_planes[range.end - 1];
            for k in range {
                let after = self.edge_planes[k];
                if before != FREE && after != FREE {
                    let vertex = self.corners[k];
                    let (edge, change) = crossed_edge(hull, [before, after])?;
                    let [low, high] = hull.edges[edge].ends.map(|c| corners[c as usize]);
                    let along = (high - low).dot(&(self.points[vertex as usize] - low));
                    found.push(Crossing { edge, along, vertex, change });
                }
                before = after;
            }
        }
        found.sort_by(|a, b| {
            a.edge.cmp(&b.edge).then(a.along.total_cmp(&b.along)).then(a.vertex.cmp(&b.vertex))
        });
        Some(found)
    }

    /// The winding number of the solid at each corner of the cell, 0 or 1.
    fn windings(
        &self,
        hull: &CellHull,
        corners: &[Point3<f64>],
        crossings: &[Crossing],
    ) -> Option<Vec<i32>> {
        let mut changes = vec![0; hull.edges.len()];
        crossings.iter().for_each(|crossing| changes[crossing.edge] += crossing.change);
        let mut windings: Vec<Option<i32>> = vec![None; corners.len()];
        *windings.first_mut()? = Some(0);
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for (edge, change) in hull.edges.iter().zip(&changes) {
                let [low, high] = edge.ends.map(|c| c as usize);
                match (windings[low], windings[high]) {
                    (Some(a), None) => windings[high] = Some(a + change),
                    (None, Some(b)) => windings[low] = Some(b - change),
                    (Some(a), Some(b)) if b != a + change => return None,
                    _ => continue,
                }
                is_changed = true;
            }
        }
        let windings: Vec<i32> = windings.into_iter().collect::<Option<_>>()?;
        let (mut least, mut most) = (0, 0);
        for own in crossings.chunk_by(|a, b| a.edge == b.edge) {
            let mut winding = windings[hull.edges[own[0].edge].ends[0] as usize];
            for crossing in own {
                (least, most) = (least.min(winding), most.max(winding));
                winding += crossing.change;
            }
            (least, most) = (least.min(winding), most.max(winding));
        }
        let outside = corners.iter().position(|p| !self.bounds.contains(p));
        let base = match (outside, most - least) {
            (Some(corner), _) => -windings[corner],
            (None, 1) => -least,
            (None, 0) => self.winding(&corners[0])?,
            _ => return None,
        };
        let is_solid = least + base >= 0 && most + base <= 1;
        is_solid.then(|| windings.into_iter().map(|winding| winding + base).collect())
    }

    /// The winding number of the solid at a point, from a ray along x.
    fn winding(&self, from: &Point3<f64>) -> Option<i32> {
        let mut end = *from;
        end.x = self.bounds.max.x.max(from.x);
        let ahead = self.boxes.near(&Aabb { min: *from, max: end });
        let faces = ahead.iter().map(|&n| &self.solid.faces[n as usize]);
        self.solid.ray_winding(from, 0, faces)
    }

    /// The clipped faces, closed by a cap in each plane of the cell.
    fn closed(
        &self,
        hull: &CellHull,
        corners: &[Point3<f64>],
        crossings: &[Crossing],
        windings: &[i32],
    ) -> Option<Facets> {
        let mut part = Facets { size: self.solid.size, ..Facets::default() };
        let mut borders: Vec<Vec<[u32; 2]>> = vec![Vec::new(); self.planes.len()];
        let mut names = vec![u32::MAX; self.points.len()];
        let crossed = self.crossed.iter().map(|polygon| &polygon.face);
        for face in self.whole.iter().chain(crossed) {
            let start = part.corners.len() as u32;
            for &v in &self.corners[face.range()] {
                let name = &mut names[v as usize];
                if *name == u32::MAX {
                    *name = part.vertices.len() as u32;
                    part.vertices.push(self.points[v as usize]);
                }
                part.corners.push(*name);
            }
            part.faces.push(Face { start, ..*face });
            for (from, to, plane) in self.edges(face).filter(|(.., plane)| *plane != FREE) {
                borders[plane as usize].push([to, from].map(|v| names[v as usize]));
            }
        }
        let meets_surface: Vec<bool> = borders.iter().map(|border| !border.is_empty()).collect();
        let mut corner_names = vec![u32::MAX; corners.len()];
        for ((name, &winding), p) in corner_names.iter_mut().zip(windings).zip(corners) {
            if winding != 0 {
                *name = part.vertices.len() as u32;
                part.vertices.push(*p);
            }
        }
        let mut crossings = crossings.iter().peekable();
        for (n, edge) in hull.edges.iter().enumerate() {
            let [low, high] = edge.ends.map(|c| c as usize);
            let planes = edge.faces.map(|face| hull.faces[face].plane);
            let (mut from, mut winding) = (corner_names[low], windings[low]);
            loop {
                let crossing = crossings.next_if(|crossing| crossing.edge == n);
                let to =
                    crossing.map_or(corner_names[high], |crossing| names[crossing.vertex as usize]);
                if winding != 0 {
                    // a solid that extends beyond the box of the pattern is not closed by it
                    borders[planes[0]?].push([from, to]);
                    borders[planes[1]?].push([to, from]);
                }
                let Some(crossing) = crossing else { break };
                (from, winding) = (to, winding + crossing.change);
            }
        }
        for (n, edges) in borders.into_iter().enumerate().filter(|(_, edges)| !edges.is_empty()) {
            let tag = Tag::plane(n);
            let face = hull.faces.iter().find(|face| face.plane == Some(n))?;
            if !meets_surface[n] && edges.len() == face.corners.len() {
                let corners = face.corners.iter().map(|&c| corner_names[c as usize]);
                part.push(&corners.collect::<Vec<_>>(), tag);
            } else {
                let normal = UnitVector3::new_unchecked(self.planes[n].0.normal);
                part.caps.push(Cap { edges, normal, tag });
            }
        }
        Some(part)
    }
}

/// The edge of the cell between two planes, and the change of the winding number along it, for a
/// vertex of a face that enters by an edge in the first plane and leaves by an edge in the second.
fn crossed_edge(hull: &CellHull, planes: [u8; 2]) -> Option<(usize, i32)> {
    let [first, second] = planes.map(|n| Some(usize::from(n)));
    hull.edges.iter().enumerate().find_map(|(n, edge)| {
        // the border of the cap in the first plane begins at the vertex: along the loop of that
        // face the winding number falls by one there
        match edge.faces.map(|face| hull.faces[face].plane) {
            [along, against] if along == first && against == second => Some((n, -1)),
            [along, against] if along == second && against == first => Some((n, 1)),
            _ => None,
        }
    })
}
