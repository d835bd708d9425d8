//! Binary USD: read by an independent decoder, and by usd-core if installed.

use std::collections::BTreeMap;
use std::process::Command;

use brisance_tests::skipped::skipped;
use serde_json::Value;

use crate::cli::{Case, SCENE, TETRAHEDRON, problem};

/// A file of the crate format.
struct Stage {
    bytes: Vec<u8>,
    tokens: Vec<String>,
    /// Type and fields by path.
    specs: BTreeMap<String, (i32, BTreeMap<String, u64>)>,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// An LZ4 block, after a zero byte for a single block.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    assert_eq!(bytes[0], 0, "one block");
    let (mut at, mut out) = (1, Vec::new());
    // a length of 15 continues in bytes up to the first below 255
    let length = |at: &mut usize, short: u8| {
        let mut length = usize::from(short);
        let mut goes_on = short == 15;
        while goes_on {
            length += usize::from(bytes[*at]);
            goes_on = bytes[*at] == 255;
            *at += 1;
        }
        length
    };
    while at < bytes.len() {
        let token = bytes[at];
        at += 1;
        let literals = length(&mut at, token >> 4);
        out.extend(&bytes[at..at + literals]);
        at += literals;
        if at == bytes.len() {
            break;
        }
        let back = usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        at += 2;
        let copied = length(&mut at, token & 15) + 4;
        for _ in 0..copied {
            out.push(out[out.len() - back]);
        }
    }
    out
}

/// Decodes integers and removes them from the front of `bytes`.
fn integers(bytes: &mut &[u8], count: usize) -> Vec<i32> {
    let size = number(bytes, 0) as usize;
    let plain = unpacked(&bytes[8..8 + size]);
    *bytes = &bytes[8 + size..];
    let common = i32::from_le_bytes(plain[..4].try_into().unwrap());
    let mut long = &plain[4 + count.div_ceil(4)..];
    let mut last = 0_i32;
    let mut one = |n: usize| {
        let code = plain[4 + n / 4] >> (2 * (n % 4)) & 3;
        let size = [0, 1, 2, 4][usize::from(code)];
        let (own, rest) = long.split_at(size);
        long = rest;
        let difference = match code {
            0 => common,
            1 => i32::from(own[0] as i8),
            2 => i32::from(i16::from_le_bytes(own.try_into().unwrap())),
            _ => i32::from_le_bytes(own.try_into().unwrap()),
        };
        last = last.wrapping_add(difference);
        last
    };
    let all = (0..count).map(&mut one).collect();
    assert!(long.is_empty());
    all
}

impl Stage {
    fn read(bytes: Vec<u8>) -> Self {
        assert_eq!(&bytes[..16], b"PXR-USDC\0\x08\0\0\0\0\0\0");
        let list = number(&bytes, 16) as usize;
        let section = |n: usize| {
            let entry = &bytes[list + 8 + 32 * n..][..32];
            let name = String::from_utf8(entry[..16].to_vec()).unwrap();
            let [start, size] = [16, 24].map(|at| number(entry, at) as usize);
            (name.trim_end_matches('\0').to_owned(), &bytes[start..start + size])
        };
        let sections: BTreeMap<String, &[u8]> =
            (0..number(&bytes, list) as usize).map(section).collect();
        let counted = |name: &str| (number(sections[name], 0) as usize, &sections[name][8..]);
        let (token_count, rest) = counted("TOKENS");
        let text = unpacked(&rest[16..]);
        assert_eq!(
            (text.len(), rest.len() - 16),
            (number(rest, 0) as usize, number(rest, 8) as usize)
        );
        let text = String::from_utf8(text).unwrap();
        let tokens: Vec<String> =
            text.strip_suffix('\0').unwrap().split('\0').map(str::to_owned).collect();
        assert_eq!(tokens.len(), token_count);
        let (count, mut rest) = counted("FIELDS");
        let names = integers(&mut rest, count);
        let values = unpacked(&rest[8..]);
        let (count, mut rest) = counted("FIELDSETS");
        let sets = integers(&mut rest, count);
        let paths = Self::paths(counted("PATHS"), &tokens);
        let (count, mut rest) = counted("SPECS");
        let [of, first, kind] = [(); 3].map(|()| integers(&mut rest, count));
        let fields = |first: i32| {
            let own = sets[first as usize..].iter().take_while(|field| **field != -1);
            let field = |&field: &i32| {
                let name = tokens[names[field as usize] as usize].clone();
                (name, number(&values, 8 * field as usize))
            };
            own.map(field).collect::<BTreeMap<_, _>>()
        };
        let specs =
            (0..count).map(|n| (paths[of[n] as usize].clone(), (kind[n], fields(first[n]))));
        let specs: BTreeMap<_, _> = specs.collect();
        assert_eq!(specs.len(), count, "no path has two");
        Self { tokens, specs, bytes }
    }

