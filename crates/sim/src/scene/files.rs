//! Scenes that consist of several files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;
use toml::de::DeTable;

use super::error::{span_of, visit_texts};
use super::validate::version_problem;
use super::{
    Body, Event, InvalidValue, Joint, OwnMaterial, Pattern, Scene, SceneError, TextPosition, units,
};

/// An error in one of the files of a scene.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}{error}", if file.is_empty() { String::new() } else { format!("{file}: ") })]
pub struct FileError {
    /// The file, relative to the folder of the scene; empty for the scene itself.
    pub file: String,
    /// The error.
    pub error: SceneError,
}

/// An included file: the contents of a scene, except for parts that exist only once.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Included {
    version: Option<u32>,
    /// Variables of this file alone.
    #[allow(dead_code, reason = "their values already replace the strings that refer to them")]
    variables: BTreeMap<String, f64>,
    include: Vec<String>,
    #[serde(rename = "material")]
    materials: BTreeMap<String, OwnMaterial>,
    #[serde(rename = "pattern")]
    patterns: BTreeMap<String, Pattern>,
    #[serde(rename = "body")]
    bodies: Vec<Body>,
    joints: Vec<Joint>,
    #[serde(rename = "event")]
    events: Vec<Event>,
}

/// A scene, and the origins of its values.
#[derive(Clone, Debug)]
pub struct SceneWithOrigins {
    /// The scene.
    pub scene: Scene,
    /// Positions of its values.
    pub origins: Origins,
}

/// Positions of the values of a scene in its files.
#[derive(Clone, Debug)]
pub struct Origins {
    parts: Vec<Part>,
    /// Text of the scene itself.
    text: String,
}

impl Origins {
    /// The error for an invalid value of the scene, in its file.
    pub fn error_for(&self, invalid: InvalidValue) -> FileError {
        let found = self.parts.iter().find_map(|part| Some((part, part.local(&invalid.key)?)));
        match found {
            Some((part, key)) => part.error_for(key, invalid.problem),
            None => {
                let error = SceneError::from_invalid(&self.text, invalid);
                FileError { file: String::new(), error }
            }
        }
    }
}

/// The part of a scene from one file.
#[derive(Clone, Debug)]
struct Part {
    file: String,
    text: String,
    bodies: Range<usize>,
    joints: Range<usize>,
    events: Range<usize>,
    /// Keys of its tables, as `material.glass`.
    tables: Vec<String>,
}

impl Part {
    /// The path of a key within the file, if it is from this file.
    fn local(&self, key: &str) -> Option<String> {
        let lists = [("body", &self.bodies), ("joints", &self.joints), ("event", &self.events)];
        for (list, range) in lists {
            if let Some(rest) = key.strip_prefix(list).and_then(|rest| rest.strip_prefix('[')) {
                let (n, rest) = rest.split_once(']')?;
                let n: usize = n.parse().ok()?;
                let mine = range.contains(&n);
                return mine.then(|| format!("{list}[{}]{rest}", n - range.start));
            }
        }
        let of = |table: &String| {
            let rest = key.strip_prefix(table.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.tables.iter().any(of).then(|| key.to_owned())
    }

    fn error_for(&self, key: String, problem: String) -> FileError {
        let error = SceneError::from_invalid(&self.text, InvalidValue { key, problem });
        FileError { file: self.file.clone(), error }
    }
}

/// Reads included files into a scene.
struct Files<'a> {
    read: &'a mut dyn FnMut(&str) -> Result<String, String>,
    scene: Scene,
    finished: Vec<Part>,
    /// Files whose includes are being read, the scene first.
    include_stack: Vec<String>,
}

/// Largest depth of includes: each level takes stack.
const MAX_NESTED: usize = 100;

impl Scene {
    /// Reads a scene and checks every value in it.
    ///
    /// # Errors
    /// [`SceneError`] with line, column and key for text that is not TOML, unknown keys and invalid
    /// values.
    pub fn from_toml(text: &str) -> Result<Self, SceneError> {
        let read = &mut |_: &str| Err("only a scene in a file includes others".to_owned());
        Self::from_files(text, read).map_err(|file| file.error)
    }

