//! Files for other programs, if these are installed.

use std::collections::BTreeMap;
use std::process::Command;

use brisance_tests::skipped::skipped;

use crate::cli::{Case, SCENE};

/// A Python with the module bpy, if any: `python3`, or the value of the variable BRISANCE_BPY.
fn python_of_blender() -> Option<String> {
    let python = std::env::var("BRISANCE_BPY").unwrap_or_else(|_| "python3".to_owned());
    let known = Command::new(&python).args(["-c", "import bpy"]).output();
    known.is_ok_and(|output| output.status.success()).then_some(python)
}

#[test]
fn blender_makes_its_file_with_the_rate_and_the_range_of_the_recording() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "a.glb"]).status.success());
    let nothing = ["--blender", "/no/blender", "--python", "/no/python"];
    let output = case.run(&[&["blender", "a.glb", "-o", "a.blend"], &nothing[..]].concat());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("pip install bpy"), "{message}");
    assert!(!case.folder.path().join("a.blend").exists());
    let output = case.run(&["blender", "scene.toml", "-o", "a.blend"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("is not a GLB file"), "{message}");
    let Some(python) = python_of_blender() else {
        skipped("no Python with bpy: pip install bpy, and name it in BRISANCE_BPY");
        return;
    };
    let output = case.run(&["blender", "a.glb", "-q", "-o", "a.blend", "--python", &python]);
    assert!(output.status.success(), "{output:?}");
    let look = "import bpy; bpy.ops.wm.open_mainfile(filepath='a.blend'); s = bpy.context.scene\n\
                print('seen', s.render.fps, s.frame_start, s.frame_end)\n\
                e = [o for o in s.objects if o.type == 'EMPTY']\n\
                print('seen', [o.name for o in e], sum(len(o.children) for o in e) > 2)\n\
                k = {k.co[0] for a in bpy.data.actions for c in a.layers[0].strips[0].channelbags[0].fcurves\n\
                     for k in c.keyframe_points}\n\
                print('seen', all(x == round(x) for x in k))";
    let output =
        Command::new(&python).args(["-c", look]).current_dir(case.folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let seen: Vec<&str> = text.lines().filter(|line| line.starts_with("seen")).collect();
    assert_eq!(seen, ["seen 30 0 12", "seen ['ball pieces'] True", "seen True"], "{text}");
}

/// Programs without support for animated visibility show a body only in its frames.
#[test]
fn the_scale_in_usd_is_zero_where_a_body_does_not_exist_and_prims_have_its_name() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "a.usda"]).status.success());
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "a.jsonl"]).status.success());
    let read = |name: &str| std::fs::read_to_string(case.folder.path().join(name)).unwrap();
    let (usd, lines) = (read("a.usda"), read("a.jsonl"));
    let mut lines =
        lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let head = lines.next().unwrap();
    let name = |n: usize| head["bodies"][n]["name"].as_str().unwrap().to_owned();
    let mut alive: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (frame, line) in lines.enumerate() {
        for n in line["bodies"].as_array().unwrap() {
            let name = name(n.as_u64().unwrap() as usize).replace([' ', '.'], "_");
            alive.entry(name).or_default().push(frame);
        }
    }
    let frames = head["frames"].as_u64().unwrap() as usize;
    assert!(alive.len() > 5, "{alive:?}");
    for (name, alive) in alive {
        let start = usd.find(&format!("def Xform \"{name}\"")).unwrap_or_else(|| panic!("{name}"));
        let own = &usd[start..];
        assert!(own.contains(&format!("def Mesh \"{name}\"")));
        let own = &own[..own.find("def Mesh").unwrap()];
        let scales: Vec<(f64, f64)> = own.split_once("xformOp:scale.timeSamples = {").map_or_else(
            || vec![(0.0, 1.0)],
            |(_, rest)| {
                let samples = rest[..rest.find('}').unwrap()].lines();
                let sample = |line: &str| {
                    let (time, scale) = line.trim().split_once(": (")?;
                    Some((time.parse().ok()?, scale.split(',').next()?.parse().ok()?))
                };
                samples.filter_map(sample).collect()
            },
        );
        for frame in 0..frames {
            // at whole frames, between which values are interpolated
            let last = scales.iter().rev().find(|(time, _)| *time <= frame as f64).unwrap();
            let expected = if alive.contains(&frame) { 1.0 } else { 0.0 };
            assert_eq!(last.1, expected, "{name} in frame {frame}: {scales:?}");
        }
    }
}
