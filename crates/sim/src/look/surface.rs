//! Surfaces for rendering.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use contact::{Field, Round, Shape};
use fracture::{Break, Drawing, FaceOrigin, NoisySurface, Projector, draw};
use levelset::{ConvexHull, LevelSet, TriMesh};
use nalgebra::{Isometry3, Point3, Vector3};

use crate::look::charts::{self, Charts, Painted};
use crate::look::shading::{Shading, corners_by_vertex, fans};
use crate::{Lineage, Paint, PaintedMesh, Solid, Whole};

/// Outer triangles of one coat, with its index if they have one.
pub type CoatGroup<'a> = (Option<u32>, Cow<'a, [[u32; 3]]>);

/// A drawable triangle surface in body coordinates, m.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Vertex positions, m. Faces that meet at a sharp edge have separate vertices.
    pub vertices: Vec<[f32; 3]>,
    /// Unit normals, one per vertex.
    pub normals: Vec<[f32; 3]>,
    /// Rest position of each vertex in the whole body, m: coordinates of a solid texture,
    /// continuous across pieces.
    pub rest: Vec<[f32; 3]>,
    /// Texture coordinates, one per vertex, `v` upwards; none if the body has no texture.
    pub uvs: Vec<[f32; 2]>,
    /// Linear RGBA colors, one per vertex; none if the body has one color.
    pub colors: Vec<[f32; 4]>,
    /// Triangles of the surface of the whole body: indices, counter-clockwise from outside.
    pub outer: Vec<[u32; 3]>,
    /// Triangles of cuts.
    pub inner: Vec<[u32; 3]>,
    /// Index into [`crate::Look::coats`] of each outer triangle; empty if no triangle has a coat.
    /// An index past the end means none.
    pub coats: Vec<u32>,
}

/// The shading and paint of the whole body, for its outer faces.
#[derive(Clone, Copy)]
struct Shaded<'a> {
    shading: Option<&'a Shading>,
    painted: Option<&'a PaintedMesh>,
}

impl Surface {
    /// The surface of a body: the exact one of its solid if there is one, else by dual contouring
    /// of samples (see [`fracture::draw`]), or that of its collision shape if it has no solid or
    /// was dented and collides by its tetrahedra.
    ///
    /// `lineage` is that of a fragment, and `mesh` the source mesh of the whole body, in its
    /// material coordinates: the outer faces of sampled solids are projected onto it.
    pub fn of(
        shape: &Shape,
        solid: Option<&Solid>,
        lineage: Option<&Lineage>,
        mesh: Option<&PaintedMesh>,
    ) -> Self {
        match (solid, shape.field()) {
            // smoother than chords
            (Some(_), Field::Ball { radius }) if lineage.is_none() => Self::ball(*radius),
            // samples would join parts that a dent moved close together
            (Some(_), Field::Tets(tets)) if lineage.is_none() && mesh.is_none() => {
                Self::plain(tets.surface().clone())
            }
            (Some(solid), _) => Self::of_solid(solid, lineage, mesh),
            (None, field) => match (field, mesh) {
                (Field::Mesh(_), Some(mesh)) => Self::of_mesh(mesh),
                _ => Self::of_field(field),
            },
        }
    }

    /// The part of the surface made of some of its triangles, all of them outer ones of the part,
    /// with only the vertices that they use.
    ///
    /// # Panics
    /// If a triangle has an unknown vertex.
    pub fn part(&self, triangles: &[[u32; 3]]) -> Self {
        let mut own: Vec<u32> = triangles.as_flattened().to_vec();
        own.sort_unstable();
        own.dedup();
        let place = |v: u32| own.partition_point(|known| *known < v) as u32;
        let of = |vectors: &[[f32; 3]]| own.iter().map(|&v| vectors[v as usize]).collect();
        Self {
            vertices: of(&self.vertices),
            normals: of(&self.normals),
            rest: of(&self.rest),
            uvs: own.iter().filter_map(|&v| self.uvs.get(v as usize)).copied().collect(),
            colors: own.iter().filter_map(|&v| self.colors.get(v as usize)).copied().collect(),
            outer: triangles.iter().map(|triangle| triangle.map(place)).collect(),
            inner: Vec::new(),
            coats: Vec::new(),
        }
    }

