//! Hashes of the final states of scenes, to compare platforms: `fingerprint SCENE.toml FRAMES ...`.
//!
//! Prints a line for each scene: name, frames, bodies, and a hash of the bits of all poses and momenta. Skips scenes
//! that name other files.

#![allow(clippy::print_stdout, reason = "it talks to a terminal")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use sim::build;
use sim::scene::Scene;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for pair in arguments.chunks(2) {
        let [path, frames] = pair else { return Err("give scenes and frames in turn".into()) };
        let frames: usize = frames.parse()?;
        let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        let scene = Scene::from_toml(&std::fs::read_to_string(path)?)?;
        let Ok((mut world, _)) = build(&scene, &BTreeMap::new()) else {
            println!("{name} skipped");
            continue;
        };
        (0..frames).for_each(|_| drop(world.step()));
        println!("{name} {frames} {} {:016x}", world.len(), world.motion_hash());
    }
    Ok(())
}
