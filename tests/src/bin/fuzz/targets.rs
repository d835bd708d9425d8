//! All file readers, with small valid files and their commands.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use brisance::args::Arguments;
use brisance::commands::execute;
use clap::Parser;
use sim::scene::{Pattern, Scene};

use crate::Outcome;
use crate::envelope::Envelope;

/// A kind of file.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// File name extension.
    pub(crate) extension: &'static str,
    pub(crate) envelope: Envelope,
    /// Commands that create valid files; the first word is the file name.
    generators: &'static [&'static str],
    /// Valid files of the repository.
    repository_files: &'static [&'static str],
    /// Commands that read `FILE`; the second and later ones only if the first accepts it.
    commands: &'static [&'static str],
    /// Bytes that these commands may allocate beyond the limit for the size of the file.
    pub(crate) memory: usize,
}

const MEMORY: usize = 64 << 20;

const MESH: &[&str] = &[
    "info -q FILE",
    "slice -q FILE --plane 0.3,1,0.2,0.1 -o out.obj",
    "fracture -q FILE --pattern voronoi:6 --nodes 2000 -o out.glb",
    "voxelize -q FILE --nodes 2000 -o out.lset",
    "tetrahedralize -q FILE --nodes 2000 --count 100 -o out.msh",
];

const TETS: &[&str] = &["info -q FILE", "stress -q FILE --at 0,0,0 --impulse 0,1,0 -o out.vtu"];

const fn target(name: &'static str, extension: &'static str) -> Target {
    Target {
        name,
        extension,
        envelope: Envelope::None,
        generators: &[],
        repository_files: &[],
        commands: &[],
        memory: MEMORY,
    }
}

