//! Values and the tokens that they refer to.

use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};

use super::integers::{put, write_integers};
use super::interned::Interned;
use crate::format::usd::prim::{Samples, Value};

/// Value types (`pxr/usd/sdf/crateDataTypes.h`).
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Kind {
    Bool = 1,
    Int = 3,
    Int64 = 5,
    Float = 8,
    Double = 9,
    String = 10,
    Token = 11,
    Asset = 12,
    Quatd = 16,
    Quatf = 17,
    Float2 = 20,
    Double3 = 23,
    Float3 = 24,
    Float4 = 28,
    TokenListOp = 32,
    PathListOp = 34,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
}

/// The location of a value, or the value itself if it has up to four bytes.
#[derive(Clone, Copy)]
pub(super) struct Rep(pub(super) u64);

impl Rep {
    const ARRAY: u64 = 1 << 63;
    const INLINED: u64 = 1 << 62;
    const COMPRESSED: u64 = 1 << 61;

    /// A value of up to four bytes.
    pub(super) fn of(kind: Kind, value: u32) -> Self {
        Self(Self::INLINED | Self::at(kind, u64::from(value)).0)
    }

    fn at(kind: Kind, place: u64) -> Self {
        Self((kind as u64) << 48 | place)
    }

    fn array(kind: Kind, place: u64) -> Self {
        Self(Self::ARRAY | Self::at(kind, place).0)
    }
}

/// Size of a value in bytes up to which equal values are always shared.
const SMALL: usize = 4096;
/// Maximum total size in bytes of larger values in the lookup table. Beyond it, equal values are
/// written again.
const LARGE_SHARED: usize = 1 << 26;
/// Minimum number of integers that are compressed.
const LEAST_COMPRESSED: usize = 16;

/// Writes values immediately, and equal small values once.
pub(super) struct Values<'w, W> {
    out: &'w mut W,
    /// Number of bytes written.
    place: u64,
    shared: BTreeMap<Vec<u8>, u64>,
    /// Total bytes of the larger values in the table.
    large: usize,
    tokens: Interned<String>,
    /// Token indices.
    strings: Interned<u32>,
}

impl<'w, W: Write + Seek> Values<'w, W> {
    pub(super) fn new(out: &'w mut W) -> Self {
        let mut tokens = Interned::new();
        // the sign of an index marks properties, and 0 has none
        tokens.index_of(";-)".to_owned());
        Self { out, place: 0, shared: BTreeMap::new(), large: 0, tokens, strings: Interned::new() }
    }

