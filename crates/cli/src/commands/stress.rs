//! `brisance stress`: the static response of a body of tetrahedra.

use std::io::{self, Write};
use std::sync::Arc;

use levelset::{Aabb, TetMesh};
use nalgebra::{Matrix3, Point3, Translation3, Vector3};
use sim::{Look, Recording, Surface, Track};
use tetfem::{
    Contact, Fields, Interpolation, LinearSolver, Material, Newton, Preconditioner, Structure,
    average_stresses, far_vertices, max_principal,
};

use crate::args::StressArguments;
use crate::commands::volume::{check_tet_output, write_tets};
use crate::commands::{Failure, check_distinct, check_folder, ends_in, print, read_text};
use crate::loads_file::{Bench, read_bench};
use crate::output::write_whole;
use crate::plot::with_stress_scale;
use crate::progress::phase;
use crate::render::{View, render, srgb};
use crate::tet_file::read_tets;
use crate::wording::{count, number, place};

/// Shades of red.
const SHADES: usize = 16;
/// Pixels of the picture.
const SIZE: [usize; 2] = [960, 720];

/// Solves, and writes fields or a picture.
pub(super) fn run(arguments: &StressArguments) -> Result<(), Failure> {
    let StressArguments { tets: path, output, .. } = arguments;
    let is_picture = ends_in(output, "png");
    if is_picture {
        check_folder(output)?;
    } else {
        check_tet_output(output, ".vtu, .msh or .png")?;
    }
    let files = crate::tet_file::files(path);
    let inputs = files.iter().map(AsRef::as_ref).chain(arguments.loads.as_deref());
    check_distinct(output, inputs)?;
    let failed = |source| Failure::MeshInfo { path: path.clone(), source };
    let mesh = read_tets(path).map_err(failed)?;
    let unusable = |source| Failure::Elastic { path: path.clone(), source };
    let material = Material::from_young(arguments.young, arguments.poisson)
        .map_err(|source| Failure::Material { source })?;
    let interpolation =
        if arguments.quadratic { Interpolation::Quadratic } else { Interpolation::Linear };
    let mut bench = bench(&mesh, arguments)?;
    let supports = std::mem::take(&mut bench.supports);
    let body = phase("assembling the finite elements", arguments.quiet, || {
        Structure::supported(mesh, supports, material, interpolation, solver(arguments))
    });
    let body = body.map_err(unusable)?;
    let loads = bench.loads();
    let response = phase("solving for stress", arguments.quiet, || {
        if arguments.newton {
            body.respond_large(&loads, Newton::default())
        } else {
            body.respond_to_all(&loads).map_err(Into::into)
        }
    });
    let response =
        response.map_err(|source| Failure::Equilibrium { path: path.clone(), source })?;
    let mesh = body.mesh();
    let stresses = average_stresses(mesh, &response.stresses, arguments.averaging);
    let tensions: Vec<f64> = stresses.iter().map(max_principal).collect();
    if is_picture {
        let greatest = tensions.iter().fold(0.0_f64, |most, t| most.max(*t));
        let red = arguments.red.unwrap_or(greatest);
        let recording = coloured(mesh, &tensions, red);
        let view = View::fitted(&recording, SIZE[0] as f64 / SIZE[1] as f64);
        let colors: [[u8; 3]; SHADES] = std::array::from_fn(|n| shade_color(n).map(srgb));
        let picture = with_stress_scale(&render(&recording, &view, 0.0, SIZE), &colors, red);
        write_whole(output, |out| picture.write_png(out))
            .map_err(|source| Failure::Write { path: output.clone(), source: source.into() })?;
    } else {
        let displacements = &response.displacements;
        write_tets(output, mesh, &Fields { displacements, stresses: &stresses })?;
    }
    if arguments.quiet {
        return Ok(());
    }
    print(|out| tell(out, arguments, mesh, (&stresses, &tensions)))
}

/// What acts on the body and what holds it, from a file or from options.
fn bench(mesh: &TetMesh, arguments: &StressArguments) -> Result<Bench, Failure> {
    if let Some(path) = &arguments.loads {
        let failed = |source| Failure::Loads { path: path.clone(), source };
        return read_bench(&read_text(path)?, mesh).map_err(failed);
    }
    Ok(Bench {
        supports: supports(mesh, arguments)?,
        contacts: contacts(arguments).into_iter().map(|contact| (contact, 0.0)).collect(),
        body_force: arguments.body_force.unwrap_or_default().into(),
        ..Bench::default()
    })
}

