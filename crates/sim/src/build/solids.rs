//! Solids of bodies, from shapes of scenes and from meshes.

use std::collections::BTreeMap;
use std::sync::Arc;

use contact::{Field, Round, Shape, TetSolid, Triangles};
use dynamics::MassProperties;
use fracture::{ClosedMesh, Geometry};
use levelset::{Aabb, ConvexHull, Grid, LevelSet, MeshError, Moments, Sign, TetMesh, TriMesh};
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};

use super::walls::ThinWalls;
use super::{formed, terrain};
use crate::scene::{self, MeshSign};
use crate::{Cause, MeshData, PaintedMesh, RigidError, Solid, rigid};

/// The solid of a body.
pub(super) struct Solids {
    pub(super) shape: Shape,
    /// `None` for half-spaces and triangles, and for balls and boxes that cannot break.
    pub(super) solid: Option<Solid>,
    /// `None` for half-spaces and triangles.
    pub(super) mass: Option<MassProperties>,
    /// Body coordinates to those of the scene's shape.
    pub(super) frame: Isometry3<f64>,
    /// The source mesh, in the coordinates of the scene's shape.
    pub(super) mesh: Option<Arc<PaintedMesh>>,
    /// Its tetrahedra, in the same coordinates.
    pub(super) tets: Option<TetMesh>,
}

pub(super) fn surface_in<'m>(
    meshes: &'m BTreeMap<String, MeshData>,
    file: &str,
) -> Result<&'m PaintedMesh, Cause> {
    match meshes.get(file) {
        Some(MeshData::Surface(mesh)) => Ok(mesh),
        _ => Err(Cause::NoMesh { file: file.to_owned(), kind: "a surface" }),
    }
}

/// The solid of a body.
pub(super) fn solid(
    spec: &scene::Body,
    meshes: &BTreeMap<String, MeshData>,
) -> Result<Solids, Cause> {
    match &spec.shape {
        scene::Shape::Plane(plane) => {
            let normal = Unit::new_normalize(Vector3::from(plane.normal));
            let up = Vector3::y_axis();
            let rotation =
                UnitQuaternion::rotation_between_axis(&up, &normal).unwrap_or_else(|| {
                    UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
                });
            let place = Translation3::from(normal.into_inner() * plane.offset);
            Ok(scenery(Shape::half_space(), Isometry3::from_parts(place, rotation)))
        }
        scene::Shape::Trimesh(surface) => {
            of_triangles(surface, surface_in(meshes, &surface.file)?.clone())
        }
        scene::Shape::Mesh(mesh) => {
            let given = surface_in(meshes, &mesh.file)?;
            of_mesh(mesh, mirrored(given.clone(), mesh.mirror), spec.density())
        }
        scene::Shape::Svg(svg) => {
            let given = surface_in(meshes, &svg.file)?;
            of_outline(svg, mirrored(given.clone(), svg.mirror), spec.density())
        }
        scene::Shape::Pieces(pieces) => {
            Err(Cause::NoMesh { file: pieces.file.clone(), kind: "pieces" })
        }
        scene::Shape::Tets(mesh) => {
            let Some(MeshData::Tets(given)) = meshes.get(&mesh.file) else {
                return Err(Cause::NoMesh { file: mesh.file.clone(), kind: "tetrahedra" });
            };
            let tets = scaled_tets(mesh, given)?;
            let unscaled = scene::Mesh { size: None, ..mesh.clone() };
            let mut solids = of_mesh(&unscaled, tets.boundary().into(), spec.density())?;
            if mesh.collide == scene::Collide::Tets {
                solids.shape = Shape::tets(Arc::new(TetSolid::new(&tets, &solids.frame)?));
            }
            Ok(Solids { tets: Some(tets), ..solids })
        }
        scene::Shape::Heightfield(field) => of_terrain(spec, field),
        scene::Shape::Combined(_) | scene::Shape::Extruded(_) => {
            let given = |file: &str| Ok::<_, Cause>(&surface_in(meshes, file)?.mesh);
            let shape = spec.shape.with_outlines(given)?;
            let drawn = formed::mesh(&shape).map_err(|error| unless_thin(error, &shape))?;
            of_mesh(&formed::sampling(&shape), drawn.into(), spec.density())
                .map_err(|error| unless_thin(error, &shape))
        }
        scene::Shape::Polygon(polygon) => {
            of_polygon(&formed::sampling(&spec.shape), polygon, spec.density())
        }
        scene::Shape::Sphere(s) => primitive(spec, levelset::Solid::Sphere { radius: s.radius }),
        scene::Shape::Box(b) => {
            primitive(spec, levelset::Solid::Box { half_extents: b.half_extents.into() })
        }
        scene::Shape::Cylinder(c) => {
            let (radius, half_height) = (c.radius, c.half_height);
            primitive(spec, levelset::Solid::Cylinder { half_height, radius })
        }
        scene::Shape::Capsule(c) => {
            let (radius, half_height) = (c.radius, c.half_height);
            primitive(spec, levelset::Solid::Capsule { half_height, radius })
        }
        scene::Shape::Cone(c) => {
            let (radius, half_height) = (c.radius, c.half_height);
            primitive(spec, levelset::Solid::Cone { half_height, radius })
        }
        scene::Shape::Torus(t) => {
            primitive(spec, levelset::Solid::Torus { major: t.major, minor: t.minor })
        }
    }
}