    /// The paths by their numbers.
    fn paths((count, rest): (usize, &[u8]), tokens: &[String]) -> Vec<String> {
        let encoded = number(rest, 0) as usize;
        let mut rest = &rest[8..];
        let [numbers, names, jumps] = [(); 3].map(|()| integers(&mut rest, encoded));
        let mut paths = vec![String::new(); count];
        let mut open = vec![(0, String::new())];
        while let Some((at, parent)) = open.pop() {
            let name = &tokens[names[at].unsigned_abs() as usize];
            let path = match (at, names[at] < 0) {
                (0, _) => "/".to_owned(),
                (_, true) => format!("{parent}.{name}"),
                _ => format!("{}/{name}", parent.trim_end_matches('/')),
            };
            let jump = jumps[at];
            if jump >= 0 {
                open.push((at + jump.max(1) as usize, parent));
            }
            if jump > 0 || jump == -1 {
                open.push((at + 1, path.clone()));
            }
            paths[numbers[at] as usize] = path;
        }
        assert!(paths.iter().all(|path| !path.is_empty()));
        paths
    }

    /// The times and the numbers of a property.
    fn samples<const N: usize>(&self, path: &str) -> Vec<(f64, [f64; N])> {
        let place = |rep: u64| (rep & 0xFFFF_FFFF_FFFF) as usize;
        let float = |at: usize| f64::from_bits(number(&self.bytes, at));
        let at = place(self.specs[path].1["timeSamples"]);
        let at = at + number(&self.bytes, at) as usize;
        let times = place(number(&self.bytes, at));
        let at = at + 8;
        let at = at + number(&self.bytes, at) as usize;
        let count = number(&self.bytes, at);
        assert_eq!(count, number(&self.bytes, times));
        let sample = |n: usize| {
            let value = place(number(&self.bytes, at + 8 + 8 * n));
            (float(times + 8 + 8 * n), std::array::from_fn(|k| float(value + 8 * k)))
        };
        (0..count as usize).map(sample).collect()
    }

    /// The token of a field.
    fn token(&self, path: &str, field: &str) -> &str {
        let rep = self.specs[path].1[field];
        assert_eq!(rep >> 48, 1 << 14 | 11, "{path} {field}");
        &self.tokens[(rep & 0xFFFF_FFFF) as usize]
    }
}

fn run_ok(case: &Case, arguments: &[&str]) {
    let output = case.run(arguments);
    assert!(output.status.success(), "{}", problem(output.stderr));
}

/// Poses against those in the JSON lines of the same run.
#[test]
fn a_binary_stage_holds_the_bodies_and_poses_of_the_run() {
    const PRIM: i32 = 6;
    const RELATIONSHIP: i32 = 8;
    let case = Case::new(&[("scene.toml", SCENE)]);
    for out in ["a.usdc", "b.usdc", "a.jsonl"] {
        run_ok(&case, &["run", "scene.toml", "-q", "-o", out]);
    }
    let bytes = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
    assert!(bytes("a.usdc") == bytes("b.usdc"), "the same bytes again");
    let stage = Stage::read(bytes("a.usdc"));
    let lines = String::from_utf8(bytes("a.jsonl")).unwrap();
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    let mut poses: BTreeMap<String, Vec<(f64, [f64; 7])>> = BTreeMap::new();
    for (frame, line) in lines.enumerate() {
        for (body, pose) in
            line["bodies"].as_array().unwrap().iter().zip(line["poses"].as_array().unwrap())
        {
            let name = head["bodies"][body.as_u64().unwrap() as usize]["name"].as_str().unwrap();
            let pose = std::array::from_fn(|n| pose[n].as_f64().unwrap());
            poses.entry(name.replace([' ', '.'], "_")).or_default().push((frame as f64, pose));
        }
    }
    assert!(poses.len() > 5, "{poses:?}");
    assert_eq!(stage.token("/", "upAxis"), "Y");
    for (name, poses) in poses {
        let prim = format!("/World/{name}");
        assert_eq!((stage.specs[&prim].0, stage.token(&prim, "typeName")), (PRIM, "Xform"));
        let mesh = format!("{prim}/{name}");
        assert_eq!(stage.token(&mesh, "typeName"), "Mesh");
        assert_eq!(stage.token(&format!("{mesh}.primvars:rest"), "interpolation"), "vertex");
        let binding = format!("{mesh}/outer.material:binding");
        assert_eq!(stage.specs[&binding].0, RELATIONSHIP);
        let mut places = stage.samples::<3>(&format!("{prim}.xformOp:translate"));
        let mut turns = stage.samples::<4>(&format!("{prim}.xformOp:orient"));
        assert!(places.is_sorted_by(|a, b| a.0 < b.0), "{name}");
        // samples between frames are impacts
        places.retain(|place| place.0.fract() == 0.0);
        turns.retain(|turn| turn.0.fract() == 0.0);
        assert_eq!((places.len(), turns.len()), (poses.len(), poses.len()), "{name}");
        for (((time, pose), place), turn) in poses.iter().zip(&places).zip(&turns) {
            assert_eq!((place.0, turn.0), (*time, *time), "{name}");
            let found = [&place.1[..], &turn.1].concat();
            let off = found.iter().zip(pose).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "{name} at {time}: {found:?}, not {pose:?}");
        }
    }
}

