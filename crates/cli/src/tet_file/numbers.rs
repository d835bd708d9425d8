//! Sequences of numbers, as text or binary.

use nalgebra::Point3;

use crate::mesh_file::MeshFileError;

/// Number encoding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Text,
    LittleEndian,
    BigEndian,
}

/// Reads a file sequentially. Allocations do not depend on counts stated in the file: lists grow as
/// their entries are read.
pub(crate) struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
    pub(crate) coding: Coding,
    format: &'static str,
    /// Start of comments, which extend to the end of the line.
    comment: Option<u8>,
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(bytes: &'a [u8], format: &'static str) -> Self {
        Self { bytes, at: 0, coding: Coding::Text, format, comment: None }
    }

    pub(crate) fn with_comments(bytes: &'a [u8], format: &'static str) -> Self {
        Self { comment: Some(b'#'), ..Self::new(bytes, format) }
    }

    /// An error with the current position.
    pub(crate) fn problem(&self, problem: impl Into<String>) -> MeshFileError {
        let problem = problem.into();
        if self.coding == Coding::Text {
            let before = &self.bytes[..self.at.min(self.bytes.len())];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            return MeshFileError::Line { line, problem };
        }
        let problem = format!("at byte {}, {problem}", self.at);
        MeshFileError::Format { format: self.format, problem }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The rest of the line, trimmed; `None` at the end of the file.
    pub(crate) fn line(&mut self) -> Option<&'a str> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|byte| *byte == b'\n');
        self.at += length.map_or(rest.len(), |n| n + 1);
        // invalid text is not a keyword
        Some(str::from_utf8(&rest[..length.unwrap_or(rest.len())]).unwrap_or("").trim())
    }

    /// The next line that is not blank.
    pub(crate) fn full_line(&mut self) -> Option<&'a str> {
        loop {
            let line = self.line()?;
            if !line.is_empty() {
                return Some(line);
            }
        }
    }

    /// Skips past the next occurrence of a text.
    pub(crate) fn skip_past(&mut self, text: &str) -> Result<(), MeshFileError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let found = rest.windows(text.len()).position(|window| window == text.as_bytes());
        self.at += found.ok_or_else(|| self.problem(format!("{text} is missing")))? + text.len();
        Ok(())
    }

    /// The next word.
    pub(crate) fn word(&mut self) -> Result<&'a str, MeshFileError> {
        let is_blank = |byte: &u8| byte.is_ascii_whitespace();
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(skip) = rest.iter().position(|byte| !is_blank(byte)) else {
                return Err(self.problem("the file ends in the middle of a list"));
            };
            self.at += skip;
            if self.comment == Some(self.bytes[self.at]) {
                self.line();
                continue;
            }
            let rest = &self.bytes[self.at..];
            let length = rest.iter().position(is_blank).unwrap_or(rest.len());
            let Ok(word) = str::from_utf8(&rest[..length]) else {
                return Err(self.problem("there are bytes that are no text"));
            };
            self.at += length;
            return Ok(word);
        }
    }

    fn parsed<T: std::str::FromStr>(&mut self, wanted: &str) -> Result<T, MeshFileError> {
        let word = self.word()?;
        word.parse().map_err(|_| self.problem(format!("`{word}` is no {wanted}")))
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], MeshFileError> {
        let chunk = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let chunk = *chunk.ok_or_else(|| self.problem("the file ends in the middle of a list"))?;
        self.at += N;
        Ok(chunk)
    }

    /// A four-byte integer.
    pub(crate) fn int(&mut self) -> Result<i64, MeshFileError> {
        Ok(match self.coding {
            Coding::Text => self.parsed("whole number")?,
            Coding::LittleEndian => i32::from_le_bytes(self.bytes()?).into(),
            Coding::BigEndian => i32::from_be_bytes(self.bytes()?).into(),
        })
    }

    /// A nonnegative eight-byte integer.
    pub(crate) fn long(&mut self) -> Result<u64, MeshFileError> {
        match self.coding {
            Coding::Text => self.parsed("whole number from 0 on"),
            Coding::LittleEndian => Ok(u64::from_le_bytes(self.bytes()?)),
            Coding::BigEndian => Ok(u64::from_be_bytes(self.bytes()?)),
        }
    }

    /// A nonnegative [`Numbers::int`].
    pub(crate) fn count(&mut self) -> Result<u64, MeshFileError> {
        let count = self.int()?;
        u64::try_from(count).map_err(|_| self.problem(format!("{count} is negative")))
    }

    pub(crate) fn double(&mut self) -> Result<f64, MeshFileError> {
        let number = match self.coding {
            Coding::Text => self.parsed("number")?,
            Coding::LittleEndian => f64::from_le_bytes(self.bytes()?),
            Coding::BigEndian => f64::from_be_bytes(self.bytes()?),
        };
        self.finite(number)
    }

    pub(crate) fn single(&mut self) -> Result<f64, MeshFileError> {
        let number = match self.coding {
            Coding::Text => return self.double(),
            Coding::LittleEndian => f32::from_le_bytes(self.bytes()?),
            Coding::BigEndian => f32::from_be_bytes(self.bytes()?),
        };
        self.finite(number.into())
    }

    fn finite(&self, number: f64) -> Result<f64, MeshFileError> {
        let finite = number.is_finite().then_some(number);
        finite.ok_or_else(|| self.problem("a coordinate is not a finite number"))
    }

    /// Three eight-byte numbers.
    pub(crate) fn place(&mut self) -> Result<Point3<f64>, MeshFileError> {
        Ok(Point3::new(self.double()?, self.double()?, self.double()?))
    }
}
