//! Areas bounded by lines, for outlines that are parts of combined solids.

use levelset::{Aabb, TriMesh};
use nalgebra::{Point2, Vector2};

/// An area centered at the origin, m.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outline {
    lines: Vec<[Point2<f64>; 2]>,
    /// Indices of the lines that overlap each row; rows have equal height and ascend in y.
    rows: Vec<Vec<u32>>,
    /// Half of width and height.
    pub(super) half: Vector2<f64>,
}

impl Outline {
    /// Limit of rows: more would take memory and hardly save time.
    const MAX_ROWS: usize = 1024;

    /// The outline of a solid extruded along z, symmetric about z = 0; `None` if there is none.
    pub(crate) fn of(solid: &TriMesh) -> Option<Self> {
        let half = Aabb::around(&solid.vertices)?.extents().xy() / 2.0;
        let is_front = |v: &u32| solid.vertices[*v as usize].z > 0.0;
        let front = solid.triangles.iter().filter(|triangle| triangle.iter().all(is_front));
        let mut edges: Vec<[u32; 2]> =
            front.flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        edges.sort_unstable();
        let rim = edges.iter().filter(|[a, b]| edges.binary_search(&[*b, *a]).is_err());
        let lines: Vec<_> = rim.map(|line| line.map(|v| solid.vertices[v as usize].xy())).collect();
        let count = lines.len().clamp(1, Self::MAX_ROWS);
        let mut outline = Self { lines, rows: vec![Vec::new(); count], half };
        for (n, [a, b]) in (0..).zip(&outline.lines) {
            let (first, last) = (outline.row(a.y.min(b.y)), outline.row(a.y.max(b.y)));
            outline.rows[first..=last].iter_mut().for_each(|row| row.push(n));
        }
        (half.min() > 0.0).then_some(outline)
    }

    /// The row at a height.
    fn row(&self, y: f64) -> usize {
        let share = (y + self.half.y) / (2.0 * self.half.y);
        ((share * self.rows.len() as f64).max(0.0) as usize).min(self.rows.len() - 1)
    }

    fn lines_in(&self, row: usize) -> impl Iterator<Item = &[Point2<f64>; 2]> {
        self.rows[row].iter().map(|&n| &self.lines[n as usize])
    }

    /// Signed distance, negative inside, m.
    pub(super) fn distance(&self, p: &Point2<f64>) -> f64 {
        let own = self.row(p.y);
        let height = 2.0 * self.half.y / self.rows.len() as f64;
        let mut least = f64::INFINITY;
        for step in 0..self.rows.len() {
            let [below, above] = [own.checked_sub(step), Some(own + step)];
            let rows = [below, above.filter(|&row| row < self.rows.len())];
            let mut is_near = false;
            for row in rows.into_iter().flatten() {
                let low = row as f64 * height - self.half.y;
                if (low - p.y).max(p.y - low - height) < least {
                    is_near = true;
                    let nearest = self.lines_in(row).map(|line| distance_to(line, p));
                    least = nearest.fold(least, f64::min);
                }
            }
            if !is_near {
                break;
            }
        }
        let is_crossed = |[a, b]: &&[Point2<f64>; 2]| {
            (a.y <= p.y) != (b.y <= p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x)
        };
        if self.lines_in(own).filter(is_crossed).count() % 2 == 1 { -least } else { least }
    }
}

fn distance_to([a, b]: &[Point2<f64>; 2], p: &Point2<f64>) -> f64 {
    let (along, off) = (b - a, p - a);
    let share = off.dot(&along) / along.norm_squared().max(f64::MIN_POSITIVE);
    (off - along * share.clamp(0.0, 1.0)).norm()
}

#[cfg(test)]
mod tests {
    use nalgebra::Point3;

    use super::*;

    /// A square of 2 m with a square hole of 1 m.
    fn frame() -> Outline {
        let square = |half: f64| {
            [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
                .map(|[x, y]| Point3::new(half * x, half * y, 0.5))
        };
        let vertices = [square(1.0), square(0.5)].concat();
        let side = |n: u32| {
            let next = (n + 1) % 4;
            [[n, next, 4 + next], [n, 4 + next, 4 + n]]
        };
        let solid = TriMesh { vertices, triangles: (0..4).flat_map(side).collect() };
        Outline::of(&solid).unwrap()
    }

    #[test]
    fn distances_to_a_frame_are_those_of_two_squares() {
        let frame = frame();
        assert_eq!(frame.lines.len(), 8);
        for (x, y) in (-30..=30).flat_map(|x| (-30..=30).map(move |y| (x, y))) {
            let p = Point2::new(f64::from(x) * 0.057, f64::from(y) * 0.057);
            let square = |half: f64| {
                let off = p.coords.abs().add_scalar(-half);
                off.map(|x| x.max(0.0)).norm() + off.max().min(0.0)
            };
            let expected = square(1.0).max(-square(0.5));
            let found = frame.distance(&p);
            assert!((found - expected).abs() < 1e-9, "{p}: {found}, not {expected}");
        }
    }
}