/// A name with a zero, which ends tokens, and a name that is not an identifier.
#[test]
fn names_may_hold_any_letters() {
    let scene = SCENE.replace("name = \"ball\"", "name = \"8 b\\u0000ll/\\\"é\\\".x\"");
    let case = Case::new(&[("scene.toml", &scene)]);
    run_ok(&case, &["run", "scene.toml", "-q", "-o", "a.usdc"]);
    let stage = Stage::read(std::fs::read(case.folder.path().join("a.usdc")).unwrap());
    assert!(stage.specs.contains_key("/World/_8_b_ll_____x"), "{:?}", stage.specs.keys());
    assert!(stage.tokens.contains(&"8 b\u{FFFD}ll/\"é\".x".to_owned()));
}

/// A Python with the module pxr, if any: `python3`, or the value of the variable BRISANCE_PXR.
fn python_of_usd() -> Option<String> {
    let python = std::env::var("BRISANCE_PXR").unwrap_or_else(|_| "python3".to_owned());
    let known = Command::new(&python).args(["-c", "import pxr"]).output();
    known.is_ok_and(|output| output.status.success()).then_some(python)
}

/// A recording, bodies for a physics engine, dust, and pieces.
#[test]
fn usd_core_reads_the_same_from_text_and_binary() {
    let case = Case::new(&[("scene.toml", SCENE), ("tet.obj", TETRAHEDRON)]);
    for e in ["usda", "usdc"] {
        let [run, physics, dust, pieces] =
            ["run", "physics", "dust", "pieces"].map(|name| format!("{name}.{e}"));
        let beside = ["--physics", &physics, "--dust", &dust, "--dust-per-joule", "1e5"];
        let own = ["run", "scene.toml", "-q", "-o", &run];
        run_ok(&case, &[&own[..], &beside].concat());
        let fracture = ["fracture", "tet.obj", "--pattern", "voronoi:5", "--nodes", "8000"];
        run_ok(&case, &[&fracture[..], &["-q", "-o", &pieces]].concat());
        for name in [run, physics, dust, pieces] {
            let bytes = std::fs::read(case.folder.path().join(&name)).unwrap();
            if e == "usdc" {
                assert!(Stage::read(bytes).specs.len() > 5, "{name}");
            }
        }
    }
    let Some(python) = python_of_usd() else {
        skipped("no Python with pxr: pip install usd-core, and name it in BRISANCE_PXR");
        return;
    };
    let compare = "from pxr import Sdf\n\
                   for name in ['run', 'physics', 'dust', 'pieces']:\n\
                   \x20   a, b = [Sdf.Layer.FindOrOpen(name + e).ExportToString() for e in ['.usda', '.usdc']]\n\
                   \x20   assert a == b and len(a) > 900, name";
    let output =
        Command::new(python).args(["-c", compare]).current_dir(case.folder.path()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Spheres of 1,225 vertices, whose arrays have more than 14 kB each.
#[test]
fn copies_share_the_arrays_of_their_surface() {
    let scene = "version = 1\n[simulation]\nframes = 2\n[[body]]\nname = \"ball\"\ndensity = 1\n\
                 shape = { sphere = { radius = 0.1 } }\ncopies = { count = [3, 1, 1], spacing = [1, 1, 1] }\n";
    let case = Case::new(&[("scene.toml", scene)]);
    run_ok(&case, &["run", "scene.toml", "-q", "-o", "a.usdc"]);
    let stage = Stage::read(std::fs::read(case.folder.path().join("a.usdc")).unwrap());
    for name in ["points", "normals", "primvars:rest", "faceVertexIndices"] {
        let ends = format!(".{name}");
        let of = stage.specs.iter().filter(|(path, _)| path.ends_with(&ends));
        let values: Vec<u64> = of.map(|(_, (_, fields))| fields["default"]).collect();
        assert_eq!(values, [values[0]; 3], "{name}");
    }
    assert!(stage.bytes.len() < 90_000, "{} bytes", stage.bytes.len());
}
