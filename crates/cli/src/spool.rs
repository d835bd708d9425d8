//! Traces of a recording that are kept on disk, so that memory does not grow with the frames.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use nalgebra::{Isometry3, Quaternion, Translation3, Unit};
use sim::{Recording, TimedWaypoint, Trace, TraceChunk};

/// Bytes of a pose: position and unit quaternion as `f64`.
const POSE: u64 = 56;

/// Bytes of a waypoint: its time and pose.
const WAYPOINT: u64 = 8 + POSE;

/// An unnamed file with the traces from [`sim::Recorder::take_poses`].
pub struct Spool {
    file: File,
    end: u64,
    /// For each track the places of its traces in the file, in order.
    places: Vec<Vec<Place>>,
}

/// A trace in the file: poses, then waypoints.
#[derive(Clone, Copy)]
struct Place {
    /// The first byte.
    at: u64,
    poses: usize,
    waypoints: usize,
}

impl Spool {
    /// An empty spool in the folder of `path`, which must have space for the output anyway.
    ///
    /// # Errors
    /// The system error if a file cannot be created there.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(crate::output::folder_of(path))?;
        Ok(Self { file, end: 0, places: Vec::new() })
    }

    /// Appends traces.
    ///
    /// # Errors
    /// If writing fails.
    pub fn add(&mut self, chunks: &[TraceChunk]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut out = BufWriter::new(&self.file);
        for TraceChunk { track, trace: Trace { poses, waypoints } } in chunks {
            if self.places.len() <= *track {
                self.places.resize(track + 1, Vec::new());
            }
            poses.iter().try_for_each(|pose| write_pose(pose, &mut out))?;
            for TimedWaypoint { time, pose } in waypoints {
                out.write_all(&time.to_le_bytes())?;
                write_pose(pose, &mut out)?;
            }
            let place = Place { at: self.end, poses: poses.len(), waypoints: waypoints.len() };
            self.places[*track].push(place);
            self.end += POSE * place.poses as u64 + WAYPOINT * place.waypoints as u64;
        }
        out.flush()
    }

    /// The spooled poses of a track in a range relative to its birth.
    ///
    /// # Errors
    /// If reading fails.
    pub fn read(&self, track: usize, range: Range<usize>) -> io::Result<Vec<Isometry3<f64>>> {
        let mut poses = Vec::new();
        let mut first = 0;
        for place in self.places.get(track).into_iter().flatten() {
            let own = range.start.max(first)..range.end.min(first + place.poses);
            if own.start < own.end {
                let from = place.at + POSE * (own.start - first) as u64;
                let mut input = self.part(from, POSE * own.len() as u64)?;
                for _ in own {
                    poses.push(read_pose(&mut input)?);
                }
            }
            first += place.poses;
        }
        Ok(poses)
    }

    /// The spooled part of the trace of a track.
    ///
    /// # Errors
    /// If reading fails.
    pub fn trace(&self, track: usize) -> io::Result<Trace> {
        let poses = self.read(track, 0..usize::MAX)?;
        let mut waypoints = Vec::new();
        for place in self.places.get(track).into_iter().flatten() {
            if place.waypoints == 0 {
                continue;
            }
            let from = place.at + POSE * place.poses as u64;
            let mut input = self.part(from, WAYPOINT * place.waypoints as u64)?;
            for _ in 0..place.waypoints {
                let time = read_number(&mut input)?;
                waypoints.push(TimedWaypoint { time, pose: read_pose(&mut input)? });
            }
        }
        Ok(Trace { poses, waypoints })
    }

    /// Reads the given number of bytes at an offset.
    fn part(&self, from: u64, bytes: u64) -> io::Result<impl Read> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(from))?;
        Ok(BufReader::new(file).take(bytes))
    }
}

fn write_pose(pose: &Isometry3<f64>, out: &mut impl Write) -> io::Result<()> {
    let mut numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
    numbers.try_for_each(|x| out.write_all(&x.to_le_bytes()))
}

fn read_number(input: &mut impl Read) -> io::Result<f64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(f64::from_le_bytes(bytes))
}

fn read_pose(input: &mut impl Read) -> io::Result<Isometry3<f64>> {
    let mut numbers = [0.0; 7];
    for x in &mut numbers {
        *x = read_number(input)?;
    }
    let [x, y, z, i, j, k, w] = numbers;
    let turn = Unit::new_unchecked(Quaternion::new(w, i, j, k));
    Ok(Isometry3::from_parts(Translation3::new(x, y, z), turn))
}

/// The poses of a recording, in memory or on disk.
#[derive(Clone, Copy)]
pub struct Paths<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// The spool of poses taken from it.
    pub spool: Option<&'a Spool>,
}

impl Paths<'_> {
    /// The first frame in `frames` in which the track exists, and its poses from there on within
    /// the range.
    ///
    /// # Errors
    /// If reading fails.
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

    /// The whole trace of a track.
    ///
    /// # Errors
    /// If reading fails.
    pub fn whole(&self, track: usize) -> io::Result<Trace> {
        let mut trace = match self.spool {
            Some(spool) => spool.trace(track)?,
            None => Trace::default(),
        };
        let sim::Track { poses, waypoints, .. } = &self.recording.tracks[track];
        trace.poses.extend_from_slice(poses);
        trace.waypoints.extend_from_slice(waypoints);
        Ok(trace)
    }

    /// The recording with all its poses in memory.
    ///
    /// # Errors
    /// If reading fails.
    pub fn gathered(&self) -> io::Result<Recording> {
        let mut recording = self.recording.clone();
        for (n, track) in recording.tracks.iter_mut().enumerate() {
            let Trace { poses, waypoints } = self.whole(n)?;
            (track.poses, track.waypoints, track.taken) = (poses, waypoints, 0);
        }
        Ok(recording)
    }
}
