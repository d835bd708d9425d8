//! The reference vectors, and error detection of their runner.

use brisance_tests::vectors::{VectorError, run};
use serde_json::{Value, json};
use std::path::Path;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors"))
}

#[test]
fn the_library_reproduces_every_reference_vector() {
    let results = run(folder()).unwrap();
    assert!(!results.is_empty());
    for (name, result) in results {
        let worst = result.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(worst.passes(), "{name}: {worst:?}");
    }
}

#[test]
fn a_changed_word_an_unknown_file_and_broken_text_are_noticed() {
    let scratch = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(folder().join("energy_fix.json")).unwrap();
    let changed = text.replacen("\"primary\"", "\"fallback_max\"", 1);
    assert_ne!(changed, text);
    std::fs::write(scratch.path().join("energy_fix.json"), changed).unwrap();
    std::fs::write(scratch.path().join("fragments.json"), "{\"cases\": 3}").unwrap();
    std::fs::write(scratch.path().join("unheard_of.json"), "{}").unwrap();
    let results = run(scratch.path()).unwrap();
    assert_eq!(results.len(), 3);
    assert!(!results[0].1.as_ref().unwrap().passes());
    assert!(matches!(results[1].1, Err(VectorError::Format(_))));
    assert!(matches!(results[2].1, Err(VectorError::NoCheck)));
}

/// Whether a file of this name and content passes.
fn passes(name: &str, content: &Value) -> bool {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join(name), content.to_string()).unwrap();
    run(scratch.path()).unwrap()[0].1.as_ref().unwrap().passes()
}

#[test]
fn a_cantilever_has_the_size_and_the_load_that_its_file_says() {
    // by scikit-fem 12.0.2 (linear tetrahedra, direct solve) on the same boxes of Kuhn's tetrahedra
    let beam = |y: f64, z: f64, force: f64| {
        json!({ "cases": [{
            "name": "cantilever_small_load_trend", "L": 6.0, "b": y, "h": z, "E": 2.1e9,
            "nu": 0.23, "P": force, "timoshenko": 0.0003985238095238095,
            "linear_tet_kuhn": [
                { "cells": [6, 1, 2], "work_over_P": 0.0001950754642353262 },
                { "cells": [12, 2, 4], "work_over_P": 0.00030879922609908467 },
            ],
        }] })
    };
    assert!(passes("fem_analytic.json", &beam(0.8, 1.5, 2500.0)));
    for (y, z, force) in [(1.5, 0.8, 2500.0), (1.0, 1.0, 2500.0), (0.8, 1.5, 1.0)] {
        assert!(!passes("fem_analytic.json", &beam(y, z, force)), "{y} x {z}, {force} N");
    }
}

#[test]
fn the_fix_of_a_free_rotation_takes_the_branch_that_its_file_says() {
    let text = std::fs::read_to_string(folder().join("energy_fix.json")).unwrap();
    let fixes: Value = serde_json::from_str(&text).unwrap();
    let mut seen = Vec::new();
    for case in fixes["cases"].as_array().unwrap() {
        // after zero time, both steps keep the orientation and only the fix rotates
        let rotation = |branch: &str| {
            let step = json!({ "R": case["R"], "R_fixed": case["R_fixed"], "branch": branch });
            json!({ "cases": [{
                "name": case["name"], "I0": case["I0"], "R0": case["R"], "L": case["L"],
                "KE": case["KE0"], "times": [], "R_exact": [], "dt": 0.0,
                "first_order": step.clone(), "second_order": step,
            }] })
        };
        let branch = case["branch"].as_str().unwrap();
        // by symmetry, two rotations reach the energy
        let two_ways = case["a"].as_f64().is_some_and(|a| a.abs() < 1e-14);
        if !two_ways && !seen.contains(&branch) {
            seen.push(branch);
            assert!(passes("free_rotation.json", &rotation(branch)), "{case}");
            for other in ["none", "primary", "fallback_max", "fallback_min", "unheard of"] {
                let changed = passes("free_rotation.json", &rotation(other));
                assert_eq!(changed, other == branch, "{other} for {case}");
            }
        }
    }
    assert!(seen.len() >= 3, "{seen:?}");
}
