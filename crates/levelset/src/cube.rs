//! Topology of an isosurface in one cube of eight samples.
//!
//! Corner `c` is at `(c >> 2 & 1, c >> 1 & 1, c & 1)`. Edge `4 a + m` runs along axis `a`; `m`
//! holds the other two coordinates, the earlier axis first. A configuration has bit `c` set if
//! corner `c` is inside. Face `2 a + s` is the side `s` of axis `a`.

use std::sync::LazyLock;

/// Bit of an axis in a corner number.
const fn bit(axis: usize) -> usize {
    4 >> axis
}

/// Lower corner and axis of an edge.
pub(crate) const fn edge(e: usize) -> (usize, usize) {
    let (a, m) = (e / 4, e % 4);
    let corner = match a {
        0 => m,
        1 => (m >> 1) * 4 + (m & 1),
        _ => m * 2,
    };
    (corner, a)
}

fn edge_between(from: usize, to: usize) -> usize {
    let low = from & to;
    match from ^ to {
        4 => low,
        2 => 4 + (low >> 2) * 2 + (low & 1),
        _ => 8 + (low >> 1),
    }
}

/// Corners of a face, counter-clockwise seen from outside the cube.
pub(crate) fn ring(face: usize) -> [usize; 4] {
    let (a, side) = (face / 2, face % 2);
    let (b, c) = (bit((a + 1) % 3), bit((a + 2) % 3));
    let base = side * bit(a);
    if side == 1 {
        [base, base + b, base + b + c, base + c]
    } else {
        [base, base + c, base + b + c, base + b]
    }
}

/// Whether the inside corners of a face are its two opposite ones.
pub(crate) fn ambiguous(configuration: u8, face: usize) -> bool {
    let inside = ring(face).map(|c| configuration >> c & 1);
    inside[0] == inside[2] && inside[1] == inside[3] && inside[0] != inside[1]
}

/// Faces that an edge lies on, as bits.
fn faces_of(e: usize) -> u8 {
    let (corner, axis) = edge(e);
    (0..3).filter(|&a| a != axis).fold(0, |mask, a| {
        let side = usize::from(corner & bit(a) != 0);
        mask | 1 << (2 * a + side)
    })
}

/// A closed polygon over edge numbers, counter-clockwise seen from outside the solid.
#[derive(Clone, Copy, Default)]
pub(crate) struct Loop {
    edges: [u8; 12],
    len: usize,
}

impl Loop {
    pub(crate) fn edges(&self) -> &[u8] {
        &self.edges[..self.len]
    }

    /// The vertex to fan the polygon from so that no diagonal lies in a face of the cube, where the
    /// neighboring cube might have the same one; `None` if there is none.
    pub(crate) fn fan(&self) -> Option<usize> {
        let n = self.len;
        let clear = |from: usize| {
            let mine = faces_of(self.edges[from] as usize);
            (2..n - 1).all(|step| mine & faces_of(self.edges[(from + step) % n] as usize) == 0)
        };
        (0..n).find(|&from| clear(from))
    }
}

/// The polygons of a configuration; `joined` returns for each ambiguous face whether its two inside
/// corners are connected in it.
pub(crate) fn trace(configuration: u8, joined: impl Fn(usize) -> bool) -> ([Loop; 4], usize) {
    const NONE: u8 = 12;
    let mut next = [NONE; 12];
    let inside = |c: usize| configuration >> c & 1 == 1;
    for face in 0..6 {
        let ring = ring(face);
        let crossing = |n: usize| {
            let (from, to) = (ring[n % 4], ring[(n + 1) % 4]);
            (inside(from) != inside(to)).then(|| (edge_between(from, to), inside(to)))
        };
        let backwards = ambiguous(configuration, face) && joined(face);
        for n in 0..4 {
            let Some((enter, true)) = crossing(n) else { continue };
            // the inside corners stay on the left of the surface
            let leave = (1..4).find_map(|step| {
                let at = if backwards { n + 4 - step } else { n + step };
                crossing(at).filter(|(_, entering)| !entering)
            });
            if let Some((leave, _)) = leave {
                next[enter] = leave as u8;
            }
        }
    }
    let mut loops = [Loop::default(); 4];
    let mut count = 0;
    for start in 0..12 {
        if next[start] == NONE {
            continue;
        }
        let polygon = &mut loops[count];
        count += 1;
        let mut at = start;
        while next[at] != NONE {
            polygon.edges[polygon.len] = at as u8;
            polygon.len += 1;
            at = std::mem::replace(&mut next[at], NONE) as usize;
        }
    }
    (loops, count)
}

/// The sheets of the surface through a cube of eight samples.
///
/// If the inside corners of a face are its two opposite ones, the surface separates them, so that
/// both cubes with this face agree.
///
/// Corner `c` is at `(c >> 2 & 1, c >> 1 & 1, c & 1)`. Edge `4 a + m` runs along axis `a`; `m`
/// holds the other two coordinates, the earlier axis first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sheets {
    /// Number of the sheet through each edge; `u8::MAX` where none passes.
    pub of_edge: [u8; 12],
    /// Number of sheets, at most 4.
    pub count: u8,
}

