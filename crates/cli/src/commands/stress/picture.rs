//! Pictures of stress in shades of red: the surface, contour lines, and a body cut open along its
//! crack.

use std::sync::Arc;

use levelset::{Aabb, TetMesh};
use nalgebra::{Matrix3, Point3, Translation3, UnitVector3, Vector3};
use sim::{Look, Recording, Surface, Track};
use tetfem::{Crack, max_principal};

use super::contour::{Corner, area, clipped, isoline, section};
use crate::plot::{StressScale, with_stress_scale};
use crate::render::{Images, Picture, Subject, View, render, srgb};

/// Number of shades of red.
const SHADES: usize = 16;
/// Width and height of the image, pixels.
const SIZE: [usize; 2] = [960, 720];
/// Fraction of the image width for the body, centered; the color bar needs the rest.
const CLEAR: f64 = 0.82;
/// Default direction from the body to the camera; replaced if a section would look too narrow from
/// there.
const DEFAULT_VIEW_DIRECTION: [f64; 3] = [0.42, 0.36, 1.0];
/// Minimum cosine between the camera direction and the normal of a section.
const MIN_VIEW_COSINE: f64 = 0.8;
/// Line width in body diagonals.
const LINE: f64 = 0.003;
/// Line color, linear.
const LINE_COLOR: [f32; 3] = [0.01, 0.01, 0.015];

/// Picture options.
#[derive(Clone, Copy)]
pub(super) struct Drawing {
    /// Tension of full red, Pa; by default the maximum in the image.
    pub(super) red: Option<f64>,
    /// Averages stress at vertices and draws contour lines.
    pub(super) isolines: bool,
    /// Cuts the body open along its crack plane.
    pub(super) crack_plane: bool,
}

/// The largest principal stress of tetrahedra as a picture with a color bar.
pub(super) fn picture(
    mesh: &TetMesh,
    stresses: &[Matrix3<f64>],
    (tensions, crack): (&[f64], Option<&Crack>),
    drawing: &Drawing,
) -> Picture {
    let crack = crack.filter(|_| drawing.crack_plane);
    let towards = crack.map_or(Vector3::from(DEFAULT_VIEW_DIRECTION), facing);
    // removes the part between the crack and the camera
    let cut = crack.map(|crack| Cut {
        crack,
        normal: if crack.normal.dot(&towards) < 0.0 { -crack.normal } else { crack.normal },
    });
    let faces = faces(mesh, stresses, tensions, drawing.isolines);
    let shown = faces.iter().flatten().map(|corner| corner.value);
    let section = cut.as_ref().map_or_else(Vec::new, |cut| cut.section(mesh, tensions));
    let greatest = shown.chain(section.iter().map(|cell| cell[0].value)).fold(0.0, f64::max);
    let red = drawing.red.unwrap_or(greatest);
    let colors: [[u8; 3]; SHADES] = std::array::from_fn(|n| shade_color(n).map(srgb));
    let scale = StressScale { colors: &colors, most: red, lines: drawing.isolines };
    let values = if drawing.isolines { scale.marks() } else { Vec::new() };
    let mut paint = TrianglesByColor::new(mesh, red);
    for face in faces {
        let normal = area(&face);
        let face = cut.as_ref().map_or(face.clone(), |cut| cut.behind(&face));
        paint.fill(&face, &normal);
        values.iter().for_each(|value| paint.line(&face, &normal, *value));
    }
    for cell in section {
        paint.fill(&cell, &area(&cell));
    }
    let recording = paint.recording();
    let aspect = CLEAR * SIZE[0] as f64 / SIZE[1] as f64;
    let view = View::fitted_from(&recording, towards, aspect);
    let subject = Subject { recording: &recording, images: &Images::default(), dust: None };
    with_stress_scale(&render(subject, &view, 0.0, SIZE), &scale)
}