/// Terrain, exact up to the size of its squares.
fn of_terrain(spec: &scene::Body, field: &scene::Heightfield) -> Result<Solids, Cause> {
    let sampling = formed::sampling(&spec.shape);
    let drawn = terrain::mesh(field, sampling.spacing.unwrap_or(f64::INFINITY));
    of_mesh(&sampling, drawn.into(), spec.density())
}

/// A solid without mass.
fn scenery(shape: Shape, frame: Isometry3<f64>) -> Solids {
    Solids { shape, solid: None, mass: None, frame, mesh: None, tets: None }
}

/// Triangles, possibly open.
fn of_triangles(spec: &scene::Trimesh, given: PaintedMesh) -> Result<Solids, Cause> {
    let given = mirrored(given, spec.mirror);
    let (mesh, _) = scaled(given.mesh, spec.size)?;
    let thickness = spec.thickness.unwrap_or(f64::INFINITY);
    let shape = Shape::mesh(Arc::new(Triangles::new(&mesh, thickness)?));
    let drawn = (!given.coats.is_empty()).then_some(PaintedMesh { mesh, ..given });
    Ok(Solids { mesh: drawn.map(Arc::new), ..scenery(shape, Isometry3::identity()) })
}

/// A primitive: its mass is that of the closed form, whether or not it can break.
fn primitive(spec: &scene::Body, solid: levelset::Solid) -> Result<Solids, Cause> {
    let half = Vector3::from(spec.shape.extents().unwrap_or_default()) / 2.0;
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let spacing = spec.shape.spacing().unwrap_or(1.0);
    let finest = Grid::finest_spacing(&bounds.extents(), scene::MARGIN, scene::MAX_NODES);
    // solids without samples may request a finer spacing than the limit
    let spacing = if spec.may_be_sampled() { spacing } else { spacing.max(finest) };
    let grid = Grid::enclosing(&bounds, spacing, scene::MARGIN, Grid::MAX_NODES)?;
    let geometry = Geometry::primitive(solid, grid)
        .ok_or_else(|| unless_thin(RigidError::Empty.into(), &spec.shape))?;
    let (mass, frame) = aligned(&solid, geometry.moments(), spec.density())?;
    // anchored bodies need their solid to find the anchored samples
    let breaks = spec.fracture.is_some() || !spec.anchors.is_empty();
    let body = Solid { geometry: Arc::new(geometry), material: frame };
    let shape = match solid {
        // balls use their radius, and boxes their faces until they break
        levelset::Solid::Sphere { radius } => Shape::ball(radius),
        levelset::Solid::Box { half_extents } if !breaks => {
            let finest = (half_extents.max() / 20.0).min(half_extents.min() / 4.0);
            Shape::cuboid(half_extents, spec.shape.given_spacing().unwrap_or(finest))
        }
        levelset::Solid::Box { .. } => body.shape(),
        // a polygonal section would not roll
        levelset::Solid::Cylinder { half_height, radius } => {
            Shape::round(Round::cylinder(half_height, radius), spacing)
        }
        levelset::Solid::Capsule { half_height, radius } => {
            Shape::round(Round::capsule(half_height, radius), spacing)
        }
        levelset::Solid::Cone { half_height, radius } => {
            Shape::round(Round::cone(half_height, radius), spacing)
        }
        _ => sampled_shape(&body).map_err(|error| unless_thin(error.into(), &spec.shape))?,
    };
    let is_exact = matches!(shape.field(), Field::Ball { .. } | Field::Cuboid { .. });
    let solid = (breaks || !is_exact).then_some(body);
    Ok(Solids { shape, solid, mass: Some(mass), frame, mesh: None, tets: None })
}