impl Sheets {
    /// The sheets of a configuration, which has bit `c` set if corner `c` is inside.
    pub fn of(configuration: u8) -> Self {
        static ALL: LazyLock<[Sheets; 256]> = LazyLock::new(|| {
            std::array::from_fn(|configuration| {
                let (loops, count) = trace(configuration as u8, |_| false);
                let mut of_edge = [u8::MAX; 12];
                for (number, polygon) in loops[..count].iter().enumerate() {
                    for &edge in polygon.edges() {
                        of_edge[edge as usize] = number as u8;
                    }
                }
                Sheets { of_edge, count: count as u8 }
            })
        });
        ALL[configuration as usize]
    }
}

/// Triangles over edge numbers for the configurations that do not depend on sample values.
pub(crate) struct Table {
    start: [u16; 257],
    triangles: Vec<[u8; 3]>,
}

impl Table {
    /// The triangles, or `None` if the samples must decide how the corners connect.
    pub(crate) fn triangles(&self, configuration: u8) -> Option<&[[u8; 3]]> {
        let c = configuration as usize;
        let range = self.start[c] as usize..self.start[c + 1] as usize;
        (!range.is_empty()).then(|| &self.triangles[range])
    }
}

/// For each corner the lowest of the corners that it is connected to on the cube's surface.
pub(crate) fn regions(configuration: u8, joined: impl Fn(usize) -> bool) -> [usize; 8] {
    let inside = |c: usize| configuration >> c & 1;
    let mut regions = std::array::from_fn(|c| c);
    let mut unite = |a: usize, b: usize| {
        let (a, b) = (regions[a], regions[b]);
        let (low, high) = (a.min(b), a.max(b));
        regions.iter_mut().filter(|r| **r == high).for_each(|r| *r = low);
    };
    for (low, axis) in (0..12).map(edge) {
        if inside(low) == inside(low | bit(axis)) {
            unite(low, low | bit(axis));
        }
    }
    for face in (0..6).filter(|&face| ambiguous(configuration, face)) {
        let [a, b, c, d] = ring(face);
        if (inside(a) == 1) == joined(face) {
            unite(a, c);
        } else {
            unite(b, d);
        }
    }
    regions
}

/// The regions on both sides of a polygon, the inside one first.
pub(crate) fn sides(configuration: u8, polygon: &Loop, regions: &[usize; 8]) -> [usize; 2] {
    let (low, axis) = edge(polygon.edges[0] as usize);
    let high = low | bit(axis);
    let low_inside = configuration >> low & 1 == 1;
    let ends = if low_inside { [low, high] } else { [high, low] };
    ends.map(|corner| regions[corner])
}

/// Two corners on one side of the surface that are connected through the interior of the cube but
/// not on its faces, by the trilinear interpolant of the samples (Chernyaev 1995).
///
/// A slice across x is bilinear, with the x edges as its corners, and each point of it is connected
/// to one of those on its side. A path through the cube therefore leads from x edge to x edge,
/// within slices. Paths along a slice's sides are on the cube's faces. Its diagonal corners `a` and
/// `c` are connected while `a c > b d`, a quadratic in x: if it is positive at its maximum only,
/// the path is in the interior only. There is no second one: the interpolant has one saddle of each
/// kind, and that for an inside path is never below that for an outside path.
pub(crate) fn tunnel(values: &[f64; 8], regions: &[usize; 8]) -> Option<[usize; 2]> {
    let line = |v: usize| (values[v], values[v + 4] - values[v]);
    for diagonal in [[0, 1, 3, 2], [1, 0, 2, 3]] {
        let [(a, da), (b, db), (c, dc), (d, dd)] = diagonal.map(line);
        let bend = da * dc - db * dd;
        let top = (b * dd + d * db - a * dc - c * da) / (2.0 * bend);
        if bend >= 0.0 || !(0.0..=1.0).contains(&top) {
            continue;
        }
        let [p, q, r, s] = [(a, da), (b, db), (c, dc), (d, dd)].map(|(v, dv)| v + dv * top);
        let inside = p < 0.0;
        let opposed = (r < 0.0) == inside && (q < 0.0) != inside && (s < 0.0) != inside;
        if opposed && p * r > q * s {
            let ends = [diagonal[0], diagonal[2]]
                .map(|v| if (values[v] < 0.0) == inside { v } else { v + 4 });
            if regions[ends[0]] != regions[ends[1]] {
                return Some(ends);
            }
        }
    }
    None
}

/// Built once: the same for every grid.
pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { start: [0; 257], triangles: Vec::new() };
    for configuration in 0..=255u8 {
        let (loops, count) = trace(configuration, |_| false);
        // two polygons may be one surface with a hole
        if count == 1 && (0..6).all(|face| !ambiguous(configuration, face)) {
            for polygon in &loops[..count] {
                let e = polygon.edges();
                table.triangles.extend((2..e.len()).map(|n| [e[0], e[n - 1], e[n]]));
            }
        }
        table.start[configuration as usize + 1] = table.triangles.len() as u16;
    }
    table
});
