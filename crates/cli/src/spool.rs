//! Trajectories of a recording that are kept on disk, so that memory does not grow with the frames.

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

/// An unnamed file with the trajectories from [`sim::Recorder::take_poses`].
pub struct Spool {
    file: File,
    end: u64,
    /// For each track the sections of its trajectory in the file, in order.
    sections: Vec<Vec<Section>>,
}

/// A section of a trajectory in the file: poses, then waypoints.
#[derive(Clone, Copy)]
struct Section {
    /// The first byte.
    offset: u64,
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
        Ok(Self { file, end: 0, sections: Vec::new() })
    }

    /// Appends sections of trajectories.
    ///
    /// # Errors
    /// If writing fails.
    pub fn add(&mut self, chunks: &[TraceChunk]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut out = BufWriter::new(&self.file);
        for TraceChunk { track, trace: Trace { poses, waypoints } } in chunks {
            if self.sections.len() <= *track {
                self.sections.resize(track + 1, Vec::new());
            }
            poses.iter().try_for_each(|pose| write_pose(pose, &mut out))?;
            for TimedWaypoint { time, pose } in waypoints {
                out.write_all(&time.to_le_bytes())?;
                write_pose(pose, &mut out)?;
            }
            let section =
                Section { offset: self.end, poses: poses.len(), waypoints: waypoints.len() };
            self.sections[*track].push(section);
            self.end += POSE * section.poses as u64 + WAYPOINT * section.waypoints as u64;
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
        for section in self.sections.get(track).into_iter().flatten() {
            let own = range.start.max(first)..range.end.min(first + section.poses);
            if own.start < own.end {
                let from = section.offset + POSE * (own.start - first) as u64;
                let mut input = self.part(from, POSE * own.len() as u64)?;
                for _ in own {
                    poses.push(read_pose(&mut input)?);
                }
            }
            first += section.poses;
        }
        Ok(poses)
    }

    /// The spooled part of the trajectory of a track.
    ///
    /// # Errors
    /// If reading fails.
    pub fn trajectory(&self, track: usize) -> io::Result<Trace> {
        let poses = self.read(track, 0..usize::MAX)?;
        let mut waypoints = Vec::new();
        for section in self.sections.get(track).into_iter().flatten() {
            if section.waypoints == 0 {
                continue;
            }
            let from = section.offset + POSE * section.poses as u64;
            let mut input = self.part(from, WAYPOINT * section.waypoints as u64)?;
            for _ in 0..section.waypoints {
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

/// A recording with its poses in memory or on disk.
#[derive(Clone, Copy)]
pub struct SpooledRecording<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// The spool of poses taken from it.
    pub spool: Option<&'a Spool>,
}

/// Poses of a track in consecutive frames.
pub struct PoseRange {
    /// The frame of the first pose.
    pub first_frame: usize,
    /// The poses.
    pub poses: Vec<Isometry3<f64>>,
}

impl SpooledRecording<'_> {
    /// The poses of a track, for the part of `frames` in which the track exists.
    ///
    /// # Errors
    /// If reading fails.
    pub fn poses(&self, track: usize, frames: Range<usize>) -> io::Result<PoseRange> {
        let sim::Track { birth, taken, poses, .. } = &self.recording.tracks[track];
        let count = taken + poses.len();
        let [start, end] = [frames.start, frames.end].map(|n| n.saturating_sub(*birth).min(count));
        let mut found = match self.spool {
            Some(spool) => spool.read(track, start..end.min(*taken))?,
            None => Vec::new(),
        };
        let in_memory = start.saturating_sub(*taken)..end.saturating_sub(*taken);
        found.extend_from_slice(poses.get(in_memory).unwrap_or_default());
        Ok(PoseRange { first_frame: birth + start, poses: found })
    }

    /// The trajectory of a track.
    ///
    /// # Errors
    /// If reading fails.
    pub fn trajectory(&self, track: usize) -> io::Result<Trace> {
        let mut trajectory = match self.spool {
            Some(spool) => spool.trajectory(track)?,
            None => Trace::default(),
        };
        let sim::Track { poses, waypoints, .. } = &self.recording.tracks[track];
        trajectory.poses.extend_from_slice(poses);
        trajectory.waypoints.extend_from_slice(waypoints);
        Ok(trajectory)
    }

    /// The recording with all its poses in memory.
    ///
    /// # Errors
    /// If reading fails.
    pub fn in_memory(&self) -> io::Result<Recording> {
        let mut recording = self.recording.clone();
        for (n, track) in recording.tracks.iter_mut().enumerate() {
            let Trace { poses, waypoints } = self.trajectory(n)?;
            (track.poses, track.waypoints, track.taken) = (poses, waypoints, 0);
        }
        Ok(recording)
    }
}