/// The mass properties of a solid whose principal axes are those of its coordinates, and its
/// center.
fn aligned(
    solid: &levelset::Solid,
    moments: &Moments,
    density: f64,
) -> Result<(MassProperties, Isometry3<f64>), RigidError> {
    let mass = moments.volume * density;
    let per_mass = match *solid {
        levelset::Solid::Sphere { radius } => Vector3::repeat(0.4 * radius.powi(2)),
        levelset::Solid::Box { half_extents } => {
            let s = half_extents.component_mul(&half_extents) / 3.0;
            Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y)
        }
        _ => moments.inertia().diagonal() / moments.volume,
    };
    let mass = MassProperties::new(mass, per_mass * mass)?;
    Ok((mass, Isometry3::from_parts(moments.center().into(), UnitQuaternion::identity())))
}

/// The samples of a solid as a collision shape.
fn sampled_shape(solid: &Solid) -> Result<Shape, RigidError> {
    let level_set = solid.geometry.level_set();
    // a body without samples would touch nothing
    level_set.inside_range().ok_or(RigidError::Empty)?;
    Ok(solid.sampled_shape(&level_set.surface_particles(level_set.grid().spacing())))
}

/// The solid of a mesh: exact if it is closed.
fn of_mesh(spec: &scene::Mesh, painted: PaintedMesh, density: f64) -> Result<Solids, Cause> {
    let (geometry, mesh) = mesh_geometry(spec, painted.mesh)?;
    let (mass, material) =
        rigid(geometry.moments(), density).map_err(|error| unless_open(error, &mesh))?;
    of_geometry(geometry, PaintedMesh { mesh, ..painted }, mass, material)
}

/// The error of a mesh that bounds no body: its open edges, if it has any.
fn unless_open(error: RigidError, mesh: &TriMesh) -> Cause {
    let edges = mesh.facts().map_or(0, |facts| facts.open_edges);
    match error {
        RigidError::Empty if edges > 0 => Cause::Open { edges },
        other => other.into(),
    }
}

/// The error of samples without a body inside: walls too thin for the samples, if it has any.
fn unless_thin(error: Cause, shape: &scene::Shape) -> Cause {
    match error {
        // a wall much thinner than a cell may leave inverted slivers
        Cause::Rigid(RigidError::Empty) | Cause::Mesh(MeshError::InsideOut { .. }) => {
            ThinWalls::of(shape).map_or(error, Cause::Walls)
        }
        other => other,
    }
}

/// The solid of the filled area of an SVG file, given with unit thickness.
fn of_outline(spec: &scene::Svg, painted: PaintedMesh, density: f64) -> Result<Solids, Cause> {
    let (sampling, mesh) = extruded(spec, painted.mesh)?;
    of_mesh(&sampling, PaintedMesh { mesh, ..painted }, density)
}