/// All targets.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        repository_files: &[
            "tests/fuzz_files/shapes.toml",
            "tests/fuzz_files/cracks.toml",
            "tests/fuzz_files/files.toml",
            "scenes/again.toml",
        ],
        commands: &["check -q FILE"],
        memory: 512 << 20,
        ..target("scene", "toml")
    },
    Target {
        generators: &["slice -q cube.obj --plane 0.3,1,0.2,0.1 -o made.obj"],
        repository_files: &["tests/fuzz_files/cube.obj", "tests/fuzz_files/painted.obj"],
        commands: MESH,
        ..target("obj", "obj")
    },
    Target {
        repository_files: &["tests/fuzz_files/cube.stl", "tests/fuzz_files/cube_text.stl"],
        commands: MESH,
        ..target("stl", "stl")
    },
    Target {
        repository_files: &["tests/fuzz_files/cube.ply", "tests/fuzz_files/cube_text.ply"],
        commands: MESH,
        ..target("ply", "ply")
    },
    Target {
        envelope: Envelope::Glb,
        generators: &["slice -q cube.obj --plane 0.3,1,0.2,0.1 -o made.glb"],
        commands: MESH,
        ..target("glb", "glb")
    },
    Target {
        envelope: Envelope::Glb,
        generators: &[
            "run -q scene.toml -o made.glb",
            "fracture -q cube.obj --pattern voronoi:4 --nodes 2000 -o made2.glb",
        ],
        commands: &["info -q FILE", "render -q FILE --frame 2 --size 32x24 -o out.png"],
        ..target("recording", "glb")
    },
    Target {
        envelope: Envelope::Glb,
        generators: &[
            "fracture -q cube.obj --pattern voronoi:4 --nodes 2000 -o cube.glb --dust made.glb --dust-per-joule 0.1",
        ],
        commands: &["info -q FILE", "render -q cube.glb --dust FILE --size 32x24 -o out.png"],
        ..target("dust_glb", "glb")
    },
    Target {
        generators: &[
            "fracture -q cube.obj --pattern voronoi:4 --nodes 2000 -o cube.glb --dust made.ply --dust-per-joule 0.1",
        ],
        commands: &["info -q FILE"],
        ..target("dust_ply", "ply")
    },
    Target {
        generators: &["tetrahedralize -q cube.obj --nodes 2000 --count 20 -o made.msh"],
        repository_files: &[
            "tests/tet_files/gmsh_2.2_binary.msh",
            "tests/tet_files/gmsh_2.2_text.msh",
            "tests/tet_files/gmsh_4.1_binary.msh",
            "tests/tet_files/gmsh_4.1_text.msh",
        ],
        commands: TETS,
        ..target("msh", "msh")
    },
    Target {
        repository_files: &["tests/tet_files/tetgen.ele"],
        commands: TETS,
        ..target("ele", "ele")
    },
    Target {
        repository_files: &["tests/tet_files/tetgen.node"],
        commands: TETS,
        ..target("node", "node")
    },
    Target {
        repository_files: &["tests/tet_files/netgen.vol"],
        commands: TETS,
        ..target("vol", "vol")
    },
    Target {
        repository_files: &[
            "tests/tet_files/vtk_4.2_binary.vtk",
            "tests/tet_files/vtk_4.2_text.vtk",
            "tests/tet_files/vtk_5.1_binary.vtk",
            "tests/tet_files/vtk_5.1_text.vtk",
        ],
        commands: TETS,
        ..target("vtk", "vtk")
    },
    Target {
        generators: &["tetrahedralize -q cube.obj --nodes 2000 --count 20 -o made.vtu"],
        repository_files: &[
            "tests/tet_files/vtu_appended_base64.vtu",
            "tests/tet_files/vtu_appended_raw.vtu",
            "tests/tet_files/vtu_plain.vtu",
            "tests/tet_files/vtu_text.vtu",
            "tests/tet_files/vtu_zlib.vtu",
        ],
        commands: TETS,
        ..target("vtu", "vtu")
    },
    Target {
        generators: &["voxelize -q cube.obj --nodes 2000 -o made.lset"],
        commands: &["info -q FILE", "tetrahedralize -q FILE --count 60 -o out.msh"],
        ..target("lset", "lset")
    },
    Target {
        generators: &["voxelize -q cube.obj --nodes 2000 -o made.vti"],
        commands: &["info -q FILE", "voxelize -q FILE -o out.obj"],
        ..target("vti", "vti")
    },
    Target {
        generators: &["voxelize -q cube.obj --nodes 2000 -o made.vdb"],
        repository_files: &["tests/fuzz_files/ball.vdb"],
        commands: &["info -q FILE", "voxelize -q FILE -o out.obj"],
        // a narrow band may span 2^21 nodes
        memory: 128 << 20,
        ..target("vdb", "vdb")
    },
    Target {
        repository_files: &["tests/fuzz_files/shapes.svg", "tests/fuzz_files/paths.svg"],
        commands: &["check -q outline.toml"],
        ..target("svg", "svg")
    },
    Target {
        generators: &[
            "pattern new -q voronoi:6 -o made.pattern",
            "pattern new -q radial:3x2,jitter=0.3 -o made2.pattern",
            "pattern new -q regions.png -o made3.pattern",
        ],
        commands: &[
            "info -q FILE",
            "pattern preview -q FILE --size 16 -o out.png",
            "fracture -q cube.obj --pattern FILE --nodes 2000 -o out.glb",
        ],
        ..target("pattern", "pattern")
    },
    Target {
        envelope: Envelope::Png,
        repository_files: &["tests/fuzz_files/regions.png", "tests/fuzz_files/palette.png"],
        commands: &["pattern new -q FILE -o out.pattern", "check -q picture.toml"],
        // 2^24 pixels of eight bytes, and their labels
        memory: 320 << 20,
        ..target("png", "png")
    },
    Target {
        generators: &["run -q scene.toml -o made.usda --events made.jsonl"],
        commands: &["replay -q scene.toml FILE -o out.jsonl --threads 1"],
        ..target("events", "jsonl")
    },
    Target {
        generators: &["run -q scene.toml -o made.jsonl --ledger made.csv"],
        commands: &["plot -q FILE --size 128x128 -o out.svg", "plot -q FILE -o out.png"],
        ..target("ledger", "csv")
    },
    Target {
        envelope: Envelope::Sum,
        generators: &[
            "run -q scene.toml -o made.jsonl --checkpoint-every 3 --checkpoint made.checkpoint",
        ],
        commands: &["run -q scene.toml --resume FILE -o out.jsonl --threads 1"],
        ..target("checkpoint", "checkpoint")
    },
];

/// A target with deliberate faults, to test the checks.
pub(crate) const FAULTY: Target = target("faulty", "txt");

/// Additional files for commands with several inputs.
const COMPANION_FILES: [(&str, &str); 9] = [
    ("tests/fuzz_files/cube.obj", "cube.obj"),
    ("tests/fuzz_files/regions.png", "regions.png"),
    ("tests/fuzz_files/scene.toml", "scene.toml"),
    ("tests/fuzz_files/picture.toml", "picture.toml"),
    ("tests/fuzz_files/outline.toml", "outline.toml"),
    ("tests/fuzz_files/part.toml", "part.toml"),
    ("tests/tet_files/tetgen.ele", "input.ele"),
    ("tests/tet_files/tetgen.node", "input.node"),
    ("tests/tet_files/gmsh_2.2_text.msh", "tets.msh"),
];

