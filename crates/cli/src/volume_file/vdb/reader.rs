//! Primitive values, strings and metadata of OpenVDB files.

use super::layout::VdbError;

/// Sequential reader of bytes.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], VdbError> {
        let end = self.at.checked_add(count);
        let found = end.and_then(|end| self.bytes.get(self.at..end));
        let found = found.ok_or(VdbError::Damaged("it ends too early"))?;
        self.at += count;
        Ok(found)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], VdbError> {
        let found = self.take(N)?;
        Ok(std::array::from_fn(|n| found[n]))
    }

    pub(super) fn u8(&mut self) -> Result<u8, VdbError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u32(&mut self) -> Result<u32, VdbError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, VdbError> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, VdbError> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn f32(&mut self) -> Result<f32, VdbError> {
        self.array().map(f32::from_le_bytes)
    }

    fn f64(&mut self) -> Result<f64, VdbError> {
        self.array().map(f64::from_le_bytes)
    }

    pub(super) fn doubles<const N: usize>(&mut self) -> Result<[f64; N], VdbError> {
        let mut all = [0.0; N];
        for own in &mut all {
            *own = self.f64()?;
        }
        Ok(all)
    }

    pub(super) fn text(&mut self) -> Result<String, VdbError> {
        let length = self.u32()? as usize;
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// The value of a metadata entry, if present.
    pub(super) fn metadata(&mut self, wanted: &str) -> Result<Option<&'a [u8]>, VdbError> {
        let mut found = None;
        for _ in 0..self.u32()? {
            let name = self.text()?;
            self.text()?;
            let length = self.u32()? as usize;
            let value = self.take(length)?;
            if name == wanted {
                found = Some(value);
            }
        }
        Ok(found)
    }
}
