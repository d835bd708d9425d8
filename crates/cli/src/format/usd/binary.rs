//! The binary encoding, `.usdc`: the crate format of USD, version 0.8, which is documented only by
//! its source (`pxr/usd/sdf/crateFile.cpp`). All numbers are little-endian.
//!
//! The header has 88 bytes: the magic number, the version and the offset of the table of contents.
//! Values follow in the order in which they are written. The sections come last: unique tokens
//! (`TOKENS`), strings as token indices (`STRINGS`), name-value pairs (`FIELDS`), lists of fields
//! (`FIELDSETS`), the tree of paths (`PATHS`), and the field list and type of each path (`SPECS`).

mod integers;
mod interned;
mod paths;
mod values;

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};

use super::encoder::Encoder;
use super::prim::{Content, Metadata, Prim, Property};
use integers::{compressed, put, write_integers};
use interned::Interned;
use paths::Paths;
use values::{Kind, Rep, Values};

/// Size of the header, bytes: magic number, version, offset of the table of contents, and 64
/// reserved bytes.
const BOOTSTRAP: usize = 88;
const MAGIC: &[u8; 8] = b"PXR-USDC";
const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];
/// Terminator of a list of fields.
const END: u32 = u32::MAX;

/// Type of the object at a path (`SdfSpecType`).
#[derive(Clone, Copy)]
#[repr(u32)]
enum Spec {
    Attribute = 1,
    Prim = 6,
    PseudoRoot = 7,
    Relationship = 8,
}

/// Writes values immediately, and their tables at the end.
pub(super) struct Binary<'w, W> {
    values: Values<'w, W>,
    paths: Paths,
    /// Token index of the name, and value.
    fields: Interned<(u32, u64)>,
    /// Lists of fields by their first index.
    field_sets: BTreeMap<Vec<u32>, u32>,
    all_field_sets: Vec<u32>,
    /// Path, list of fields and type.
    specs: Vec<[u32; 3]>,
    /// The names of the prims of the world.
    children: Vec<String>,
}