    /// The outer triangles by their coats: those without one first, then in ascending order of
    /// indices.
    pub fn outer_by_coat(&self) -> Vec<CoatGroup<'_>> {
        if self.coats.is_empty() {
            return vec![(None, Cow::Borrowed(&self.outer[..]))];
        }
        let mut groups: BTreeMap<Option<u32>, Vec<[u32; 3]>> = BTreeMap::new();
        for (triangle, &coat) in self.outer.iter().zip(&self.coats) {
            groups.entry(Some(coat).filter(|&c| c != u32::MAX)).or_default().push(*triangle);
        }
        groups.into_iter().map(|(coat, triangles)| (coat, Cow::Owned(triangles))).collect()
    }

    fn of_solid(solid: &Solid, lineage: Option<&Lineage>, mesh: Option<&PaintedMesh>) -> Self {
        let Solid { geometry, material } = solid;
        let own;
        let whole = match lineage {
            Some(lineage) => &*lineage.whole,
            None => {
                own = Whole::new(Arc::clone(geometry));
                &own
            }
        };
        if let Some(surface) = geometry.surface() {
            let shaded = Shaded { shading: whole.shading(), painted: mesh };
            // all cuts have the noise of the first fracture: a later one must not change them
            let cuts = lineage.into_iter().flat_map(|lineage| &lineage.cuts);
            let mut noises =
                cuts.filter_map(|cut| Some((cut.pattern.drawn_noise()?, cut.at.transform())));
            return match noises.next() {
                Some((noise, at)) => {
                    Self::with_noise(&surface.with_noise(noise, &at), shaded, material)
                }
                None => Self::exact(&surface, None, shaded, material),
            };
        }
        let cuts = lineage.map_or(&[][..], |l| &l.cuts);
        let breaks: Vec<Break> = cuts
            .iter()
            .map(|cut| Break { pattern: &cut.pattern, at: cut.at, regions: &cut.regions })
            .collect();
        let body = whole.geometry().level_set();
        let mut drawing = draw(geometry.level_set(), body, &breaks);
        let near = mesh.and_then(|mesh| Some((mesh, whole.projector(&mesh.mesh)?)));
        if let Some((_, projector)) = near {
            drawing.project_outer(projector);
        }
        let surface = Self::drawn(&drawing, Some(body), material);
        match near.filter(|(mesh, _)| charts::is_painted(mesh)) {
            Some((mesh, projector)) => {
                surface.repainted(&drawing, mesh, whole.charts(mesh), projector, material)
            }
            None => surface,
        }
    }

    /// Triangles with the paint of their mesh.
    fn of_mesh(painted: &PaintedMesh) -> Self {
        let mesh = painted.mesh.clone();
        let origins = (0..mesh.triangles.len() as u32).map(FaceOrigin::Outer).collect();
        let shading = Shading::new(fracture::Surface { mesh, origins });
        let shaded = Shaded { shading: Some(&shading), painted: Some(painted) };
        Self::exact(&shading.surface, None, shaded, &Isometry3::identity())
    }

    fn of_field(field: &Field) -> Self {
        match field {
            Field::Grid { level_set, material } => {
                Self::drawn(&draw(level_set, level_set, &[]), Some(level_set), material)
            }
            Field::Hull(hull) => Self::plain(hull.mesh().clone()),
            Field::Hulls(hulls) => {
                let mut all = TriMesh::default();
                for mesh in hulls.iter().map(ConvexHull::mesh) {
                    let first = all.vertices.len() as u32;
                    all.vertices.extend_from_slice(&mesh.vertices);
                    all.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| first + v)));
                }
                Self::plain(all)
            }
            Field::Round(round) => Self::round(round),
            Field::Cuboid { half } => Self::cuboid(half),
            Field::Ball { radius } => Self::ball(*radius),
            Field::HalfSpace => Self::ground(),
            Field::Mesh(triangles) => Self::plain(triangles.mesh().clone()),
            Field::Tets(tets) => Self::plain(tets.surface().clone()),
        }
    }

    /// Triangles of one material, in body coordinates.
    fn plain(mesh: TriMesh) -> Self {
        let inner = vec![false; mesh.triangles.len()];
        Self::drawn(&Drawing { mesh, inner }, None, &Isometry3::identity())
    }

    /// An exact surface with noise on its cuts.
    fn with_noise(
        NoisySurface { surface, flat }: &NoisySurface,
        shaded: Shaded<'_>,
        material: &Isometry3<f64>,
    ) -> Self {
        let mesh = &surface.mesh;
        let areas: Vec<Vector3<f64>> =
            (0..mesh.triangles.len()).map(|t| mesh.area_vector(t)).collect();
        let inner: Vec<bool> = surface.origins.iter().map(|o| *o == FaceOrigin::Cut).collect();
        let mut cuts: Vec<CutNormals> =
            flat.iter().map(|&flat| CutNormals { flat, corners: [flat; 3] }).collect();
        for corners in corners_by_vertex(mesh) {
            for fan in fans(&corners, &areas, &inner) {
                let sum: Vector3<f64> = fan.iter().map(|&(t, _)| areas[t]).sum();
                let Some(normal) = sum.try_normalize(0.0) else { continue };
                fan.iter().for_each(|&(t, corner)| cuts[t].corners[corner] = normal);
            }
        }
        Self::exact(surface, Some(&cuts), shaded, material)
    }

    /// An exact surface: cuts with the normals given, or flat ones, and outer faces with the
    /// shading and paint of the whole body. Texture coordinates of cuts are a projection along the
    /// axis that they face most, in meters.
    fn exact(
        exact: &fracture::Surface,
        cuts: Option<&[CutNormals]>,
        Shaded { shading, painted }: Shaded<'_>,
        material: &Isometry3<f64>,
    ) -> Self {
        let mesh = &exact.mesh;
        let coated = painted.filter(|painted| !painted.coat_of.is_empty());
        let painted = painted.filter(|painted| !painted.corners.is_empty());
        let [has_uvs, has_colors] = painted.map_or([false; 2], PaintedMesh::has_uvs_and_colors);
        let mut surface = Self::default();
        let mut known: Vec<Vec<(Drawn, u32)>> = vec![Vec::new(); mesh.vertices.len()];
        for (t, (triangle, origin)) in mesh.triangles.iter().zip(&exact.origins).enumerate() {
            let flat = mesh.area_vector(t).try_normalize(0.0).unwrap_or_else(Vector3::y);
            let cut = cuts.map_or(CutNormals { flat, corners: [flat; 3] }, |cuts| cuts[t]);
            let corners = std::array::from_fn(|k| {
                let v = triangle[k];
                let p = &mesh.vertices[v as usize];
                let drawn = match origin {
                    FaceOrigin::Outer(face) => Drawn::outer(*face, p, &flat, shading, painted),
                    FaceOrigin::Cut => Drawn { normal: cut.corners[k], ..Drawn::cut(p, &cut.flat) },
                };
                let known = &mut known[v as usize];
                if let Some((_, number)) = known.iter().find(|(other, _)| other.is_like(&drawn)) {
                    return *number;
                }
                let number = surface.add_vertex(p, &drawn.normal, material);
                surface.uvs.extend(has_uvs.then_some(drawn.uv));
                surface.colors.extend(has_colors.then_some(drawn.color));
                known.push((drawn, number));
                number
            });
            match origin {
                FaceOrigin::Cut => surface.inner.push(corners),
                FaceOrigin::Outer(face) => {
                    surface.outer.push(corners);
                    surface.coats.extend(coated.map(|painted| painted.coat(*face)));
                }
            }
        }
        surface
    }

    /// A drawing in material coordinates, with separate vertices at sharp edges.
    fn drawn(drawing: &Drawing, body: Option<&LevelSet>, material: &Isometry3<f64>) -> Self {
        let Drawing { mesh, inner } = drawing;
        let areas: Vec<Vector3<f64>> =
            (0..mesh.triangles.len()).map(|t| mesh.area_vector(t)).collect();
        let mut surface = Self::default();
        let mut triangles = mesh.triangles.clone();
        for (vertex, corners) in corners_by_vertex(mesh).into_iter().enumerate() {
            let p = mesh.vertices[vertex];
            for fan in fans(&corners, &areas, inner) {
                let sum: Vector3<f64> = fan.iter().map(|&(t, _)| areas[t]).sum();
                let normal = sum.try_normalize(1e-300).unwrap_or_else(Vector3::y);
                // the gradient of the whole body, so that shading is continuous across pieces
                let smooth = body.and_then(|body| body.normal(&p));
                let smooth = smooth.filter(|n| !inner[fan[0].0] && n.dot(&normal) > ALIKE);
                let normal = smooth.map_or(normal, nalgebra::Unit::into_inner);
                let number = surface.add_vertex(&p, &normal, material);
                for (t, corner) in fan {
                    triangles[t][corner] = number;
                }
            }
        }
        for (triangle, &inner) in triangles.into_iter().zip(inner) {
            if inner { surface.inner.push(triangle) } else { surface.outer.push(triangle) }
        }
        surface
    }

    /// The surface of [`Self::drawn`] with the paint of the mesh: outer triangles have that of its
    /// nearest points, cuts that of exact surfaces.
    fn repainted(
        &self,
        Drawing { mesh, inner }: &Drawing,
        painted: &PaintedMesh,
        charts: &Charts,
        projector: &Projector,
        material: &Isometry3<f64>,
    ) -> Self {
        let [has_uvs, has_colors] = painted.has_uvs_and_colors();
        let mut surface = Self::default();
        let mut known: Vec<Vec<(Drawn, u32)>> = vec![Vec::new(); self.vertices.len()];
        let [mut outer, mut cuts] = [self.outer.iter(), self.inner.iter()];
        for (t, &inner) in inner.iter().enumerate() {
            let Some(numbers) = (if inner { cuts.next() } else { outer.next() }) else { break };
            let places = mesh.corners(t);
            let flat = mesh.area_vector(t).try_normalize(0.0).unwrap_or_else(Vector3::y);
            let own = if inner { None } else { charts.paint(painted, projector, &places) };
            let corners = std::array::from_fn(|k| {
                let number = numbers[k] as usize;
                let normal = Vector3::from(self.normals[number]).cast();
                let normal = material.transform_vector(&normal);
                let paint = own.as_ref().map(|own| own.corners[k]).unwrap_or_default();
                let drawn = match inner {
                    true => Drawn { normal, ..Drawn::cut(&places[k], &flat) },
                    false => Drawn::sampled(&paint, normal),
                };
                if let Some((_, known)) =
                    known[number].iter().find(|(other, _)| other.is_like(&drawn))
                {
                    return *known;
                }
                let new = surface.add_vertex(&places[k], &drawn.normal, material);
                surface.uvs.extend(has_uvs.then_some(drawn.uv));
                surface.colors.extend(has_colors.then_some(drawn.color));
                known[number].push((drawn, new));
                new
            });
            if inner {
                surface.inner.push(corners);
            } else {
                surface.outer.push(corners);
                let coat = own.map_or(u32::MAX, |Painted { coat, .. }| coat);
                surface.coats.extend((!painted.coat_of.is_empty()).then_some(coat));
            }
        }
        surface
    }

    /// Adds a vertex given in material coordinates.
    fn add_vertex(
        &mut self,
        p: &Point3<f64>,
        normal: &Vector3<f64>,
        material: &Isometry3<f64>,
    ) -> u32 {
        self.vertices.push(material.inverse_transform_point(p).cast::<f32>().into());
        self.normals.push(material.inverse_transform_vector(normal).cast::<f32>().into());
        self.rest.push(p.cast::<f32>().into());
        self.vertices.len() as u32 - 1
    }

    /// Six faces of four vertices each.
    fn cuboid(half: &Vector3<f64>) -> Self {
        let mut surface = Self::default();
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let mut normal = Vector3::zeros();
                normal[axis] = sign;
                let u = Vector3::ith((axis + 1) % 3, sign);
                let v = Vector3::ith((axis + 2) % 3, 1.0);
                let corner = |s: f64, t: f64| (normal + u * s + v * t).component_mul(half);
                surface.add_quad(
                    [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
                    &normal,
                );
            }
        }
        surface
    }

    /// A ball by circles of latitude.
    fn ball(radius: f64) -> Self {
        const RINGS: u32 = 24;
        let mut surface = Self::default();
        for ring in 0..=RINGS {
            let (sine, cosine) = match ring {
                // the poles are points
                RINGS => (0.0, -1.0),
                ring => libm::sincos(f64::from(ring) / f64::from(RINGS) * PI),
            };
            for sector in 0..=SECTORS {
                let normal = turned(Vector3::new(sine, cosine, 0.0), sector);
                surface.add_vertex(&(normal * radius).into(), &normal, &Isometry3::identity());
            }
        }
        let row = SECTORS + 1;
        for at in (0..RINGS).flat_map(|ring| (0..SECTORS).map(move |s| ring * row + s)) {
            // the first and last rings are triangles: the poles are points
            if at >= row {
                surface.outer.push([at, at + row, at + 1]);
            }
            if at < (RINGS - 1) * row {
                surface.outer.push([at + 1, at + row, at + row + 1]);
            }
        }
        surface
    }

    /// Bands around the axis, with sharp edges unless the solid is rounded.
    fn round(round: &Round) -> Self {
        let [low, high] = round.rims();
        let spacing = match round.rounding() {
            rounding if rounding > 0.0 => rounding * PI / f64::from(SECTORS / 2),
            // one part of the outline at a time
            _ => 2.0 * (high.height - low.height + low.radius + high.radius),
        };
        let mut surface = Self::default();
        for pair in round.section(spacing).windows(2) {
            let first = surface.vertices.len() as u32;
            let [[r, y], [s, z]] = [pair[0], pair[1]];
            let flat =
                Vector3::new(z - y, r - s, 0.0).try_normalize(0.0).unwrap_or_else(Vector3::y);
            for sector in 0..=SECTORS {
                for [radius, height] in [[r, y], [s, z]] {
                    let p = Vector3::new(radius, height, 0.0);
                    let normal = match round.rounding() {
                        rounding if rounding > 0.0 => round.distance_and_normal(&p.into()).1,
                        _ => flat,
                    };
                    let (p, normal) = (turned(p, sector), turned(normal, sector));
                    surface.add_vertex(&p.into(), &normal, &Isometry3::identity());
                }
            }
            for at in (0..SECTORS).map(|sector| first + 2 * sector) {
                // at the axis one side is a point
                if r > 0.0 {
                    surface.outer.push([at, at + 2, at + 1]);
                }
                if s > 0.0 {
                    surface.outer.push([at + 1, at + 2, at + 3]);
                }
            }
        }
        surface
    }

    /// Half the edge of the square that represents an infinite plane, m.
    const ENDLESS: f64 = 50.0;

    /// Whether it is the square of an infinite plane, which faces y and contains the origin.
    pub fn is_endless(&self) -> bool {
        let half = Self::ENDLESS as f32;
        let is_corner = |v: &[f32; 3]| v[1] == 0.0 && v[0].abs() == half && v[2].abs() == half;
        self.outer.len() == 2 && self.inner.is_empty() && self.vertices.iter().all(is_corner)
    }

    /// A square large enough to look infinite.
    fn ground() -> Self {
        let mut surface = Self::default();
        let corner = |x: f64, z: f64| Vector3::new(x * Self::ENDLESS, 0.0, z * Self::ENDLESS);
        surface.add_quad(
            [corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, -1.0)],
            &Vector3::y(),
        );
        surface
    }

    fn add_quad(&mut self, corners: [Vector3<f64>; 4], normal: &Vector3<f64>) {
        let [a, b, c, d] =
            corners.map(|p| self.add_vertex(&p.into(), normal, &Isometry3::identity()));
        self.outer.push([a, b, c]);
        self.outer.push([a, c, d]);
    }
}

