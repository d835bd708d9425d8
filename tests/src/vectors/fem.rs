//! Finite elements: each case returns its largest error, relative to the largest expected number of
//! the same kind, or infinity if values that must be equal differ.

use levelset::TetMesh;
use nalgebra::{Matrix3, Point3, Vector3};
use serde_json::Value;
use tetfem::{
    Crack, Element, Equilibrium, LinearSolver, Material, Model, Newton, Separated, Support,
    far_vertices, green_strain, linear_equilibrium, max_principal, newton_equilibrium, pieces,
    separate,
};

use super::Worst;
use super::values::{error, flat, indices, number, numbers, points, rows, vectors};
use crate::tet_boxes::kuhn_box;

fn matrix(value: &Value) -> Matrix3<f64> {
    Matrix3::from_row_slice(&numbers(value))
}

fn mesh(case: &Value) -> TetMesh {
    TetMesh { vertices: points(&case["nodes"]), tets: rows(&case["tets"]) }
}

fn material(case: &Value) -> Material {
    Material::from_young(number(&case["E"]), number(&case["nu"])).expect("a material")
}

/// Compares all cases of a file.
fn compare(
    text: &str,
    tolerance: f64,
    check: impl Fn(&Value) -> f64,
) -> Result<Worst, serde_json::Error> {
    let file: Value = serde_json::from_str(text)?;
    let mut worst = Worst::new();
    for (number, case) in file["cases"].as_array().into_iter().flatten().enumerate() {
        let name = case["name"].as_str().unwrap_or("case");
        worst.compare(format!("{name} {number}"), check(case), tolerance);
    }
    Ok(worst)
}

/// Zero if values are equal, otherwise infinite.
fn exact(equal: bool) -> f64 {
    if equal { 0.0 } else { f64::INFINITY }
}

/// Strain, stress, energy, forces, tangent and principal stresses of single tetrahedra.
pub(super) fn element(text: &str) -> Result<Worst, serde_json::Error> {
    compare(text, 1e-11, element_case)
}

fn element_case(case: &Value) -> f64 {
    let corners: [Point3<f64>; 4] = points(&case["m"]).try_into().expect("four corners");
    let places = points(&case["x"]);
    let u = [0, 1, 2, 3].map(|n| places[n] - corners[n]);
    let material = material(case);
    let element = Element::new(corners);
    let strain = green_strain(&element.displacement_gradient(&u));
    let stress = material.stress(&strain);
    let forces = element.forces(&material, &u);
    let name = case["name"].as_str().expect("a name");
    // rigid motion gives zero: the residual is relative to the moduli
    let scale = if name == "rigid_motion" { material.mu } else { 0.0 };
    let against = |found: &[f64], expected: &Value, scale: f64| {
        let mut expected = numbers(expected);
        expected.push(scale);
        error(&[found, &[scale]].concat(), &expected)
    };
    // inputs of small strain have fewer significant digits, as the file notes
    let factor = if name == "small_strain_rotated_stiff" { 1e-2 } else { 1.0 };
    let strain_scale = scale / material.mu;
    // the largest principal stress may be zero
    let size = scale.max(stress.amax());
    let mut worst = [
        factor * against(strain.as_slice(), &case["green_E"], strain_scale),
        factor * against(stress.as_slice(), &case["S"], scale),
        factor * against(&flat(&forces), &case["force"], scale),
        factor * against(&[element.energy(&material, &u)], &case["energy"], scale),
        factor * against(&[max_principal(&stress)], &case["principal_S"][0], size),
        (element.volume / number(&case["volume"]) - 1.0).abs(),
    ]
    .into_iter()
    .fold(0.0, f64::max);
    if !case["tangent"].is_null() {
        let tangent = element.tangent(&material, &u);
        let expected = numbers(&case["tangent"]);
        let found: Vec<_> =
            (0..144).map(|n| tangent[n / 36][n % 12 / 3][(n / 12 % 3, n % 3)]).collect();
        worst = worst.max(error(&found, &expected));
    }
    worst
}

/// Anchored blocks in equilibrium by Newton's method: displacements, energies and the tetrahedron
/// with the greatest tension.
pub(super) fn statics(text: &str) -> Result<Worst, serde_json::Error> {
    compare(text, 1e-8, static_case)
}

