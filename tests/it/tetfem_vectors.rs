//! Finite elements against numbers of an independent program.

use brisance_tests::fem_vectors;
use serde_json::Value;

fn file(name: &str) -> Value {
    let path = format!("{}/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is in the repository");
    serde_json::from_str(&text).expect("the file is JSON")
}

#[test]
fn elements_match_the_reference() {
    let worst = fem_vectors::element(&file("fem_element"));
    assert!(worst <= 1e-11, "{worst:e}");
}

#[test]
fn equilibria_match_the_reference() {
    let worst = fem_vectors::statics(&file("fem_static"));
    assert!(worst <= 1e-9, "{worst:e}");
}

#[test]
fn analytic_solutions_are_met() {
    let worst = fem_vectors::analytic(&file("fem_analytic"));
    assert!(worst <= 1e-9, "{worst:e}");
}

#[test]
fn cracks_match_the_reference() {
    let worst = fem_vectors::marking(&file("fracture_marking"));
    assert!(worst <= 1e-11, "{worst:e}");
}