/// Area of the section of the body by a crack plane, m^2.
pub(super) fn crack_area(mesh: &TetMesh, crack: &Crack) -> f64 {
    let cut = Cut { crack, normal: crack.normal };
    cut.section(mesh, &vec![0.0; mesh.tets.len()]).iter().map(|cell| area(cell).norm()).sum()
}

/// Direction to the camera for a section: the default direction, or the nearest one that shows the
/// section.
fn facing(crack: &Crack) -> Vector3<f64> {
    let towards = Vector3::from(DEFAULT_VIEW_DIRECTION).normalize();
    let normal = crack.normal.into_inner();
    let normal = if normal.dot(&towards) < 0.0 { -normal } else { normal };
    let along = towards.dot(&normal);
    let Some(aside) = (towards - normal * along).try_normalize(1e-9) else { return towards };
    if along >= MIN_VIEW_COSINE {
        towards
    } else {
        normal * MIN_VIEW_COSINE + aside * (1.0 - MIN_VIEW_COSINE * MIN_VIEW_COSINE).sqrt()
    }
}

/// A section of the body; the part in front of the plane is removed.
struct Cut<'a> {
    crack: &'a Crack,
    normal: UnitVector3<f64>,
}

impl Cut<'_> {
    fn height(&self, place: &Point3<f64>) -> f64 {
        (place - self.crack.origin).dot(&self.normal)
    }

    fn behind(&self, polygon: &[Corner]) -> Vec<Corner> {
        clipped(polygon, |corner| -self.height(&corner.place))
    }

    /// One polygon per tetrahedron on the plane, with its stress.
    fn section(&self, mesh: &TetMesh, tensions: &[f64]) -> Vec<Vec<Corner>> {
        let of = |(t, &tension): (usize, &f64)| {
            let corners = mesh.corners(t);
            section(&corners, corners.map(|p| self.height(&p)), &self.normal, tension)
        };
        tensions.iter().enumerate().map(of).filter(|cell| !cell.is_empty()).collect()
    }
}

/// The surface faces. Each has the stress of its tetrahedron or, if `smooth`, the vertex stresses,
/// which are volume-weighted averages over the adjacent tetrahedra.
fn faces(
    mesh: &TetMesh,
    stresses: &[Matrix3<f64>],
    tensions: &[f64],
    smooth: bool,
) -> Vec<Vec<Corner>> {
    let at_vertices = if smooth { at_vertices(mesh, stresses) } else { Vec::new() };
    let value = |tet: usize, v: u32| at_vertices.get(v as usize).copied().unwrap_or(tensions[tet]);
    let face = |(tet, face): (usize, [u32; 3])| {
        let corner = |v| Corner { place: mesh.vertices[v as usize], value: value(tet, v) };
        face.map(corner).to_vec()
    };
    mesh.boundary_faces_of_tets().into_iter().map(face).collect()
}

/// Largest principal stress at vertices, Pa.
fn at_vertices(mesh: &TetMesh, stresses: &[Matrix3<f64>]) -> Vec<f64> {
    let mut sums = vec![(Matrix3::zeros(), 0.0); mesh.vertices.len()];
    for (t, tet) in mesh.tets.iter().enumerate() {
        let volume = mesh.volume(t);
        for v in tet {
            let (stress, weight) = &mut sums[*v as usize];
            *stress += stresses[t] * volume;
            *weight += volume;
        }
    }
    let mean = |(stress, weight): (Matrix3<f64>, f64)| {
        if weight > 0.0 { max_principal(&(stress / weight)) } else { 0.0 }
    };
    sums.into_iter().map(mean).collect()
}

/// Linear color of a shade.
fn shade_color(n: usize) -> [f32; 3] {
    let share = n as f32 / (SHADES - 1) as f32;
    [0.8, 0.8 * (1.0 - share), 0.8 * (1.0 - share)]
}

/// Triangles by color.
struct TrianglesByColor {
    shades: Vec<Surface>,
    ink: Surface,
    /// Center of the body and origin of its tracks, since the camera frames the origins of tracks.
    center: Point3<f64>,
    /// Line width, m.
    width: f64,
    red: f64,
}

