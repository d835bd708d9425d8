//! The C ABI for JavaScript: functions of plain numbers.
//!
//! JavaScript writes longer arguments to the memory of [`input`], and reads longer answers at
//! [`output`]. The answer is [`output_length`] bytes long and valid until the next call. A function
//! that fails returns 0, and its answer is an error message.

#![allow(
    unsafe_code,
    reason = "an exported name is `#[unsafe(no_mangle)]`; no pointer is followed here"
)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use visit::{Command, Setup};

use crate::play::Play;
use crate::scenes::{SCENES, own_scene};

/// Limits of the number and the total bytes of files.
const MAX_FILES: usize = 1024;
const MAX_KEPT: usize = 128 << 20;

/// State between calls.
#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    files: BTreeMap<String, Vec<u8>>,
    play: Option<Play>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Message of the last panic, which outlives the trap.
static PANIC: Mutex<String> = Mutex::new(String::new());

impl State {
    /// Stores a result or its error message; 1 for a result, 0 for an error.
    fn answer<E: std::fmt::Display>(&mut self, result: Result<Vec<u8>, E>) -> u32 {
        let is_right = result.is_ok();
        self.output = result.unwrap_or_else(|error| error.to_string().into_bytes());
        u32::from(is_right)
    }

    /// Runs `act` on the current scene.
    fn play<E: std::fmt::Display>(
        &mut self,
        act: impl FnOnce(&mut Play, &[u8]) -> Result<Vec<u8>, E>,
    ) -> u32 {
        let input = std::mem::take(&mut self.input);
        let result = match &mut self.play {
            Some(play) => act(play, &input).map_err(|error| error.to_string()),
            None => Err("no scene runs: choose one".to_owned()),
        };
        self.answer(result)
    }
}

fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(act)
}

/// Makes panics store their message for [`panicked`].
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut message) = PANIC.lock() {
            *message = info.to_string();
        }
    }));
}

/// Address of the message of a panic; [`panicked_length`] bytes.
#[unsafe(no_mangle)]
pub extern "C" fn panicked() -> *const u8 {
    PANIC.lock().map_or(std::ptr::null(), |message| message.as_ptr())
}

/// The length of the message of a panic, bytes.
#[unsafe(no_mangle)]
pub extern "C" fn panicked_length() -> usize {
    PANIC.lock().map_or(0, |message| message.len())
}

/// Allocates `length` bytes of input for the next call.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    with(|state| {
        state.input.clear();
        state.input.resize(length, 0);
        state.input.as_mut_ptr()
    })
}

/// Address of the answer of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    with(|state| state.output.as_ptr())
}

/// The length of the answer of the last call, bytes.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    with(|state| state.output.len())
}

/// Answers the scenes of the playground: a list of `key`, `title` and `text` in JSON.
#[unsafe(no_mangle)]
pub extern "C" fn scenes() -> u32 {
    with(|state| {
        let list = SCENES.map(|s| json!({ "key": s.key, "title": s.title, "text": s.text }));
        state.answer::<String>(Ok(Value::from(list.to_vec()).to_string().into_bytes()))
    })
}

/// Stores a file: the first `name` bytes of the input are its name, the rest its contents. Answers
/// a scene in TOML in which the solid of the file falls on a floor.
#[unsafe(no_mangle)]
pub extern "C" fn keep_file(name: usize) -> u32 {
    with(|state| {
        let input = std::mem::take(&mut state.input);
        let Some((name, bytes)) = input.split_at_checked(name) else {
            return state.answer(Err("the name of the file is too long"));
        };
        let name = String::from_utf8_lossy(name).into_owned();
        let kept: usize = state.files.values().map(Vec::len).sum();
        if state.files.len() >= MAX_FILES || kept + bytes.len() > MAX_KEPT {
            return state.answer(Err("there are more files than the page keeps: reload it"));
        }
        state.files.insert(name.clone(), bytes.to_vec());
        state.answer::<String>(Ok(own_scene(&name).into_bytes()))
    })
}

/// Starts the scene of the input, a [`Setup`] in JSON. Answers [`Play::start`].
#[unsafe(no_mangle)]
pub extern "C" fn load() -> u32 {
    with(|state| {
        state.play = None;
        let input = std::mem::take(&mut state.input);
        let setup = serde_json::from_slice::<Setup>(&input).map_err(|e| e.to_string());
        let files = &state.files;
        let play = setup.and_then(|setup| Play::new(&setup, files).map_err(|e| e.to_string()));
        let result = play.map(|play| state.play.insert(play).start());
        state.answer(result)
    })
}

/// Schedules the events of the input.
#[unsafe(no_mangle)]
pub extern "C" fn replay() -> u32 {
    with(|state| state.play(|play, input| play.replay(input).map(|()| Vec::new())))
}

/// Executes the command of the input.
#[unsafe(no_mangle)]
pub extern "C" fn act() -> u32 {
    with(|state| {
        state.play(|play, mut input| {
            let command = Command::read(&mut input)?;
            play.act(command).map(|()| Vec::new())
        })
    })
}

/// Ends the scene with a recording of the given number of frames. Answers [`Play::record`].
#[unsafe(no_mangle)]
pub extern "C" fn record(frames: usize) -> u32 {
    with(|state| {
        let play = state.play.take().ok_or_else(|| "no scene runs: choose one".to_owned());
        let result = play.and_then(|play| play.record(frames).map_err(|error| error.to_string()));
        state.answer(result)
    })
}

/// Advances the scene by a frame. Answers [`Play::step`].
#[unsafe(no_mangle)]
pub extern "C" fn step() -> u32 {
    with(|state| state.play(|play, _| Ok::<_, String>(play.step())))
}

/// Answers [`Play::pick`] in JSON for a ray from (`x`, `y`, `z`) along (`a`, `b`, `c`), `null`
/// without an intersection.
#[unsafe(no_mangle)]
pub extern "C" fn pick(x: f64, y: f64, z: f64, a: f64, b: f64, c: f64) -> u32 {
    with(|state| {
        state.play(|play, _| {
            let found = play.pick([x, y, z], [a, b, c]).unwrap_or(Value::Null);
            Ok::<_, String>(found.to_string().into_bytes())
        })
    })
}

/// Answers all commands so far, for a link.
#[unsafe(no_mangle)]
pub extern "C" fn events() -> u32 {
    with(|state| state.play(|play, _| Ok::<_, String>(play.events())))
}

/// Number of simulated frames. Zero if no scene runs.
#[unsafe(no_mangle)]
pub extern "C" fn frame() -> usize {
    with(|state| state.play.as_ref().map_or(0, |play| play.world().frame()))
}

/// [`Play::fingerprint`] of the world. Zero if no scene runs.
#[unsafe(no_mangle)]
pub extern "C" fn fingerprint() -> u64 {
    with(|state| state.play.as_ref().map_or(0, Play::fingerprint))
}