/// Sectors of round surfaces.
const SECTORS: u32 = 48;

/// A vector in the xy plane rotated about the y axis by `sector` sectors: the last of them ends
/// where the first begins, to the bit, so that programs that weld equal positions find no gap.
fn turned(v: Vector3<f64>, sector: u32) -> Vector3<f64> {
    let (sine, cosine) = libm::sincos(f64::from(sector % SECTORS) / f64::from(SECTORS) * TAU);
    // the sum makes a zero positive
    Vector3::new(v.x * cosine, v.y, -v.x * sine).add_scalar(0.0)
}

/// Texture coordinates and colors with a smaller difference look the same.
const SAME_PAINT: f32 = 1e-5;

/// Normals of a triangle of a cut: that of the flat cut, and those at the corners.
#[derive(Clone, Copy)]
struct CutNormals {
    flat: Vector3<f64>,
    corners: [Vector3<f64>; 3],
}

/// The render attributes of a corner of an exact surface.
#[derive(Clone)]
struct Drawn {
    normal: Vector3<f64>,
    inner: bool,
    uv: [f32; 2],
    color: [f32; 4],
}

impl Drawn {
    /// A corner at a point of a face of the whole body, which has the normal `flat`.
    fn outer(
        face: u32,
        p: &Point3<f64>,
        flat: &Vector3<f64>,
        shading: Option<&Shading>,
        painted: Option<&PaintedMesh>,
    ) -> Self {
        let Paint { normal, uv, color } =
            painted.map_or_else(Paint::default, |painted| painted.paint(face, p));
        let shaded = || shading.map_or(*flat, |shading| shading.normal(face, p, flat));
        Self {
            normal: normal.map_or_else(shaded, nalgebra::Unit::into_inner),
            inner: false,
            uv: uv.map_or([0.0; 2], |uv| uv.cast::<f32>().into()),
            color: color.map_or([1.0; 4], |color| color.cast::<f32>().into()),
        }
    }