fn static_case(case: &Value) -> f64 {
    let mesh = mesh(case);
    let model = Model::new(&mesh, material(case)).expect("a valid mesh");
    let fixed = indices(&case["fixed"]);
    let supports: Vec<_> = if case["r_coll"].is_null() {
        fixed.iter().copied().map(Support::fixed).collect()
    } else {
        let impact = points(&case["impact_point"])[0];
        let far = far_vertices(&mesh, &impact, number(&case["r_coll"]));
        (0..).zip(far).filter(|(_, far)| *far).map(|(v, _)| Support::fixed(v)).collect()
    };
    let loads = vectors(&case["f_ext"]);
    let cholesky = LinearSolver::Cholesky;
    let found = newton_equilibrium(&model, &supports, &loads, cholesky, Newton::default())
        .expect("an equilibrium");
    let tensions: Vec<_> = model.stresses(&found.displacements).iter().map(max_principal).collect();
    let worst = (0..tensions.len()).fold(0, |w, t| if tensions[t] > tensions[w] { t } else { w });
    let mut errors = vec![
        exact(supports.iter().map(|s| s.node).eq(fixed)),
        exact(Some(worst as u64) == case["max_tet"].as_u64()),
        error(&flat(&found.displacements), &numbers(&case["u"])),
        error(&[model.energy(&found.displacements)], &numbers(&case["energy"])),
        error(&tensions, &numbers(&case["max_principal_S"])),
    ];
    if !case["u_linear_first_newton_step"].is_null() {
        let linear = linear_equilibrium(&model, &supports, &loads, cholesky).expect("a solution");
        let expected = numbers(&case["u_linear_first_newton_step"]);
        errors.push(error(&flat(&linear.displacements), &expected));
    }
    errors.into_iter().fold(0.0, f64::max)
}

/// Uniaxial tension, patches, hydrostatic pressure and cantilevers.
pub(super) fn analytic(text: &str) -> Result<Worst, serde_json::Error> {
    compare(text, 1e-9, |case| match case["name"].as_str() {
        Some("uniaxial_stvk") => uniaxial(case),
        Some("patch_test") => patch(case),
        Some("hydrostatic") => hydrostatic(case),
        Some("cantilever_small_load_trend") => cantilevers(case),
        _ => f64::INFINITY,
    })
}

fn equilibrium(model: &Model, supports: &[Support]) -> Equilibrium {
    let loads = vec![Vector3::zeros(); model.nodes()];
    newton_equilibrium(model, supports, &loads, LinearSolver::Cholesky, Newton::default())
        .expect("an equilibrium")
}

fn uniaxial(case: &Value) -> f64 {
    let mesh = mesh(case);
    let model = Model::new(&mesh, material(case)).expect("a valid mesh");
    let (length, stretch) = (number(&case["length"]), number(&case["stretch"]));
    let end = |p: &Point3<f64>| p.x == length;
    let supports: Vec<_> = mesh
        .vertices
        .iter()
        .enumerate()
        .map(|(node, p)| Support {
            node: node as u32,
            axes: [p.x == 0.0 || end(p), p.y == 0.0, p.z == 0.0],
            displacement: if end(p) {
                Vector3::x() * length * (stretch - 1.0)
            } else {
                Vector3::zeros()
            },
        })
        .collect();
    let found = equilibrium(&model, &supports);
    let forces = model.forces(&found.displacements);
    let pull: f64 =
        (0..forces.len()).filter(|&n| end(&mesh.vertices[n])).map(|n| forces[n].x).sum();
    let lateral = number(&case["lateral_stretch"]);
    let expected: Vec<_> = mesh
        .vertices
        .iter()
        .map(|p| Vector3::new(p.x * stretch, p.y * lateral, p.z * lateral) - p.coords)
        .collect();
    error(&[pull], &numbers(&case["axial_force"]))
        .max(error(&flat(&found.displacements), &flat(&expected)))
}

fn patch(case: &Value) -> f64 {
    let mesh = mesh(case);
    let model = Model::new(&mesh, material(case)).expect("a valid mesh");
    let (a, t) = (matrix(&case["A"]), vectors(&case["t"])[0]);
    let moved: Vec<_> = mesh.vertices.iter().map(|p| a * p.coords + t - p.coords).collect();
    let held = |&node: &u32| Support { node, axes: [true; 3], displacement: moved[node as usize] };
    let supports: Vec<_> = indices(&case["boundary"]).iter().map(held).collect();
    error(&flat(&equilibrium(&model, &supports).displacements), &flat(&moved))
}

fn hydrostatic(case: &Value) -> f64 {
    let h = Matrix3::from_diagonal_element(number(&case["stretch"]) - 1.0);
    let stress = material(case).stress(&green_strain(&h));
    let density = 0.5 * stress.dot(&green_strain(&h));
    error(&[stress[(1, 1)]], &numbers(&case["S_diag"]))
        .max(error(&[density], &numbers(&case["energy_density"])))
}

/// A beam of `size` (length, width along y, height along z), m, clamped at x = 0 and loaded at its
/// other end with `load` N along -z, spread evenly over that end.
struct Cantilever {
    size: Vector3<f64>,
    load: f64,
    material: Material,
}

/// Deflections per mesh, which must also increase and stay below that of a Timoshenko beam.
fn cantilevers(case: &Value) -> f64 {
    let size = Vector3::new(number(&case["L"]), number(&case["b"]), number(&case["h"]));
    let beam = Cantilever { size, load: number(&case["P"]), material: material(case) };
    let limit = number(&case["timoshenko"]);
    let mut last = 0.0;
    let mut worst = 0.0_f64;
    for row in case["linear_tet_kuhn"].as_array().expect("meshes") {
        let found = beam.deflection(&indices(&row["cells"]));
        let expected = number(&row["work_over_P"]);
        worst = worst.max(exact(last < found && found < limit));
        last = found;
        // the tolerance of these numbers is 1e-7; that of the other checks of the file is 1e-9
        worst = worst.max(1e-2 * (found / expected - 1.0).abs());
    }
    worst
}

