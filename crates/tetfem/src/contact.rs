//! Surface forces as nodal loads.

use levelset::TetMesh;
use nalgebra::{Point3, Vector3};

/// A force on the surface of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Point of application, m; projected onto the surface.
    pub place: Point3<f64>,
    /// The force, N.
    pub force: Vector3<f64>,
}

impl Contact {
    /// The mean force of an impulse, kg m/s, over the duration of an impact, s (Mu01 section 2.8).
    pub fn from_impulse(place: Point3<f64>, impulse: Vector3<f64>, duration: f64) -> Self {
        Self { place, force: impulse / duration }
    }
}

/// The loads on a body during an impact.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Load<'a> {
    /// Forces on the surface.
    pub contacts: &'a [Contact],
    /// Radius over which each force is spread, m; 0 for point loads. Under a point load the stress
    /// diverges with mesh refinement, under a spread force it converges.
    pub radius: f64,
    /// Body force, such as gravity, N/m^3. Without supports it accelerates the body and causes no
    /// stress.
    pub body_force: Vector3<f64>,
    /// Pressure on the boundary faces, Pa, against their outward normals, in the order of
    /// [`TetMesh::boundary_faces`]; 0 for faces beyond its end.
    pub pressures: &'a [f64],
}

impl<'a> Load<'a> {
    /// Point loads.
    pub fn new(contacts: &'a [Contact]) -> Self {
        Self { contacts, radius: 0.0, body_force: Vector3::zeros(), pressures: &[] }
    }

    /// The same loads with forces spread over a radius.
    pub fn spread(self, radius: f64) -> Self {
        Self { radius, ..self }
    }

    pub(crate) fn is_finite(&self) -> bool {
        let finite = |x: &f64| x.is_finite();
        let contact = |c: &Contact| c.place.iter().all(finite) && c.force.iter().all(finite);
        self.contacts.iter().all(contact)
            && self.body_force.iter().chain(self.pressures).all(finite)
    }
}

/// The surface of a mesh, prepared for nearest-face queries.
pub(crate) struct Surface {
    faces: Vec<[u32; 3]>,
    /// A bounding sphere per face.
    spheres: Vec<(Point3<f64>, f64)>,
}

/// A point on a surface.
#[derive(Clone, Copy)]
pub(crate) struct Nearest {
    /// The corners of the face.
    pub(crate) face: [u32; 3],
    /// Barycentric coordinates.
    pub(crate) weights: [f64; 3],
    /// Squared distance, m^2.
    pub(crate) gap: f64,
}

impl Surface {
    pub(crate) fn new(mesh: &TetMesh) -> Self {
        let faces = mesh.boundary_faces();
        let sphere = |face: &[u32; 3]| {
            let corners = face.map(|v| mesh.vertices[v as usize]);
            let center = Point3::from(corners.iter().map(|p| p.coords).sum::<Vector3<f64>>() / 3.0);
            let square = corners.iter().map(|p| (p - center).norm_squared()).fold(0.0, f64::max);
            (center, square.sqrt())
        };
        Self { spheres: faces.iter().map(sphere).collect(), faces }
    }

    /// Spreads a force near a point over faces: calls `act` with a face, barycentric coordinates
    /// and the share of the force at this point. The pressure decreases from the nearest surface
    /// point to zero at the distance `radius`, m, on faces with similar normals. With a radius of 0
    /// the whole force acts at the nearest point.
    pub(crate) fn spread(
        &self,
        mesh: &TetMesh,
        place: &Point3<f64>,
        radius: f64,
        mut act: impl FnMut([u32; 3], [f64; 3], f64),
    ) {
        let Some(nearest) = self.nearest(mesh, place) else { return };
        if radius.is_nan() || radius <= 0.0 {
            return act(nearest.face, nearest.weights, 1.0);
        }
        let corners = |face: &[u32; 3]| face.map(|v| mesh.vertices[v as usize]);
        let normal = |[a, b, c]: [Point3<f64>; 3]| (b - a).cross(&(c - a));
        let ahead = normal(corners(&nearest.face));
        let at: Vector3<f64> =
            corners(&nearest.face).iter().zip(nearest.weights).map(|(p, w)| p.coords * w).sum();
        let mut parts: Vec<([u32; 3], [f64; 3], f64)> = Vec::new();
        for (face, (center, size)) in self.faces.iter().zip(&self.spheres) {
            let reach = radius + size;
            let across = normal(corners(face));
            if (center.coords - at).norm_squared() >= reach * reach || across.dot(&ahead) <= 0.0 {
                continue;
            }
            let count = ((PARTS * size / radius).ceil() as usize).clamp(1, MAX_PARTS);
            let area = across.norm() / (count * count) as f64;
            for weights in middles(count) {
                let point: Vector3<f64> =
                    corners(face).iter().zip(weights).map(|(p, w)| p.coords * w).sum();
                let pressure = 1.0 - (point - at).norm_squared() / (radius * radius);
                if pressure > 0.0 {
                    parts.push((*face, weights, pressure * area));
                }
            }
        }
        let whole: f64 = parts.iter().map(|part| part.2).sum();
        if whole > 0.0 {
            parts.into_iter().for_each(|(face, weights, part)| act(face, weights, part / whole));
        } else {
            act(nearest.face, nearest.weights, 1.0);
        }
    }