/// The surface of the filled area of an SVG file, given with unit thickness, and how it is sampled.
pub(super) fn extruded(
    spec: &scene::Svg,
    mut mesh: TriMesh,
) -> Result<(scene::Mesh, TriMesh), MeshError> {
    let bounds = Aabb::around(&mesh.vertices).ok_or(MeshError::Empty)?;
    let extents = bounds.extents();
    let scale = spec.size.map_or(1.0, |size| size / extents.x.max(extents.y));
    for p in &mut mesh.vertices {
        *p = Point3::new(scale * p.x, scale * p.y, spec.depth * p.z);
    }
    let (file, spacing, nodes) = (spec.file.clone(), spec.spacing, spec.nodes);
    Ok((scene::Mesh { file, spacing, nodes, ..scene::Mesh::default() }, mesh))
}

/// The solid of a polygon, with a principal axis along z.
fn of_polygon(spec: &scene::Mesh, polygon: &scene::Polygon, density: f64) -> Result<Solids, Cause> {
    let (geometry, mesh) = mesh_geometry(spec, polygon.mesh())?;
    let mut moments = *geometry.moments();
    // zero by symmetry; round-off would turn the axes of equal moments
    moments.first.z = 0.0;
    for k in 0..2 {
        (moments.second[(k, 2)], moments.second[(2, k)]) = (0.0, 0.0);
    }
    let (mass, material) = rigid(&moments, density)?;
    of_geometry(geometry, mesh.into(), mass, material)
}

/// The solid of an exact or sampled geometry from a mesh, with its mass and body coordinates.
fn of_geometry(
    geometry: Geometry,
    painted: PaintedMesh,
    mass: MassProperties,
    material: Isometry3<f64>,
) -> Result<Solids, Cause> {
    let solid = Solid { geometry: Arc::new(geometry), material };
    let mesh = &painted.mesh;
    let convex = if solid.geometry.is_convex() && mesh.vertices.len() <= Shape::MAX_CORNERS {
        let spacing = solid.geometry.grid().spacing();
        let hull = ConvexHull::new(&mesh.vertices).ok();
        hull.and_then(|hull| Shape::convex(&hull, spacing, &material))
    } else {
        None
    };
    Ok(Solids {
        shape: match convex {
            Some(shape) => shape,
            None => sampled_shape(&solid)?,
        },
        solid: Some(solid),
        mass: Some(mass),
        frame: material,
        mesh: Some(Arc::new(painted)),
        tets: None,
    })
}

/// The solid of a mesh, exact if it is closed and does not overlap itself, and the mesh scaled and
/// moved by `spec`.
///
/// # Errors
/// As [`sample_mesh`].
pub fn mesh_geometry(spec: &scene::Mesh, mesh: TriMesh) -> Result<(Geometry, TriMesh), Cause> {
    if is_too_thin(&mesh) {
        return Err(RigidError::Empty.into());
    }
    let (level_set, mesh) = sample_mesh(spec, mesh)?;
    let level_set = Arc::new(level_set);
    // where parts of a mesh overlap, integrals over its surface count twice
    let exact = ClosedMesh::new(mesh.clone()).ok().filter(|mesh| !mesh.mesh().overlaps_itself());
    let geometry = match exact {
        Some(exact) => Geometry::mesh(&exact, level_set),
        None => {
            let empty = || unless_open(RigidError::Empty, &mesh);
            level_set.inside_range().ok_or_else(empty)?;
            let sampled = level_set.subcell_moments();
            let points = level_set.surface_particles(level_set.grid().spacing());
            Geometry::sampled(level_set, points, sampled)
        }
    };
    Ok((geometry, mesh))
}

/// Mean thickness of a solid over its size below which cuts are lost in round-off.
const THINNEST: f64 = 1e-9;

