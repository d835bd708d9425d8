//! Reading any GLB file returns a result or an error, without a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use brisance::format::glb::read_glb;
use brisance::mesh_file::read_mesh_file;
use brisance::render::{Images, Subject, View, render};
use brisance::viewer::playback;
use fracture::{ClosedMesh, Plane, slice};
use nalgebra::Vector3;
use serde_json::{Value, json};

use crate::glb::{breaking_pot, glb};

/// The JSON of a GLB file and the bytes after it.
fn taken_apart(bytes: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[20..20 + length]).unwrap(), bytes[20 + length..].to_vec())
}

fn put_together(json: &Value, rest: &[u8]) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = (20 + text.len() + rest.len()) as u32;
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend(total.to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(text);
    bytes.extend(rest);
    bytes
}

/// JSON pointers to the parts of a value; only the first few for lists of numbers and channels.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut add = |key: &str, value: &Value| {
        let at = format!("{at}/{key}");
        found.push(at.clone());
        pointers(value, &at, found);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| add(key, value)),
        Value::Array(list) => {
            let few = if at.ends_with("accessors") { list.len() } else { 2 };
            let list = list.iter().enumerate().take(few);
            list.for_each(|(n, value)| add(&n.to_string(), value));
        }
        _ => {}
    }
}

/// The document without the target of a pointer.
fn without(document: &Value, pointer: &str) -> Value {
    let mut document = document.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.remove(key)),
        Value::Array(list) => drop(list.remove(key.parse().unwrap())),
        _ => unreachable!("only objects and lists have members"),
    }
    document
}

/// The document with each of many values in place of the target of a pointer.
fn with_others(document: &Value, pointer: &str) -> Vec<Value> {
    let others = [
        json!(-1),
        json!(0),
        json!(1),
        json!(1_i64 << 31),
        json!(u64::MAX),
        json!(1e300),
        json!(0.5),
        json!("nonsense"),
        json!("VEC2"),
        json!("weights"),
        json!(5121),
        json!(5125),
        json!(5126),
        json!(null),
        json!(true),
    ];
    let with = |other: Value| {
        let mut document = document.clone();
        *document.pointer_mut(pointer).unwrap() = other;
        document
    };
    others.into_iter().map(with).collect()
}

/// Runs `info`, `render`, `view` and `slice` on a file; returns whether it is a recording and
/// whether a mesh. Drawing is slow and additionally tests only the numbers of nodes and the scene.
fn used(bytes: &[u8], path: &Path, is_drawn: bool) -> [bool; 2] {
    let recording = read_glb(bytes);
    if let Ok(recording) = &recording {
        let view = View::fitted(recording, 1.0);
        if is_drawn {
            let images = Images::of(recording).unwrap_or_default();
            let subject = Subject { recording, images: &images, dust: None };
            render(subject, &view, (recording.frames - 1) as f64, [16, 16]);
        }
        playback(recording, None, "damaged");
        glb(recording);
    }
    std::fs::write(path, bytes).unwrap();
    let mesh = read_mesh_file(path);
    if let Ok(mesh) = &mesh {
        let _ = mesh.mesh.facts();
        if let Ok(closed) = ClosedMesh::new(mesh.mesh.clone()) {
            slice(&closed, &Plane::new(Vector3::y(), 0.1).unwrap());
        }
    }
    [recording.is_ok(), mesh.is_ok()]
}

#[test]
fn a_damaged_glb_file_is_an_error_or_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.glb");
    let mut recording = breaking_pot();
    recording.tracks.truncate(3);
    let (document, rest) = taken_apart(&glb(&recording));
    assert_eq!(used(&put_together(&document, &rest), &path, true), [true; 2]);
    let mut all = vec![];
    pointers(&document, "", &mut all);
    let (mut refused, mut panicked) = (0, vec![]);
    for pointer in &all {
        let is_drawn = pointer.starts_with("/nodes") || pointer.starts_with("/scenes");
        let others = with_others(&document, pointer);
        for changed in others.into_iter().chain([without(&document, pointer)]) {
            let bytes = put_together(&changed, &rest);
            match catch_unwind(AssertUnwindSafe(|| used(&bytes, &path, is_drawn))) {
                Ok(read) => refused += read.iter().filter(|is_read| !**is_read).count(),
                Err(_) => {
                    let now = changed.pointer(pointer).map_or("gone".to_owned(), Value::to_string);
                    panicked.push(format!("{pointer} {now}"));
                }
            }
        }
    }
    assert!(panicked.is_empty(), "{panicked:#?}");
    assert!(refused > all.len(), "of {} changes only {refused} were refused", 16 * all.len());
}

#[test]
fn what_an_accessor_says_is_held_against_the_file() {
    let (document, rest) = taken_apart(&glb(&breaking_pot()));
    let mesh = &document["meshes"][0]["primitives"][0];
    let positions = mesh["attributes"]["POSITION"].to_string();
    let indices = mesh["indices"].to_string();
    let said = |pointer: &str, value: Value| {
        let mut document = document.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        read_glb(&put_together(&document, &rest)).unwrap_err().to_string()
    };
    let of = |accessor: &str, key: &str| format!("/accessors/{accessor}/{key}");
    let kind = said(&of(&positions, "type"), json!("VEC4"));
    assert!(kind.starts_with(&format!("accessor {positions}, POSITION of mesh 0,")), "{kind}");
    let long = said(&of(&positions, "count"), json!(1 << 20));
    assert!(long.contains("does not lie within the file"), "{long}");
    let many = said(&of(&positions, "count"), json!(3));
    assert!(
        many.contains("as many entries as there are vertices") || many.contains("names"),
        "{many}"
    );
    let signed = said(&of(&indices, "componentType"), json!(5126));
    assert!(signed.contains("the indices of mesh 0"), "{signed}");
    let path = said("/animations/0/channels/0/target/path", json!("colour"));
    assert!(path.contains("a channel of animation 0"), "{path}");
    let node = said("/animations/0/channels/0/target/node", json!(99));
    assert!(node.contains("moves a node that is not there"), "{node}");
}
