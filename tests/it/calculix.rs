//! Stress of finite elements compared with that of CalculiX (`ccx`, Debian package `calculix-ccx`) on the same mesh.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use brisance_tests::skipped::skipped;
use brisance_tests::tet_boxes::kuhn_box;
use levelset::TetMesh;
use nalgebra::{Matrix3, Point3, Vector3};
use tetfem::{Contact, Interpolation, LinearSolver, Load, Material, Structure};

const YOUNG: f64 = 2.1e11;
const POISSON: f64 = 0.3;
const DENSITY: f64 = 7850.0;

/// A supported body under its weight and forces at vertices.
struct Case {
    mesh: TetMesh,
    supports: Vec<bool>,
    forces: Vec<(u32, Vector3<f64>)>,
    gravity: Vector3<f64>,
}

/// Displacements of vertices and mean stress of tetrahedra.
type Fields = (Vec<Vector3<f64>>, Vec<Matrix3<f64>>);

impl Case {
    fn new(mesh: TetMesh, pushed: impl Fn(&Point3<f64>) -> bool, force: Vector3<f64>) -> Self {
        let supports = mesh.vertices.iter().map(|p| p.x == 0.0).collect();
        let forces = (0..).zip(&mesh.vertices).filter(|(_, p)| pushed(p)).map(|(v, _)| (v, force));
        let forces = forces.collect();
        Self { mesh, supports, forces, gravity: Vector3::new(0.0, -9.81, 0.0) }
    }

    fn ours(&self, interpolation: Interpolation) -> Fields {
        let steel = Material::from_young(YOUNG, POISSON).unwrap();
        let solver = LinearSolver::Cholesky;
        let (mesh, supports) = (self.mesh.clone(), self.supports.clone());
        let body = Structure::supported(mesh, supports, steel, interpolation, solver).unwrap();
        let place = |v: u32| self.mesh.vertices[v as usize];
        let contact = |&(v, force): &(u32, _)| Contact { place: place(v), force };
        let contacts: Vec<Contact> = self.forces.iter().map(contact).collect();
        let load = Load { body_force: self.gravity * DENSITY, ..Load::new(&contacts) };
        let response = body.respond(&load).unwrap();
        (response.displacements, response.stresses)
    }