    /// Reads a scene with all its includes, and checks every value in it. `read` returns the text
    /// of a file, or an error message; names are relative to the folder of the scene.
    ///
    /// Bodies, joints and events of an included file precede those of the including file. A file
    /// included twice is read once. File names in an included file are relative to that file.
    ///
    /// # Errors
    /// [`FileError`] as for [`Scene::from_toml`], also for cyclic includes, for more than 100
    /// nested ones, and for tables that two files define.
    pub fn from_files(
        text: &str,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Self, FileError> {
        SceneWithOrigins::read(text, read).map(|read| read.scene)
    }
}

impl SceneWithOrigins {
    /// Reads a scene like [`Scene::from_files`].
    ///
    /// # Errors
    /// As [`Scene::from_files`].
    pub fn read(
        text: &str,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Self, FileError> {
        let failed = |error| FileError { file: String::new(), error };
        let own: Scene = units::read(text).map_err(failed)?;
        let scene = Scene {
            materials: BTreeMap::new(),
            patterns: BTreeMap::new(),
            bodies: Vec::new(),
            joints: Vec::new(),
            events: Vec::new(),
            ..own.clone()
        };
        let mut files = Files { read, scene, finished: Vec::new(), include_stack: Vec::new() };
        let part = Included {
            version: None,
            variables: BTreeMap::new(),
            include: own.include,
            materials: own.materials,
            patterns: own.patterns,
            bodies: own.bodies,
            joints: own.joints,
            events: own.events,
        };
        files.add(String::new(), text.to_owned(), part)?;
        let Files { mut scene, finished, .. } = files;
        let origins = Origins { parts: finished, text: text.to_owned() };
        scene.assign_materials();
        scene.validate().map_err(|invalid| origins.error_for(invalid))?;
        Ok(Self { scene, origins })
    }
}

impl Files<'_> {
    /// Adds the contents of a file, after those of its includes.
    fn add(&mut self, file: String, text: String, own: Included) -> Result<(), FileError> {
        let mut part =
            Part { file, text, bodies: 0..0, joints: 0..0, events: 0..0, tables: Vec::new() };
        self.include_stack.push(part.file.clone());
        for (n, name) in own.include.iter().enumerate() {
            self.include(&part, n, name)?;
        }
        self.include_stack.pop();
        let is_main = part.file.is_empty();
        for (name, material) in own.materials {
            part.tables.push(format!("material.{name}"));
            if self.scene.materials.insert(name.clone(), material).is_some() {
                return Err(self.duplicate_table_error(&part, format!("material.{name}")));
            }
        }
        for (name, mut pattern) in own.patterns {
            for file in pattern.files_mut().into_iter().filter(|_| !is_main) {
                *file = resolve_path(&part.file, file);
            }
            part.tables.push(format!("pattern.{name}"));
            if self.scene.patterns.insert(name.clone(), pattern).is_some() {
                return Err(self.duplicate_table_error(&part, format!("pattern.{name}")));
            }
        }
        let first = self.scene.bodies.len();
        for mut body in own.bodies {
            for file in body.shape.files_mut().into_iter().filter(|_| !is_main) {
                *file = resolve_path(&part.file, file);
            }
            let lattice = body.fracture.as_mut().and_then(|fracture| fracture.lattice.as_mut());
            let picture = lattice.and_then(|lattice| lattice.strength_picture.as_mut());
            if let (Some(picture), false) = (picture, is_main) {
                picture.file = resolve_path(&part.file, &picture.file);
            }
            self.scene.bodies.push(body);
        }
        part.bodies = first..self.scene.bodies.len();
        let first = self.scene.joints.len();
        self.scene.joints.extend(own.joints);
        part.joints = first..self.scene.joints.len();
        let first = self.scene.events.len();
        self.scene.events.extend(own.events);
        part.events = first..self.scene.events.len();
        self.finished.push(part);
        Ok(())
    }

    /// Reads include number `n` of `part`.
    fn include(&mut self, part: &Part, n: usize, name: &str) -> Result<(), FileError> {
        let error_for = |problem| part.error_for(format!("include[{n}]"), problem);
        let file = resolve_path(&part.file, name);
        if self.include_stack.contains(&file) {
            let problem = format!("names `{name}`, which includes this file: remove one of both");
            return Err(error_for(problem));
        }
        if self.finished.iter().any(|part| part.file == file) {
            return Ok(());
        }
        if self.include_stack.len() >= MAX_NESTED {
            let problem = format!(
                "names `{name}`, nested more than {MAX_NESTED} files deep: include it from the scene"
            );
            return Err(error_for(problem));
        }
        let text = (self.read)(&file).map_err(|why| {
            error_for(format!("names `{file}`, which cannot be read ({why}): check the path"))
        })?;
        let own: Included =
            units::read(&text).map_err(|error| FileError { file: file.clone(), error })?;
        if let Some(version) = own.version.filter(|version| *version != Scene::VERSION) {
            let part =
                Part { file, text, bodies: 0..0, joints: 0..0, events: 0..0, tables: Vec::new() };
            return Err(part.error_for("version".to_owned(), version_problem(version)));
        }
        self.add(file, text, own)
    }

    /// The error for a table that two files define.
    fn duplicate_table_error(&self, part: &Part, key: String) -> FileError {
        let other = self.finished.iter().find(|other| other.tables.contains(&key));
        let other = other.map_or("", |other| other.file.as_str());
        part.error_for(key, format!("is defined in `{other}` too: rename one"))
    }
}

impl TextPosition {
    /// Position at which the text of a scene, in the file `of`, names the file `name` as a `file`
    /// or `picture`; both are relative to the folder of the scene, and `of` is empty for the scene
    /// itself.
    pub fn of_file(text: &str, of: &str, name: &str) -> Option<Self> {
        let is_named = |given: &str| {
            given == name && of.is_empty() || !of.is_empty() && resolve_path(of, given) == name
        };
        let root = DeTable::parse(text).ok()?;
        let mut found = None;
        visit_texts(root.get_ref(), &mut |path, value, span| {
            if [".file", ".picture"].iter().any(|key| path.ends_with(key)) && is_named(value) {
                found.get_or_insert(span.start);
            }
        });
        found.map(|offset| Self::of(text, offset))
    }
}

impl TextPosition {
    /// Position of `key` of the body with this name in the text of a scene, or of the body if it
    /// lacks the key.
    pub fn of_body(text: &str, name: &str, key: &str) -> Option<Self> {
        let root = DeTable::parse(text).ok()?;
        let mut found = None;
        visit_texts(root.get_ref(), &mut |path, value, _| {
            let body = path.strip_suffix("].name").filter(|body| body.starts_with("body["));
            if let Some(body) = body.filter(|body| !body.contains('.') && value == name) {
                found.get_or_insert(format!("{body}].{key}"));
            }
        });
        let span = span_of(root.get_ref(), &found?)?;
        Some(Self::of(text, span.start))
    }
}

/// Resolves `name`, a path in `file`: the result is relative to the folder of the scene.
fn resolve_path(file: &str, name: &str) -> String {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(name).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if path.file_name().is_some() => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path.to_string_lossy().into_owned()
}
