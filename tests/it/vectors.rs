//! The reference vectors, and that their runner notices what is wrong.

use brisance_tests::vectors::{VectorError, run};
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