impl Target {
    /// The target with a name.
    pub(crate) fn of(name: &str) -> Option<&'static Self> {
        TARGETS.iter().chain([&FAULTY]).find(|target| target.name == name)
    }

    /// The file of a case, in the current folder of the program.
    pub(crate) fn input(&self) -> String {
        format!("input.{}", self.extension)
    }

    /// Writes the additional files of its commands to the current folder, and returns valid files.
    pub(crate) fn prepare(&self, repository: &Path) -> Result<Vec<Vec<u8>>, String> {
        let read =
            |path: &Path| std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
        for (from, to) in COMPANION_FILES {
            let bytes = read(&repository.join(from))?;
            std::fs::write(to, bytes).map_err(|e| format!("{to}: {e}"))?;
        }
        let mut files = vec![];
        for name in self.repository_files {
            files.push(read(&repository.join(name))?);
        }
        for command in self.generators {
            match execute_command(command) {
                CommandResult::Succeeded => {}
                CommandResult::InvalidArguments(message) | CommandResult::Failed(message) => {
                    return Err(message);
                }
            }
            let made = |word: &&str| word.starts_with("made") && word.ends_with(self.extension);
            let name = command.split(' ').find(made).ok_or("nothing is made")?;
            files.push(read(Path::new(name))?);
        }
        if files.is_empty() {
            files.push(b"valid".to_vec());
        }
        Ok(files)
    }

    /// Runs the commands on the file of a case, each inside `measured`.
    pub(crate) fn read(
        &self,
        mut measured: impl FnMut(&mut dyn FnMut() -> Outcome) -> Outcome,
    ) -> Outcome {
        let file = self.input();
        if self.name == FAULTY.name {
            return measured(&mut || faulty(&file));
        }
        if self.name == "scene" && !is_small(&file) {
            return Ok(Some("it is too large to be tried".to_owned()));
        }
        for (n, command) in self.commands.iter().enumerate() {
            let command = command.replace("FILE", &file);
            let refused = measured(&mut || run(&command))?;
            if n == 0 && refused.is_some() {
                return Ok(refused);
            }
        }
        Ok(None)
    }
}

/// The result of a command of the program.
enum CommandResult {
    Succeeded,
    /// The command line is invalid.
    InvalidArguments(String),
    /// The command failed with this message.
    Failed(String),
}

/// Runs a command of the program in this process.
fn execute_command(command: &str) -> CommandResult {
    let words = std::iter::once("brisance").chain(command.split(' '));
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(e) => return CommandResult::InvalidArguments(format!("{command}: {e}")),
    };
    match execute(&arguments.command, &AtomicBool::new(false)) {
        Ok(()) => CommandResult::Succeeded,
        Err(failure) => CommandResult::Failed(failure.line()),
    }
}

/// Runs a command and checks that it writes all outputs or none, and fails with one sentence.
fn run(command: &str) -> Outcome {
    let result = match execute_command(command) {
        CommandResult::InvalidArguments(message) => return Err(message),
        CommandResult::Succeeded => Ok(()),
        CommandResult::Failed(message) => Err(message),
    };
    let mut written = 0;
    for entry in Path::new(".").read_dir().map_err(|e| e.to_string())?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(".brisance") {
            return Err(format!("`{command}` leaves {name}"));
        }
        if name.starts_with("out.") {
            written += 1;
            std::fs::remove_file(entry.path()).map_err(|e| e.to_string())?;
        }
    }
    let expected = usize::from(result.is_ok() && command.contains(" out."));
    if written != expected {
        return Err(format!("`{command}` writes {written} files: {result:?}"));
    }
    match result {
        Err(message) if message.is_empty() || message.contains('\n') => {
            Err(format!("`{command}` says {message:?}, not one sentence"))
        }
        result => Ok(result.err()),
    }
}

/// Whether the simulation of a scene is short: valid scenes may take days.
fn is_small(file: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(file) else { return true };
    let Ok(scene) = Scene::from_files(&text, &mut |name| {
        std::fs::read_to_string(name).map_err(|e| e.to_string())
    }) else {
        return true;
    };
    let nodes: f64 = scene.bodies.iter().map(|body| body.nodes()).sum();
    let fine = scene.patterns.values().all(has_few_pieces);
    nodes <= 5e4 && scene.body_count() <= 100 && fine
}

fn has_few_pieces(pattern: &Pattern) -> bool {
    match pattern.spec() {
        Pattern::Voronoi(voronoi) => voronoi.pieces <= 200,
        Pattern::Radial(radial) => radial.sectors * radial.rings <= 200,
        Pattern::Painted(painted) => painted.pieces <= 200,
        Pattern::Bricks(bricks) => {
            bricks.count.is_some_and(|n| n.iter().map(|&n| n as f64).product::<f64>() <= 200.0)
        }
        Pattern::Slices(slices) => slices.planes <= 10,
        Pattern::Nested(_) | Pattern::Points(_) => false,
        Pattern::Preset(_) | Pattern::File(_) => true,
    }
}

/// Commits the fault that the file names.
fn faulty(file: &str) -> Outcome {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    match text.as_str() {
        "panic" => panic!("deliberate panic"),
        "end" => std::process::abort(),
        "memory" => drop(std::hint::black_box(vec![1_u8; MEMORY + (1 << 20)])),
        "all memory" => drop(std::hint::black_box(vec![1_u8; crate::MAX_MEMORY])),
        "hang" => loop {
            std::thread::park();
        },
        "leftover files" => return Err("leaves files behind".to_owned()),
        _ => {}
    }
    Ok(None)
}