/// Whether a mesh is closed and bounds less than the tolerance of cuts.
fn is_too_thin(mesh: &TriMesh) -> bool {
    let vertices = mesh.vertices.len();
    // an index out of range is reported later
    if mesh.triangles.iter().flatten().any(|&v| v as usize >= vertices) {
        return false;
    }
    let area: f64 = (0..mesh.triangles.len()).map(|t| mesh.area_vector(t).norm()).sum();
    let size = Aabb::around(&mesh.vertices).map_or(0.0, |bounds| bounds.extents().norm());
    let volume = mesh.signed_volume();
    volume > 0.0 && volume <= THINNEST * area * size && ClosedMesh::new(mesh.clone()).is_ok()
}

/// The level set of a mesh, and the mesh scaled and moved by `spec`.
///
/// # Errors
/// [`Cause`] if the mesh bounds no solid, or its grid cannot be created.
pub fn sample_mesh(spec: &scene::Mesh, mesh: TriMesh) -> Result<(LevelSet, TriMesh), Cause> {
    let (scaled, bounds) = scaled(mesh, spec.size)?;
    let wall = || scaled.wall_thickness().unwrap_or(f64::INFINITY);
    let known = spec.spacing.is_some() || spec.nodes.is_some();
    let wall = if known { f64::INFINITY } else { wall() };
    let spacing = scene::spacing(spec.spacing, spec.nodes, &bounds.extents(), wall);
    let grid = Grid::enclosing(&bounds, spacing, scene::MARGIN, scene::MAX_NODES)?;
    let level_set = match spec.sign {
        MeshSign::Strict => LevelSet::from_mesh(&scaled, grid, Sign::Strict),
        MeshSign::Winding => LevelSet::from_mesh(&scaled, grid, Sign::Winding),
        MeshSign::Auto => match LevelSet::from_mesh(&scaled, grid, Sign::Strict) {
            Err(MeshError::OpenEdge { .. }) => LevelSet::from_mesh(&scaled, grid, Sign::Winding),
            other => other,
        },
    };
    Ok((level_set?, scaled))
}

/// A mesh, mirrored along the axis if there is one.
pub(super) fn mirrored(mesh: PaintedMesh, axis: Option<scene::Axis>) -> PaintedMesh {
    match axis {
        Some(axis) => mesh.mirrored(axis as usize),
        None => mesh,
    }
}

/// A mesh centered at the origin and scaled to a longest extent of `size` m, or unchanged without a
/// size; with its bounding box.
pub(super) fn scaled(mesh: TriMesh, size: Option<f64>) -> Result<(TriMesh, Aabb), MeshError> {
    let bounds = Aabb::around(&mesh.vertices).ok_or(MeshError::Empty)?;
    let Some(size) = size else { return Ok((mesh, bounds)) };
    let (scale, center) = (size / bounds.extents().max(), bounds.center());
    let place = |p: &Point3<f64>| Point3::from((p - center) * scale);
    let vertices: Vec<_> = mesh.vertices.iter().map(place).collect();
    let bounds = Aabb { min: place(&bounds.min), max: place(&bounds.max) };
    Ok((TriMesh { vertices, triangles: mesh.triangles }, bounds))
}

/// Tetrahedra scaled and moved by `spec`, in one piece.
fn scaled_tets(spec: &scene::Mesh, tets: &TetMesh) -> Result<TetMesh, Cause> {
    tets.validate()?;
    let pieces = tets.components().count;
    if pieces != 1 {
        return Err(Cause::Disconnected(pieces));
    }
    let mut tets = tets.clone();
    if let Some(axis) = spec.mirror {
        tets.vertices.iter_mut().for_each(|p| p[axis as usize] = -p[axis as usize]);
        tets.tets.iter_mut().for_each(|tet| tet.swap(2, 3));
    }
    if let Some((size, bounds)) = spec.size.zip(Aabb::around(&tets.vertices)) {
        let (scale, center) = (size / bounds.extents().max(), bounds.center());
        for p in &mut tets.vertices {
            *p = Point3::from((*p - center) * scale);
        }
        // numbers may underflow
        tets.validate()?;
    }
    Ok(tets)
}