/// The fields of a path: names and values.
type Fields = Vec<(&'static str, Rep)>;

impl<'w, W: Write + Seek> Binary<'w, W> {
    pub(super) fn new(out: &'w mut W) -> Self {
        Self {
            values: Values::new(out),
            paths: Paths::default(),
            fields: Interned::new(),
            field_sets: BTreeMap::new(),
            all_field_sets: Vec::new(),
            specs: Vec::new(),
            children: Vec::new(),
        }
    }

    fn spec(&mut self, path: &str, fields: Fields, spec: Spec) {
        let mut set = Vec::with_capacity(fields.len() + 1);
        for (name, rep) in fields {
            let name = self.values.token(name);
            set.push(self.fields.index_of((name, rep.0)));
        }
        set.push(END);
        let next = self.all_field_sets.len() as u32;
        let first = match self.field_sets.get(&set) {
            Some(first) => *first,
            None => {
                self.all_field_sets.extend(&set);
                self.field_sets.insert(set, next);
                next
            }
        };
        let path = self.paths.number(path, &mut |token| self.values.token(token));
        self.specs.push([path, first, spec as u32]);
    }

    fn prim(&mut self, prim: Prim<'_>, parent: &str) -> io::Result<()> {
        let Prim { name, kind, display_name, schemas, properties, children } = prim;
        let path = format!("{parent}/{name}");
        let names: Vec<&str> = children.iter().map(|child| child.name.as_str()).collect();
        let own: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
        let mut fields = vec![("specifier", Rep::of(Kind::Specifier, 0))];
        fields.push(("typeName", self.values.name(kind)));
        if let Some(name) = display_name {
            fields.push(("displayName", self.values.string(name)));
        }
        if !schemas.is_empty() {
            fields.push(("apiSchemas", self.values.prepended(&schemas)?));
        }
        for (field, names) in [("primChildren", names), ("properties", own)] {
            if !names.is_empty() {
                fields.push((field, self.values.tokens(&names)?));
            }
        }
        self.spec(&path, fields, Spec::Prim);
        for property in properties {
            self.property(property, &path)?;
        }
        children.into_iter().try_for_each(|child| self.prim(child, &path))
    }

    fn property(&mut self, property: Property<'_>, prim: &str) -> io::Result<()> {
        let Property { name, kind, is_uniform, is_of_vertices, content } = property;
        let path = format!("{prim}.{name}");
        let is_relationship = kind.is_empty();
        let mut fields = vec![("custom", Rep::of(Kind::Bool, 0))];
        if !is_relationship {
            fields.push(("typeName", self.values.name(kind)));
        }
        if is_uniform || is_relationship {
            fields.push(("variability", Rep::of(Kind::Variability, 1)));
        }
        if is_of_vertices {
            fields.push(("interpolation", self.values.name("vertex")));
        }
        match content {
            Content::None => {}
            Content::Value(value) => fields.push(("default", self.values.add(&value)?)),
            Content::Samples(samples) => {
                fields.push(("timeSamples", self.values.samples(samples)?));
            }
            Content::Connection(target) => {
                fields.push(("connectionPaths", self.targets(&[target])?));
            }
            Content::Target(target) => fields.push(("targetPaths", self.targets(&[target])?)),
            Content::Targets(targets) => fields.push(("targetPaths", self.targets(&targets)?)),
        }
        let spec = if is_relationship { Spec::Relationship } else { Spec::Attribute };
        self.spec(&path, fields, spec);
        Ok(())
    }

    fn targets(&mut self, paths: &[String]) -> io::Result<Rep> {
        let values = &mut self.values;
        let number = |path: &String| self.paths.number(path, &mut |token| values.token(token));
        let numbers: Vec<u32> = paths.iter().map(number).collect();
        self.values.explicit_paths(&numbers)
    }

    /// Writes the sections, their list, and then the header.
    fn finish(&mut self) -> io::Result<()> {
        let tree = self.paths.tree();
        let Self { values, fields, all_field_sets, specs, paths, .. } = self;
        let (tokens, strings) = values.texts();
        let mut sections: Vec<(&str, Vec<u8>)> = Vec::new();
        let mut section = |name, write: &dyn Fn(&mut Vec<u8>) -> io::Result<()>| {
            let mut bytes = Vec::new();
            write(&mut bytes)?;
            sections.push((name, bytes));
            Ok::<_, io::Error>(())
        };
        section("TOKENS", &|out| {
            let text: Vec<u8> = tokens.iter().flat_map(|t| t.bytes().chain([0])).collect();
            put(out, tokens.len());
            put(out, text.len());
            put_compressed(out, &text)
        })?;
        section("STRINGS", &|out| {
            put(out, strings.len());
            out.extend(strings.iter().flat_map(|string| string.to_le_bytes()));
            Ok(())
        })?;
        section("FIELDS", &|out| {
            put(out, fields.all.len());
            write_integers(fields.all.iter().map(|(name, _)| *name as i32), out)?;
            let reps: Vec<u8> = fields.all.iter().flat_map(|(_, rep)| rep.to_le_bytes()).collect();
            put_compressed(out, &reps)
        })?;
        section("FIELDSETS", &|out| {
            put(out, all_field_sets.len());
            write_integers(all_field_sets.iter().map(|field| *field as i32), out)
        })?;
        section("PATHS", &|out| {
            put(out, paths.len());
            put(out, tree.len());
            for part in 0..3 {
                write_integers(tree.iter().map(|entry| entry[part]), out)?;
            }
            Ok(())
        })?;
        section("SPECS", &|out| {
            put(out, specs.len());
            for part in 0..3 {
                write_integers(specs.iter().map(|spec| spec[part] as i32), out)?;
            }
            Ok(())
        })?;
        let mut list = Vec::new();
        put(&mut list, sections.len());
        for (name, bytes) in &sections {
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            list.extend(padded);
            list.extend(values.write(bytes)?.to_le_bytes());
            put(&mut list, bytes.len());
        }
        let place = values.write(&list)?;
        values.write_start(&[&MAGIC[..], &VERSION, &place.to_le_bytes()].concat())
    }
}

impl<W: Write + Seek> Encoder for Binary<'_, W> {
    fn begin(&mut self, metadata: &Metadata<'_>) -> io::Result<()> {
        self.values.write(&[0; BOOTSTRAP])?;
        let mut fields = vec![("defaultPrim", self.values.name("World"))];
        for (name, value) in metadata {
            fields.push((name, self.values.add(value)?));
        }
        fields.push(("primChildren", self.values.tokens(&["World"])?));
        self.spec("/", fields, Spec::PseudoRoot);
        Ok(())
    }

    fn add(&mut self, prim: Prim<'_>) -> io::Result<()> {
        self.children.push(prim.name.clone());
        self.prim(prim, "/World")
    }

    fn end(&mut self) -> io::Result<()> {
        let children = std::mem::take(&mut self.children);
        let children: Vec<&str> = children.iter().map(String::as_str).collect();
        let fields = vec![
            ("specifier", Rep::of(Kind::Specifier, 0)),
            ("typeName", self.values.name("Xform")),
            ("primChildren", self.values.tokens(&children)?),
        ];
        self.spec("/World", fields, Spec::Prim);
        self.finish()
    }
}

/// Appends compressed bytes, preceded by their number.
fn put_compressed(out: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    let bytes = compressed(bytes)?;
    put(out, bytes.len());
    out.extend(bytes);
    Ok(())
}
