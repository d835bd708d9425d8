//! The final bits of the scenes of the repository are independent of the number of threads: the file records those
//! of one thread, and a run on three threads reproduces them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use brisance_tests::scenes::load;
use rayon::ThreadPoolBuilder;

/// A line of the file: the state of a scene after a number of frames.
#[derive(Clone, Debug, PartialEq)]
struct Golden {
    name: String,
    frames: usize,
    /// The first frame with all bodies asleep at its end.
    asleep: Option<usize>,
    bodies: usize,
    /// CRC-32 of the bits of all poses and momenta.
    hash: u32,
}

/// Minimum number of scenes in the file.
const SCENES: usize = 36;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt")
}

impl Golden {
    fn of_line(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, frames, asleep, bodies, hash] = words[..] else { panic!("five words: {line}") };
        Self {
            name: name.to_owned(),
            frames: frames.parse().unwrap(),
            asleep: asleep.parse().ok(),
            bodies: bodies.parse().unwrap(),
            hash: u32::from_str_radix(hash, 16).unwrap(),
        }
    }

    /// The current result of the scene.
    fn again(&self) -> Self {
        let mut world = load(&self.name, |_| {}).world;
        let mut asleep = None;
        for frame in 1..=self.frames {
            world.step();
            let mut moving = world.iter().filter(|body| body.body.mass_properties().is_some());
            let are_still = moving.all(|body| body.asleep);
            asleep = asleep.filter(|_| are_still).or(are_still.then_some(frame));
        }
        let mut hash = crc32fast::Hasher::new();
        for body in world.iter() {
            let pose = (&body.pose.translation.vector, &body.pose.rotation.coords);
            let numbers = pose.0.iter().chain(pose.1.iter());
            let momentum = body.momentum.linear.iter().chain(&body.momentum.angular);
            numbers.chain(momentum).for_each(|x| hash.update(&x.to_bits().to_le_bytes()));
        }
        let bodies = world.len();
        Self { name: self.name.clone(), asleep, bodies, hash: hash.finalize(), ..*self }
    }

    fn line(&self) -> String {
        let Self { name, frames, asleep, bodies, hash } = self;
        let asleep = asleep.map_or_else(|| "-".to_owned(), |frame| frame.to_string());
        format!("{name} {frames} {asleep} {bodies} {hash:08x}")
    }
}

/// `BRISANCE_GOLDEN=write` rewrites the file, for intended changes of the motion.
#[test]
fn scenes_end_on_three_threads_with_the_bits_recorded_on_one() {
    let text = std::fs::read_to_string(file()).unwrap();
    let (comments, lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('#'));
    let before: Vec<Golden> = lines.into_iter().map(Golden::of_line).collect();
    assert!(before.len() >= SCENES, "{} scenes", before.len());
    let on = |threads: usize| -> Vec<Golden> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| before.iter().map(Golden::again).collect())
    };
    if std::env::var("BRISANCE_GOLDEN").as_deref() == Ok("write") {
        let now = on(1);
        assert_eq!(now, on(3), "three threads");
        let mut text = comments.join("\n") + "\n";
        now.iter().for_each(|own| writeln!(text, "{}", own.line()).unwrap());
        std::fs::write(file(), text).unwrap();
        return;
    }
    let now = on(3);
    for (now, before) in now.iter().zip(&before) {
        assert_eq!(
            now,
            before,
            "if the motion was meant to change, `cargo xtask golden` writes {}",
            file().display()
        );
    }
}