impl Cantilever {
    /// Work of the load over the load, m, with Kuhn's tetrahedra in `cells` boxes along each axis.
    fn deflection(&self, cells: &[u32]) -> f64 {
        let mesh = kuhn_box([0, 1, 2].map(|axis| cells[axis] as usize), self.size);
        let model = Model::new(&mesh, self.material).expect("a valid mesh");
        let clamped = (0..mesh.vertices.len()).filter(|&v| mesh.vertices[v].x == 0.0);
        let supports: Vec<_> = clamped.map(|v| Support::fixed(v as u32)).collect();
        let loads = self.loads(&mesh);
        let found = linear_equilibrium(&model, &supports, &loads, LinearSolver::Cholesky);
        let displacements = found.expect("a solution").displacements;
        let work: f64 = loads.iter().zip(&displacements).map(|(f, u)| f.dot(u)).sum();
        work / self.load
    }

    /// Consistent nodal loads: a third of the load of each triangle on each of its corners.
    fn loads(&self, mesh: &TetMesh) -> Vec<Vector3<f64>> {
        let traction = self.load / (self.size.y * self.size.z);
        let mut loads = vec![Vector3::zeros(); mesh.vertices.len()];
        for face in mesh.boundary_faces() {
            let corners = face.map(|v| mesh.vertices[v as usize]);
            if corners.iter().all(|p| p.x == self.size.x) {
                let third = traction * area(mesh, &face) / 3.0;
                face.iter().for_each(|&v| loads[v as usize].z -= third);
            }
        }
        loads
    }
}

/// Marks, cut faces, vertex copies and pieces, which must be equal, and the crack plane.
pub(super) fn marking(text: &str) -> Result<Worst, serde_json::Error> {
    compare(text, 1e-11, marking_case)
}

fn marking_case(case: &Value) -> f64 {
    let (mesh, expected) = (mesh(case), &case["expect"]);
    let rows = numbers(&case["stress_S"]);
    let stresses: Vec<_> = rows
        .chunks(6)
        .map(|s| Matrix3::new(s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]))
        .collect();
    let crack = Crack::find(&mesh, &stresses, number(&case["threshold"])).expect("a crack");
    let marks = crack.mark(&mesh, number(&case["r_frac"]));
    let opened = separate(&mesh, &marks);
    // the sign of the normal is arbitrary
    let same = crack.normal.dot(&vectors(&expected["normal"])[0]) > 0.0;
    let found: Vec<_> = marks.iter().map(|&m| f64::from(if same { m } else { -m })).collect();
    let area: f64 = opened.cut_faces.iter().map(|face| area(&mesh, face)).sum();
    let tensions: Vec<_> = stresses.iter().map(max_principal).collect();
    let sign = if same { 1.0 } else { -1.0 };
    [
        exact(Some(crack.tet as u64) == expected["tet"].as_u64()),
        exact(found == numbers(&expected["mark"])),
        exact(opens_as(expected, &opened)),
        error(&[area], &numbers(&expected["crack_area"])),
        error(&tensions, &numbers(&case["principal_max"])),
        error(&[crack.tension], &numbers(&expected["d_max"])),
        error(crack.origin.coords.as_slice(), &numbers(&expected["origin"])),
        error((crack.normal.into_inner() * sign).as_slice(), &numbers(&expected["normal"])),
    ]
    .into_iter()
    .fold(0.0, f64::max)
}

fn opens_as(expected: &Value, opened: &Separated) -> bool {
    let faces = expected["cut_faces"].as_array().into_iter().flatten();
    let faces = faces.map(|face| indices(&face["face"]));
    let classes = |vertex: u32| opened.origins.iter().filter(|&&v| v == vertex).count() as u32;
    let copies = indices(&expected["vertex_copies"]);
    let mut sizes: Vec<_> =
        pieces(&opened.mesh).iter().map(|(mesh, _)| mesh.tets.len() as u32).collect();
    sizes.sort_unstable();
    let mut wanted = indices(&expected["component_sizes"]);
    wanted.sort_unstable();
    opened.cut_faces.iter().map(|face| face.to_vec()).eq(faces)
        && Some(opened.copies() as u64) == expected["new_vertices"].as_u64()
        && copies.chunks(2).all(|pair| classes(pair[0]) == pair[1])
        && sizes == wanted
}

fn area(mesh: &TetMesh, face: &[u32; 3]) -> f64 {
    let [a, b, c] = face.map(|v| mesh.vertices[v as usize]);
    0.5 * (b - a).cross(&(c - a)).norm()
}
