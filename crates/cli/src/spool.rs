//! Poses of a recording that are kept on disk, so that memory does not grow with the frames.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use nalgebra::{Isometry3, Quaternion, Translation3, Unit};
use sim::{Recording, Stretch};

/// Bytes of a pose: place and unit quaternion as `f64`.
const POSE: u64 = 56;

/// A file without a name that holds the poses that [`sim::Recorder::take`] took.
pub struct Spool {
    file: File,
    end: u64,
    /// Of each track where its poses are in the file, in order: the first byte and the number of poses.
    places: Vec<Vec<(u64, usize)>>,
}

impl Spool {
    /// An empty one in the folder of `path`, where there is to be room for what becomes of it.
    ///
    /// # Errors
    /// What the system says when a file cannot be made there.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(crate::output::folder_of(path))?;
        Ok(Self { file, end: 0, places: Vec::new() })
    }

    /// Adds poses after those that are there.
    ///
    /// # Errors
    /// When writing fails.
    pub fn add(&mut self, stretches: &[Stretch]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut out = BufWriter::new(&self.file);
        for Stretch { track, poses } in stretches {
            if self.places.len() <= *track {
                self.places.resize(track + 1, Vec::new());
            }
            for pose in poses {
                let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
                numbers.copied().try_for_each(|x| out.write_all(&x.to_le_bytes()))?;
            }
            self.places[*track].push((self.end, poses.len()));
            self.end += POSE * poses.len() as u64;
        }
        out.flush()
    }

    /// The poses of a track in a range that counts from its birth, as far as they are here.
    ///
    /// # Errors
    /// When reading fails.
    pub fn read(&self, track: usize, range: Range<usize>) -> io::Result<Vec<Isometry3<f64>>> {
        let mut poses = Vec::new();
        let mut first = 0;
        for &(at, count) in self.places.get(track).into_iter().flatten() {
            let own = range.start.max(first)..range.end.min(first + count);
            if own.start < own.end {
                let mut file = &self.file;
                file.seek(SeekFrom::Start(at + POSE * (own.start - first) as u64))?;
                let mut input = BufReader::new(file).take(POSE * own.len() as u64);
                for _ in own {
                    poses.push(read_pose(&mut input)?);
                }
            }
            first += count;
        }
        Ok(poses)
    }
}

fn read_pose(input: &mut impl Read) -> io::Result<Isometry3<f64>> {
    let mut numbers = [0.0; 7];
    for x in &mut numbers {
        let mut bytes = [0; 8];
        input.read_exact(&mut bytes)?;
        *x = f64::from_le_bytes(bytes);
    }
    let [x, y, z, i, j, k, w] = numbers;
    let turn = Unit::new_unchecked(Quaternion::new(w, i, j, k));
    Ok(Isometry3::from_parts(Translation3::new(x, y, z), turn))
}

/// The poses of a recording, wherever they are.
#[derive(Clone, Copy)]
pub struct Paths<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// What holds the poses that were taken out of it.
    pub spool: Option<&'a Spool>,
}

impl Paths<'_> {
    /// The first frame of the range `frames` in which the track exists, and its poses from there on within
    /// the range.
    ///
    /// # Errors
    /// When reading fails.
    pub fn of(
        &self,
        track: usize,
        frames: Range<usize>,
    ) -> io::Result<(usize, Vec<Isometry3<f64>>)> {
        let sim::Track { birth, taken, poses, .. } = &self.recording.tracks[track];
        let count = taken + poses.len();
        let [start, end] = [frames.start, frames.end].map(|n| n.saturating_sub(*birth).min(count));
        let mut found = match self.spool {
            Some(spool) => spool.read(track, start..end.min(*taken))?,
            None => Vec::new(),
        };
        let held = start.saturating_sub(*taken)..end.saturating_sub(*taken);
        found.extend_from_slice(poses.get(held).unwrap_or_default());
        Ok((birth + start, found))
    }

    /// All poses of a track.
    ///
    /// # Errors
    /// When reading fails.
    pub fn whole(&self, track: usize) -> io::Result<Vec<Isometry3<f64>>> {
        Ok(self.of(track, 0..usize::MAX)?.1)
    }

    /// The recording with all its poses in memory.
    ///
    /// # Errors
    /// When reading fails.
    pub fn gathered(&self) -> io::Result<Recording> {
        let mut recording = self.recording.clone();
        for (n, track) in recording.tracks.iter_mut().enumerate() {
            (track.poses, track.taken) = (self.whole(n)?, 0);
        }
        Ok(recording)
    }
}