impl TrianglesByColor {
    fn new(mesh: &TetMesh, red: f64) -> Self {
        let bounds = Aabb::around(&mesh.vertices)
            .unwrap_or(Aabb { min: Point3::origin(), max: Point3::origin() });
        Self {
            shades: vec![Surface::default(); SHADES],
            ink: Surface::default(),
            center: bounds.center(),
            width: LINE * bounds.extents().norm(),
            red,
        }
    }

    /// Paints a convex polygon in the shades of its values.
    fn fill(&mut self, polygon: &[Corner], normal: &Vector3<f64>) {
        let shade = |corner: &Corner| {
            let share = if self.red > 0.0 { corner.value / self.red } else { 0.0 };
            ((share.clamp(0.0, 1.0) * SHADES as f64) as usize).min(SHADES - 1)
        };
        let first = polygon.iter().map(shade).min().unwrap_or(0);
        let last = polygon.iter().map(shade).max().unwrap_or(0);
        let step = self.red / SHADES as f64;
        for n in first..=last {
            let mut band = polygon.to_vec();
            if n > first {
                band = clipped(&band, |corner| corner.value - step * n as f64);
            }
            if n < last {
                band = clipped(&band, |corner| step * (n + 1) as f64 - corner.value);
            }
            let places: Vec<Point3<f64>> = band.iter().map(|corner| corner.place).collect();
            push(&mut self.shades[n], &places, normal, &self.center);
        }
    }

    /// Draws a contour line on a convex polygon, as a thin strip.
    fn line(&mut self, polygon: &[Corner], normal: &Vector3<f64>, value: f64) {
        let Some([from, to]) = isoline(polygon, value) else { return };
        let axes = (to - from).try_normalize(0.0).zip(normal.try_normalize(0.0));
        let Some((along, normal)) = axes else { return };
        let half = self.width / 2.0;
        let (across, along) = (normal.cross(&along) * half, along * half);
        // lifted above the polygon, and extended to overlap the next segment
        let (lift, longer) = (normal * (half / 2.0), along / 2.0);
        let (from, to) = (from - longer + lift, to + longer + lift);
        let strip = [from - across, to - across, to + across, from + across];
        push(&mut self.ink, &strip, &normal, &self.center);
    }

    fn recording(self) -> Recording {
        let colors = (0..SHADES).map(shade_color).chain([LINE_COLOR]);
        let surfaces = self.shades.into_iter().chain([self.ink]);
        let pose = Translation3::from(self.center).into();
        let track = |(n, (surface, color)): (usize, (Surface, [f32; 3]))| Track {
            name: format!("shade {n}"),
            lazy_surface: surface.into(),
            look: Arc::new(Look { color, inner_color: color, ..Look::default() }),
            parent: None,
            birth: 0,
            taken: 0,
            poses: vec![pose],
            waypoints: Vec::new(),
            shrinks: None,
            stresses: Vec::new(),
        };
        let full = surfaces.zip(colors).enumerate().filter(|(_, (s, _))| !s.outer.is_empty());
        Recording {
            fps: 30.0,
            frames: 1,
            tracks: full.map(track).collect(),
            energies: Vec::new(),
            crumbs: vec![],
            camera: None,
        }
    }
}

/// Adds a convex polygon as a fan of triangles.
fn push(
    surface: &mut Surface,
    polygon: &[Point3<f64>],
    normal: &Vector3<f64>,
    center: &Point3<f64>,
) {
    let normal = normal.try_normalize(0.0).unwrap_or_else(Vector3::y).cast::<f32>();
    let first = surface.vertices.len() as u32;
    for p in polygon {
        let place: [f32; 3] = (p - center.coords).cast::<f32>().into();
        surface.vertices.push(place);
        surface.rest.push(place);
        surface.normals.push(normal.into());
    }
    for n in 2..polygon.len() as u32 {
        surface.outer.push([first, first + n - 1, first + n]);
    }
}
