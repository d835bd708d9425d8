//! The scenes of the playground.

/// A scene of the repository.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Key in links.
    pub key: &'static str,
    /// Title in the list of scenes.
    pub title: &'static str,
    /// Text in TOML.
    pub text: &'static str,
}

macro_rules! sample {
    ($key:literal, $title:literal) => {
        Sample {
            key: $key,
            title: $title,
            text: include_str!(concat!("../../../scenes/", $key, ".toml")),
        }
    };
}

/// All scenes. New visitors see the first one.
pub const SCENES: [Sample; 8] = [
    sample!("bunny", "Stoneware bunny"),
    sample!("jar", "Jar full of marbles"),
    sample!("bricks", "Wall of loose bricks"),
    sample!("wrecking_ball", "Wrecking ball"),
    sample!("bridge", "Bridge on piers"),
    sample!("window", "Window of glass"),
    sample!("dominoes", "Dominoes"),
    sample!("arch", "Arch without mortar"),
];

/// Meshes of the scenes, by their names in the scenes.
const FILES: [(&str, &[u8]); 3] = [
    ("../assets/bunny.obj", include_bytes!("../../../assets/bunny.obj")),
    ("../assets/jar.obj", include_bytes!("../../../assets/jar.obj")),
    ("../assets/voussoir.obj", include_bytes!("../../../assets/voussoir.obj")),
];

/// The bytes of a file of [`SCENES`]; `None` if no scene names it.
pub fn file(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}

/// A scene in which the solid of a mesh or SVG file falls on a floor. `name` is the name of the
/// file.
pub fn own_scene(name: &str) -> String {
    let is_outline = name.to_ascii_lowercase().ends_with(".svg");
    let name = toml::Value::from(name).to_string();
    let shape = if is_outline {
        format!("svg = {{ file = {name}, size = 0.6, depth = 0.12, nodes = 120000 }}")
    } else {
        format!("mesh = {{ file = {name}, size = 0.6, nodes = 120000 }}")
    };
    format!(
        r#"version = 1

[pattern.shards.voronoi]
pieces = 30
clustering = 0.3

[[body]]
name = "floor"
shape = {{ plane = {{}} }}
motion = "static"
material = "concrete"

[[body]]
name = "solid"
shape = {{ {shape} }}
position = [0, 0.42, 0]
material = "clay"
fracture = {{ pattern = "shards", break_impulse = 60, generations = 2 }}
"#
    )
}