    /// A corner on a sampled surface with this normal. The normal of the mesh replaces it unless
    /// they differ by a large angle, as at edges.
    fn sampled(paint: &Paint, normal: Vector3<f64>) -> Self {
        let own = paint.normal.map(nalgebra::Unit::into_inner);
        Self {
            normal: own.filter(|own| own.dot(&normal) > ALIKE).unwrap_or(normal),
            inner: false,
            uv: paint.uv.map_or([0.0; 2], |uv| uv.cast::<f32>().into()),
            color: paint.color.map_or([1.0; 4], |color| color.cast::<f32>().into()),
        }
    }

    fn cut(p: &Point3<f64>, flat: &Vector3<f64>) -> Self {
        let axis = flat.iamax();
        let uv = [p[(axis + 1) % 3] as f32, p[(axis + 2) % 3] as f32];
        Self { normal: *flat, inner: true, uv, color: [1.0; 4] }
    }

    /// Whether both may share a vertex.
    fn is_like(&self, other: &Self) -> bool {
        let [u, v] = self.uv;
        let [r, g, b, a] = self.color;
        let ours = [u, v, r, g, b, a];
        let [u, v] = other.uv;
        let [r, g, b, a] = other.color;
        let is_near = |(a, b): (f32, f32)| (a - b).abs() <= SAME_PAINT;
        self.inner == other.inner
            && self.normal.dot(&other.normal) > SAME_NORMAL
            && ours.into_iter().zip([u, v, r, g, b, a]).all(is_near)
    }
}

/// Cosine of a quarter of a degree: normals with a smaller angle look the same.
const SAME_NORMAL: f64 = 0.99999;

/// Cosine of 20 degrees, the largest angle between the gradient of a level set and a face normal:
/// next to an edge the gradient mixes two faces.
const ALIKE: f64 = 0.94;