/// The vertices that options fix.
fn supports(mesh: &TetMesh, arguments: &StressArguments) -> Result<Vec<bool>, Failure> {
    let nothing = |option, bounds| Failure::FixesNothing {
        path: arguments.tets.clone(),
        option,
        bounds: Box::new(bounds),
    };
    let all = Aabb::around(&mesh.vertices)
        .unwrap_or(Aabb { min: Point3::origin(), max: Point3::origin() });
    if let (Some(radius), Some(at)) = (arguments.collision_radius, arguments.at) {
        let far = far_vertices(mesh, &at.into(), radius);
        return if far.contains(&true) { Ok(far) } else { Err(nothing("--collision-radius", all)) };
    }
    let boxes: Vec<Aabb> = arguments
        .fix
        .iter()
        .filter_map(|&[x, y, z, u, v, w]| Aabb::around(&[[x, y, z].into(), [u, v, w].into()]))
        .collect();
    let is_in = |p: &Point3<f64>, b: &Aabb| (0..3).all(|k| (b.min[k]..=b.max[k]).contains(&p[k]));
    if boxes.iter().any(|b| !mesh.vertices.iter().any(|p| is_in(p, b))) {
        return Err(nothing("--fix", all));
    }
    Ok(mesh.vertices.iter().map(|p| boxes.iter().any(|b| is_in(p, b))).collect())
}

fn contacts(arguments: &StressArguments) -> Vec<Contact> {
    let StressArguments { at, impulse, duration, force, .. } = arguments;
    let blow = at
        .zip(*impulse)
        .map(|(at, impulse)| Contact::from_impulse(at.into(), impulse.into(), *duration));
    let forces = force.iter().map(|&[x, y, z, u, v, w]| Contact {
        place: Point3::new(x, y, z),
        force: Vector3::new(u, v, w),
    });
    blow.into_iter().chain(forces).collect()
}

fn solver(arguments: &StressArguments) -> LinearSolver {
    if arguments.cg {
        let preconditioner = Preconditioner::IncompleteCholesky;
        LinearSolver::ConjugateGradient { preconditioner, tolerance: 1e-10, most: 10_000 }
    } else {
        LinearSolver::Cholesky
    }
}

fn tell(
    out: &mut impl Write,
    arguments: &StressArguments,
    mesh: &TetMesh,
    (stresses, tensions): (&[Matrix3<f64>], &[f64]),
) -> io::Result<()> {
    let tets = count(mesh.tets.len(), "tetrahedron", "tetrahedra");
    writeln!(out, "{}: {tets}", arguments.output.display())?;
    let worst = (0..tensions.len()).max_by(|a, b| tensions[*a].total_cmp(&tensions[*b]));
    let Some(tet) = worst else { return Ok(()) };
    let sum: Vector3<f64> = mesh.corners(tet).iter().map(|p| p.coords).sum();
    let at = sum / 4.0;
    let greatest = tensions[tet];
    let place = place(&at.into());
    writeln!(out, "greatest tension {} Pa, at {place}", number(greatest))?;
    let pressure = |stress: &Matrix3<f64>| -max_principal(&-stress);
    let least = stresses.iter().map(pressure).fold(0.0_f64, f64::min);
    writeln!(out, "greatest compression {} Pa", number(-least))
}

/// Linear color of a shade.
fn shade_color(n: usize) -> [f32; 3] {
    let share = n as f32 / (SHADES - 1) as f32;
    [0.8, 0.8 * (1.0 - share), 0.8 * (1.0 - share)]
}

/// The surface with tension in shades of red, each of which is a track.
fn coloured(mesh: &TetMesh, tensions: &[f64], red: f64) -> Recording {
    let shade = |tet: usize| {
        let share = if red > 0.0 { (tensions[tet] / red).clamp(0.0, 1.0) } else { 0.0 };
        ((share * SHADES as f64) as usize).min(SHADES - 1)
    };
    // pictures are made to fit what is around the origins of tracks
    let centre = Aabb::around(&mesh.vertices).map_or(Point3::origin(), |bounds| bounds.centre());
    let mut surfaces = vec![Surface::default(); SHADES];
    for (tet, face) in mesh.boundary_faces_of_tets() {
        let surface = &mut surfaces[shade(tet)];
        let corners = face.map(|v| mesh.vertices[v as usize] - centre.coords);
        let [a, b, c]: [Point3<f64>; 3] = corners;
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_else(Vector3::y);
        let first = surface.vertices.len() as u32;
        for p in corners {
            let place: [f32; 3] = p.cast::<f32>().into();
            surface.vertices.push(place);
            surface.rest.push(place);
            surface.normals.push(normal.cast::<f32>().into());
        }
        surface.outer.push([first, first + 1, first + 2]);
    }
    let track = |(n, surface): (usize, Surface)| {
        let colour = shade_color(n);
        Track {
            name: format!("shade {n}"),
            skin: surface.into(),
            look: Arc::new(Look { colour, inner_colour: colour, ..Look::default() }),
            parent: None,
            birth: 0,
            taken: 0,
            poses: vec![Translation3::from(centre).into()],
            shrinks: None,
            stresses: Vec::new(),
        }
    };
    let full = surfaces.into_iter().enumerate().filter(|(_, s)| !s.outer.is_empty());
    Recording {
        fps: 30.0,
        frames: 1,
        tracks: full.map(track).collect(),
        energies: Vec::new(),
        camera: None,
    }
}