    /// The faces under pressure, with the forces on them, N.
    pub(crate) fn pressed(
        &self,
        mesh: &TetMesh,
        pressures: &[f64],
    ) -> impl Iterator<Item = ([u32; 3], Vector3<f64>)> {
        let bearing = self.faces.iter().zip(pressures).filter(|(_, pressure)| **pressure != 0.0);
        bearing.map(|(face, pressure)| {
            let [a, b, c] = face.map(|v| mesh.vertices[v as usize]);
            (*face, (b - a).cross(&(c - a)) * (-0.5 * pressure))
        })
    }

    /// The nearest point of the surface; of equally near faces, on the first.
    pub(crate) fn nearest(&self, mesh: &TetMesh, place: &Point3<f64>) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        let mut reach = f64::INFINITY;
        for (&face, (center, radius)) in self.faces.iter().zip(&self.spheres) {
            // a margin, so that rounding skips no nearer face
            let within = (reach + radius) * (1.0 + 1e-12);
            if (center - place).norm_squared() > within * within {
                continue;
            }
            let corners = face.map(|v| mesh.vertices[v as usize]);
            let weights = nearest(&corners, place);
            let at: Vector3<f64> = corners.iter().zip(weights).map(|(p, w)| p.coords * w).sum();
            let gap = (at - place.coords).norm_squared();
            if best.is_none_or(|best| gap < best.gap) {
                best = Some(Nearest { face, weights, gap });
                reach = gap.sqrt();
            }
        }
        best
    }
}

/// Number of subdivisions of a face edge, times the ratio of the spreading radius to the face size.
const PARTS: f64 = 6.0;
/// Maximum number of subdivisions along a face edge.
const MAX_PARTS: usize = 12;

/// Barycentric coordinates of the centroids of a triangle's parts, with its edges divided by
/// `count`.
fn middles(count: usize) -> impl Iterator<Item = [f64; 3]> {
    let third = 1.0 / (3 * count) as f64;
    (0..count).flat_map(move |i| {
        (0..2 * (count - i) - 1).map(move |j| {
            // the parts alternate between upright and inverted
            let turned = j % 2;
            let (p, q) = (3 * i + 1 + turned, 3 * (j / 2) + 1 + turned);
            let (p, q) = (p as f64 * third, q as f64 * third);
            [p, q, 1.0 - p - q]
        })
    })
}

/// Barycentric coordinates of the nearest point of a triangle.
fn nearest([a, b, c]: &[Point3<f64>; 3], place: &Point3<f64>) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, place - a);
    let (aa, bb, cross) = (ab.norm_squared(), ac.norm_squared(), ab.dot(&ac));
    let (u, v) = (ab.dot(&ap), ac.dot(&ap));
    let area = aa * bb - cross * cross;
    let (s, t) = ((bb * u - cross * v) / area, (aa * v - cross * u) / area);
    if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
        return [1.0 - s - t, s, t];
    }
    let on_edge = |from: &Point3<f64>, to: &Point3<f64>| {
        let along = to - from;
        let t = ((place - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        (t, (from + along * t - place).norm_squared())
    };
    let (t_ab, gap_ab) = on_edge(a, b);
    let (t_bc, gap_bc) = on_edge(b, c);
    let (t_ca, gap_ca) = on_edge(c, a);
    if gap_ab <= gap_bc && gap_ab <= gap_ca {
        [1.0 - t_ab, t_ab, 0.0]
    } else if gap_bc <= gap_ca {
        [0.0, 1.0 - t_bc, t_bc]
    } else {
        [t_ca, 0.0, 1.0 - t_ca]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tet_boxes::kuhn_box;

    #[test]
    fn a_force_is_spread_as_its_pressure_says() {
        let mesh = kuhn_box([10, 5, 10], Vector3::new(2.0, 1.0, 2.0));
        let surface = Surface::new(&mesh);
        let place = Point3::new(1.03, 1.2, 0.96);
        for radius in [0.05, 0.2, 0.6] {
            let (mut whole, mut middle, mut square) = (0.0, Vector3::zeros(), 0.0);
            surface.spread(&mesh, &place, radius, |face, weights, share| {
                let corners = face.map(|v| mesh.vertices[v as usize].coords);
                let at: Vector3<f64> = corners.iter().zip(weights).map(|(p, w)| p * w).sum();
                assert!((at.y - 1.0).abs() < 1e-12, "on the side that is touched");
                let arm = at - Vector3::new(place.x, 1.0, place.z);
                whole += share;
                middle += arm * share;
                square += arm.norm_squared() * share;
            });
            // of (1 - r^2 / R^2) over a disc: R^2 / 3
            let expected = radius * radius / 3.0;
            assert!((whole - 1.0).abs() < 1e-12 && middle.norm() < 0.02 * radius, "{middle}");
            assert!((square / expected - 1.0).abs() < 0.05, "{radius}: {square} {expected}");
        }
    }
}