    /// The input deck of CalculiX. Mid-edge nodes come after the vertices.
    fn deck(&self, is_quadratic: bool) -> String {
        const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];
        let mut nodes = self.mesh.vertices.clone();
        let mut held: Vec<bool> = self.supports.clone();
        let mut middles = BTreeMap::new();
        let mut elements = String::new();
        for (t, tet) in self.mesh.tets.iter().enumerate() {
            let mut names: Vec<usize> = tet.iter().map(|&v| v as usize + 1).collect();
            for [a, b] in EDGES.iter().filter(|_| is_quadratic).map(|edge| edge.map(|c| tet[c])) {
                let middle = *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    let [p, q] = [a, b].map(|v| self.mesh.vertices[v as usize]);
                    nodes.push(nalgebra::center(&p, &q));
                    held.push(self.supports[a as usize] && self.supports[b as usize]);
                    nodes.len()
                });
                names.push(middle);
            }
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            writeln!(elements, "{}, {}", t + 1, names.join(", ")).unwrap();
        }
        let mut deck = String::from("*NODE, NSET=ALL\n");
        for (n, p) in nodes.iter().enumerate() {
            writeln!(deck, "{}, {:.12e}, {:.12e}, {:.12e}", n + 1, p.x, p.y, p.z).unwrap();
        }
        let kind = if is_quadratic { "C3D10" } else { "C3D4" };
        write!(deck, "*ELEMENT, TYPE={kind}, ELSET=BODY\n{elements}").unwrap();
        write!(deck, "*MATERIAL, NAME=STEEL\n*ELASTIC\n{YOUNG:e}, {POISSON}\n").unwrap();
        write!(deck, "*DENSITY\n{DENSITY}\n*SOLID SECTION, ELSET=BODY, MATERIAL=STEEL\n").unwrap();
        deck.push_str("*BOUNDARY\n");
        for n in (0..held.len()).filter(|&n| held[n]) {
            writeln!(deck, "{}, 1, 3", n + 1).unwrap();
        }
        deck.push_str("*STEP\n*STATIC\n*CLOAD\n");
        for (v, force) in &self.forces {
            for axis in 0..3 {
                writeln!(deck, "{}, {}, {:e}", v + 1, axis + 1, force[axis]).unwrap();
            }
        }
        let (size, way) = (self.gravity.norm(), self.gravity.normalize());
        writeln!(deck, "*DLOAD\nBODY, GRAV, {size}, {}, {}, {}", way.x, way.y, way.z).unwrap();
        deck.push_str("*NODE PRINT, NSET=ALL\nU\n*EL PRINT, ELSET=BODY\nS\n*END STEP\n");
        deck
    }

    fn calculix(&self, is_quadratic: bool, folder: &Path) -> Fields {
        std::fs::write(folder.join("case.inp"), self.deck(is_quadratic)).unwrap();
        let run = Command::new("ccx").arg("case").current_dir(folder).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
        let text = std::fs::read_to_string(folder.join("case.dat")).unwrap();
        let (moves, stress) = text.split_once(" stresses").expect("both fields");
        let rows = |part: &str| -> Vec<Vec<f64>> {
            let numbers = |line: &str| line.split_whitespace().map(|w| w.parse().ok()).collect();
            part.lines().filter_map(numbers).filter(|row: &Vec<f64>| row.len() >= 4).collect()
        };
        let vertices = self.mesh.vertices.len();
        let moves = rows(moves).into_iter().take(vertices);
        let moves = moves.map(|row| Vector3::new(row[1], row[2], row[3])).collect();
        let mut sums = vec![(Matrix3::zeros(), 0.0); self.mesh.tets.len()];
        for row in rows(stress) {
            let [a, b, c, d, e, f] = row[2..8] else { panic!("a stress of six components") };
            let (sum, count) = &mut sums[row[0] as usize - 1];
            *sum += Matrix3::new(a, d, e, d, b, f, e, f, c);
            *count += 1.0;
        }
        (moves, sums.into_iter().map(|(sum, count)| sum / count).collect())
    }
}

fn bracket() -> TetMesh {
    let mut mesh = kuhn_box([8, 8, 2], Vector3::new(0.4, 0.4, 0.1));
    let corners = mesh.vertices.clone();
    mesh.tets.retain(|tet| {
        let sum: Vector3<f64> = tet.iter().map(|&v| corners[v as usize].coords).sum();
        sum.x / 4.0 < 0.1 || sum.y / 4.0 < 0.1
    });
    tetfem::pieces(&mesh).swap_remove(0).0
}

#[test]
fn stress_of_a_cantilever_and_a_bracket_is_that_of_calculix() {
    let found = Command::new("ccx").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_err() {
        skipped("install CalculiX (`calculix-ccx`) to compare with it");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let beam = kuhn_box([10, 2, 2], Vector3::new(1.0, 0.1, 0.1));
    let cases = [
        Case::new(beam, |p| p.x == 1.0, Vector3::new(0.0, -300.0, 100.0)),
        Case::new(bracket(), |p| p.y > 0.4 - 1e-9, Vector3::new(500.0, 0.0, 200.0)),
    ];
    for case in &cases {
        for interpolation in [Interpolation::Linear, Interpolation::Quadratic] {
            let (moves, stresses) = case.ours(interpolation);
            let other = case.calculix(interpolation == Interpolation::Quadratic, folder.path());
            assert_eq!((moves.len(), stresses.len()), (other.0.len(), other.1.len()));
            let farthest = other.0.iter().map(Vector3::norm).fold(0.0, f64::max);
            let hardest = other.1.iter().map(Matrix3::norm).fold(0.0, f64::max);
            let off = moves.iter().zip(&other.0).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            // CalculiX prints seven digits
            assert!(off < 1e-5 * farthest, "{interpolation:?}: {off} of {farthest}");
            let off =
                stresses.iter().zip(&other.1).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(off < 1e-5 * hardest, "{interpolation:?}: {off} of {hardest}");
        }
    }
}
