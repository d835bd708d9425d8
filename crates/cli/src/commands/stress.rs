//! `brisance stress`: the static response of a tetrahedral body.

mod checks;
mod contour;
mod picture;

use std::io::{self, Write};

use levelset::{Aabb, TetMesh};
use nalgebra::{Matrix3, Point3, Vector3};
use tetfem::{
    Contact, Crack, Fields, Interpolation, LinearSolver, Material, Newton, Preconditioner,
    Structure, average_stresses, far_vertices, max_principal,
};

pub(super) use self::checks::StressError;
use self::checks::{check_loads, check_supports, no_deformation_warning};
use self::picture::{Drawing, crack_area, picture};
use crate::args::StressArguments;
use crate::commands::Failure;
use crate::commands::inputs::{ends_in, read_text};
use crate::commands::outputs::{check_distinct, check_folder, print};
use crate::commands::volume::{check_tet_output, write_tets};
use crate::loads_file::{LoadCase, read_load_case};
use crate::output::write_whole;
use crate::progress::phase;
use crate::tet_file::read_tets;
use crate::wording::{count, number, place};

/// Solves, and writes fields or a picture.
pub(super) fn run(arguments: &StressArguments) -> Result<(), Failure> {
    let StressArguments { tets: path, output, .. } = arguments;
    let is_picture = ends_in(output, "png");
    if is_picture {
        check_folder(output)?;
    } else if arguments.isolines || arguments.crack_plane || arguments.red.is_some() {
        let known = ".png, which --isolines, --crack-plane and --red require";
        return Err(Failure::Format { path: output.clone(), known });
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
    let load_case = load_case(&mesh, arguments)?;
    let failed = |source| Failure::Stress { path: path.clone(), source };
    let mut notes = check_loads(&mesh, &load_case).map_err(failed)?;
    let supports = load_case.supports.clone();
    let body = phase("assembling the finite elements", arguments.quiet, || {
        Structure::supported(mesh, supports, material, interpolation, solver(arguments))
    });
    let body = body.map_err(unusable)?;
    let loads = load_case.loads();
    let response = phase("solving for stress", arguments.quiet, || {
        if arguments.newton {
            body.respond_nonlinear(&loads, Newton::default())
        } else {
            body.respond_to_all(&loads).map_err(Into::into)
        }
    });
    let response =
        response.map_err(|source| Failure::Equilibrium { path: path.clone(), source })?;
    let is_undeformed = response.displacements.iter().all(|u| u.norm() == 0.0);
    if notes.is_empty() && is_undeformed {
        notes.extend(no_deformation_warning(&load_case).map(str::to_owned));
    }
    if !arguments.quiet {
        checks::print(&notes);
    }
    let mesh = body.mesh();
    let stresses = average_stresses(mesh, &response.stresses, arguments.averaging);
    let tensions: Vec<f64> = stresses.iter().map(max_principal).collect();
    let crack = Crack::find(mesh, &stresses, f64::NEG_INFINITY);
    if is_picture {
        let &StressArguments { red, isolines, crack_plane, .. } = arguments;
        let drawing = Drawing { red, isolines, crack_plane };
        let picture = picture(mesh, &stresses, (&tensions, crack.as_ref()), &drawing);
        write_whole(output, |out| picture.write_png(out))
            .map_err(|source| Failure::Write { path: output.clone(), source: source.into() })?;
    } else {
        let displacements = &response.displacements;
        write_tets(output, mesh, &Fields { displacements, stresses: &stresses })?;
    }
    if arguments.quiet {
        return Ok(());
    }
    print(|out| print_results(out, arguments, mesh, &stresses, crack.as_ref()))
}

/// Loads and supports of the body, from a file or from options.
fn load_case(mesh: &TetMesh, arguments: &StressArguments) -> Result<LoadCase, Failure> {
    if let Some(path) = &arguments.loads {
        let failed = |source| Failure::Loads { path: path.clone(), source };
        let load_case = read_load_case(&read_text(path)?, mesh).map_err(failed)?;
        let suggestion = || "give smaller boxes of `support`".to_owned();
        check_supports(&load_case.supports, "`support`", suggestion)
            .map_err(|source| Failure::Stress { path: path.clone(), source })?;
        return Ok(load_case);
    }
    Ok(LoadCase {
        supports: supports(mesh, arguments)?,
        contacts: contacts(arguments).into_iter().map(|contact| (contact, 0.0)).collect(),
        body_force: arguments.body_force.unwrap_or_default().into(),
        ..LoadCase::default()
    })
}

/// The vertices fixed by options.
fn supports(mesh: &TetMesh, arguments: &StressArguments) -> Result<Vec<bool>, Failure> {
    let nothing = |option, bounds| Failure::FixesNothing {
        path: arguments.tets.clone(),
        option,
        bounds: Box::new(bounds),
    };
    let unfit = |source| Failure::Stress { path: arguments.tets.clone(), source };
    let all = Aabb::around(&mesh.vertices)
        .unwrap_or(Aabb { min: Point3::origin(), max: Point3::origin() });
    if let (Some(radius), Some(at)) = (arguments.collision_radius, arguments.at) {
        let at = at.into();
        let far = far_vertices(mesh, &at, radius);
        let farthest = mesh.vertices.iter().map(|p| (p - at).norm()).fold(0.0, f64::max);
        let suggestion =
            || format!("give more than the size of tetrahedra, and less than {}", number(farthest));
        check_supports(&far, "--collision-radius", suggestion).map_err(unfit)?;
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
    let fixed: Vec<bool> =
        mesh.vertices.iter().map(|p| boxes.iter().any(|b| is_in(p, b))).collect();
    check_supports(&fixed, "--fix", || "give smaller boxes".to_owned()).map_err(unfit)?;
    Ok(fixed)
}

fn contacts(arguments: &StressArguments) -> Vec<Contact> {
    let StressArguments { at, impulse, duration, force, .. } = arguments;
    let impact = at
        .zip(*impulse)
        .map(|(at, impulse)| Contact::from_impulse(at.into(), impulse.into(), *duration));
    let forces = force.iter().map(|&[x, y, z, u, v, w]| Contact {
        place: Point3::new(x, y, z),
        force: Vector3::new(u, v, w),
    });
    impact.into_iter().chain(forces).collect()
}

fn solver(arguments: &StressArguments) -> LinearSolver {
    if arguments.cg {
        let preconditioner = Preconditioner::IncompleteCholesky;
        LinearSolver::ConjugateGradient { preconditioner, tolerance: 1e-10, max_iterations: 10_000 }
    } else {
        LinearSolver::Cholesky
    }
}

fn print_results(
    out: &mut impl Write,
    arguments: &StressArguments,
    mesh: &TetMesh,
    stresses: &[Matrix3<f64>],
    crack: Option<&Crack>,
) -> io::Result<()> {
    let tets = count(mesh.tets.len(), "tetrahedron", "tetrahedra");
    writeln!(out, "{}: {tets}", arguments.output.display())?;
    let Some(crack) = crack else { return Ok(()) };
    let at = place(&crack.origin);
    writeln!(out, "greatest tension {} Pa, at {at}", number(crack.tension))?;
    if arguments.crack_plane {
        let area = number(crack_area(mesh, crack));
        let [x, y, z] = crack.normal.data.0[0].map(number);
        writeln!(out, "crack plane through there, normal ({x}, {y}, {z}), area {area} m^2")?;
    }
    let pressure = |stress: &Matrix3<f64>| -max_principal(&-stress);
    let least = stresses.iter().map(pressure).fold(0.0_f64, f64::min);
    writeln!(out, "greatest compression {} Pa", number(-least))
}