    /// Writes the start of the file, after everything else.
    pub(super) fn write_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(bytes)?;
        self.out.seek(SeekFrom::End(0))?;
        Ok(())
    }

    /// Tokens, and the token index of each string.
    pub(super) fn texts(&self) -> (&[String], &[u32]) {
        (&self.tokens.all, &self.strings.all)
    }

    pub(super) fn token(&mut self, token: &str) -> u32 {
        // tokens are zero-terminated
        self.tokens.index_of(token.replace('\0', "\u{FFFD}"))
    }

    /// Writes bytes, and returns their offset.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<u64> {
        // readers map aligned arrays into memory without a copy
        let padding = self.place.next_multiple_of(8) - self.place;
        self.out.write_all(&[0; 8][..padding as usize])?;
        self.out.write_all(bytes)?;
        let place = self.place + padding;
        self.place = place + bytes.len() as u64;
        Ok(place)
    }

    /// Writes bytes, or reuses equal bytes, and returns their offset.
    fn share(&mut self, bytes: Vec<u8>) -> io::Result<u64> {
        if let Some(place) = self.shared.get(&bytes) {
            return Ok(*place);
        }
        let place = self.write(&bytes)?;
        let large = if bytes.len() > SMALL { bytes.len() } else { 0 };
        if self.large + large <= LARGE_SHARED {
            self.large += large;
            self.shared.insert(bytes, place);
        }
        Ok(place)
    }

    /// A token as a value.
    pub(super) fn name(&mut self, token: &str) -> Rep {
        Rep::of(Kind::Token, self.token(token))
    }

    /// A string as a value.
    pub(super) fn string(&mut self, text: &str) -> Rep {
        let token = self.token(text);
        Rep::of(Kind::String, self.strings.index_of(token))
    }

    pub(super) fn add(&mut self, value: &Value<'_>) -> io::Result<Rep> {
        let le = |floats: &[f32]| floats.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let le64 =
            |floats: &[f64]| floats.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        // real part last
        let turned = |[w, i, j, k]: [f32; 4]| [i, j, k, w];
        let turned64 = |[w, i, j, k]: [f64; 4]| [i, j, k, w];
        let (kind, bytes) = match value {
            Value::Bool(is) => return Ok(Rep::of(Kind::Bool, u32::from(*is))),
            Value::Float(x) => return Ok(Rep::of(Kind::Float, x.to_bits())),
            Value::Double(x) if f64::from(*x as f32).to_bits() == x.to_bits() => {
                return Ok(Rep::of(Kind::Double, (*x as f32).to_bits()));
            }
            Value::Token(token) => return Ok(self.name(token)),
            Value::String(text) => return Ok(self.string(text)),
            Value::Asset(path) => return Ok(Rep::of(Kind::Asset, self.token(path))),
            Value::Double(x) => (Kind::Double, le64(&[*x])),
            Value::Float3(v) => (Kind::Float3, le(v)),
            Value::Float4(v) => (Kind::Float4, le(v)),
            Value::Double3(v) => (Kind::Double3, le64(v)),
            Value::Quatf(q) => (Kind::Quatf, le(&turned(*q))),
            Value::Quatd(q) => (Kind::Quatd, le64(&turned64(*q))),
            Value::Tokens(tokens) => {
                let numbers: Vec<u8> =
                    tokens.iter().flat_map(|token| self.token(token).to_le_bytes()).collect();
                return self.array(Kind::Token, tokens.len(), &numbers);
            }
            Value::Ints(ints) => return self.ints(ints),
            Value::Int64s(ints) => {
                let bytes: Vec<u8> = ints.iter().flat_map(|n| n.to_le_bytes()).collect();
                return self.array(Kind::Int64, ints.len(), &bytes);
            }
            Value::Floats(floats) => return self.array(Kind::Float, floats.len(), &le(floats)),
            Value::Float2s(v) => return self.array(Kind::Float2, v.len(), &le(v.as_flattened())),
            Value::Float3s(v) => return self.array(Kind::Float3, v.len(), &le(v.as_flattened())),
        };
        Ok(Rep::at(kind, self.share(bytes)?))
    }

    fn array(&mut self, kind: Kind, count: usize, bytes: &[u8]) -> io::Result<Rep> {
        if count == 0 {
            return Ok(Rep::array(kind, 0));
        }
        let mut counted = Vec::with_capacity(8 + bytes.len());
        put(&mut counted, count);
        counted.extend(bytes);
        Ok(Rep::array(kind, self.share(counted)?))
    }

    fn ints(&mut self, ints: &[i32]) -> io::Result<Rep> {
        if ints.len() < LEAST_COMPRESSED {
            let bytes: Vec<u8> = ints.iter().flat_map(|n| n.to_le_bytes()).collect();
            return self.array(Kind::Int, ints.len(), &bytes);
        }
        let mut counted = Vec::new();
        put(&mut counted, ints.len());
        write_integers(ints.iter().copied(), &mut counted)?;
        let place = self.share(counted)?;
        Ok(Rep(Rep::COMPRESSED | Rep::array(Kind::Int, place).0))
    }

    /// A list of names as a field value.
    pub(super) fn tokens(&mut self, names: &[&str]) -> io::Result<Rep> {
        let mut bytes = Vec::new();
        put(&mut bytes, names.len());
        bytes.extend(names.iter().flat_map(|name| self.token(name).to_le_bytes()));
        Ok(Rep::at(Kind::TokenVector, self.share(bytes)?))
    }

    /// A list of schemas, prepended to those of weaker layers.
    pub(super) fn prepended(&mut self, schemas: &[String]) -> io::Result<Rep> {
        const PREPENDED: u8 = 1 << 5;
        let mut bytes = vec![PREPENDED];
        put(&mut bytes, schemas.len());
        bytes.extend(schemas.iter().flat_map(|schema| self.token(schema).to_le_bytes()));
        Ok(Rep::at(Kind::TokenListOp, self.share(bytes)?))
    }

    /// An explicit list of path indices, which replaces the lists of weaker layers.
    pub(super) fn explicit_paths(&mut self, paths: &[u32]) -> io::Result<Rep> {
        const EXPLICIT: u8 = 1;
        const HAS_ITEMS: u8 = 1 << 1;
        let mut bytes = vec![EXPLICIT | HAS_ITEMS];
        put(&mut bytes, paths.len());
        bytes.extend(paths.iter().flat_map(|path| path.to_le_bytes()));
        Ok(Rep::at(Kind::PathListOp, self.share(bytes)?))
    }

    /// Times, shared if equal, and a value at each.
    pub(super) fn samples(&mut self, samples: Samples<'_>) -> io::Result<Rep> {
        /// Offset of the data from the integer that stores it.
        const NEXT: i64 = 8;
        let (mut times, mut values) = (Vec::new(), Vec::new());
        let mut count = 0;
        for (time, value) in samples {
            times.extend(time.to_le_bytes());
            values.extend(self.add(&value)?.0.to_le_bytes());
            count += 1;
        }
        let mut counted = Vec::new();
        put(&mut counted, count);
        counted.extend(times);
        let times = Rep::at(Kind::DoubleVector, self.share(counted)?);
        let mut bytes = NEXT.to_le_bytes().to_vec();
        bytes.extend(times.0.to_le_bytes());
        bytes.extend(NEXT.to_le_bytes());
        put(&mut bytes, count);
        bytes.extend(values);
        Ok(Rep::at(Kind::TimeSamples, self.share(bytes)?))
    }
}
