//! Commands of a visitor and their encodings: bytes in links, JSON in files.

use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// Limit of the commands of one run.
pub const MAX_COMMANDS: usize = 5_000;

/// An action between two frames. Numbers are `f32`, so that a link stores them exactly.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Throws a ball.
    Throw {
        /// Start point, m.
        from: [f32; 3],
        /// Velocity, m/s.
        velocity: [f32; 3],
        /// Radius, m.
        radius: f32,
        /// Density, kg/m^3.
        density: f32,
    },
    /// Grabs the first body on a ray.
    Grab {
        /// Origin of the ray, m.
        from: [f32; 3],
        /// Direction of the ray.
        along: [f32; 3],
        /// Force beyond which the hand slips off, N.
        force: f32,
    },
    /// Moves the grabbed body.
    Drag {
        /// Target point, m.
        to: [f32; 3],
    },
    /// Releases the grabbed body.
    Release {},
    /// Sweeps a blade; see [`sim::Action::Cut`].
    Cut {
        /// End points of the edge at the start, m.
        #[serde(deserialize_with = "edge")]
        from: [[f32; 3]; 2],
        /// End points of the edge at the end, m.
        #[serde(deserialize_with = "edge")]
        to: [[f32; 3]; 2],
    },
    /// Sets off an explosion; see [`sim::Explosion`].
    Explode {
        /// Center, m.
        at: [f32; 3],
        /// Range, m.
        radius: f32,
        /// Impulse per area at the center, Pa s.
        impulse: f32,
    },
    /// Changes gravity.
    Gravity {
        /// Acceleration downwards, m/s^2.
        down: f32,
    },
}

/// The two end points of an edge, as one list of six numbers.
fn edge<'de, D: Deserializer<'de>>(from: D) -> Result<[[f32; 3]; 2], D::Error> {
    let [a, b, c, d, e, f] = Deserialize::deserialize(from)?;
    Ok([[a, b, c], [d, e, f]])
}

/// Why bytes cannot be decoded as commands.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandError {
    /// The bytes are not output of [`Command::write`].
    #[error("the events of the link are damaged: copy the whole link")]
    Damaged,
    /// A number is not finite or out of range.
    #[error("a number of a command is not finite or out of range")]
    Range,
    /// There are too many commands.
    #[error("a run has at most {MAX_COMMANDS} commands: reset the scene")]
    TooMany,
}

/// Count of the numbers of each kind of command, by the byte of the kind.
const COUNTS: [usize; 7] = [8, 7, 3, 0, 12, 5, 1];
/// Limit of frames of a run that a link can encode.
pub(crate) const MAX_FRAME: usize = 1 << 24;
/// Limit of coordinates and velocities, m and m/s: larger scenes do not fit on a screen.
const FARTHEST: f32 = 1e5;

impl Command {
    /// Appends the bytes of a command: the byte of its kind, and its numbers, `f32` in
    /// little-endian order.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let (kind, numbers) = self.parts();
        bytes.push(kind);
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    }

    fn parts(&self) -> (u8, Vec<f32>) {
        match *self {
            Self::Throw { from, velocity, radius, density } => {
                (0, [&from[..], &velocity, &[radius, density]].concat())
            }
            Self::Grab { from, along, force } => (1, [&from[..], &along, &[force]].concat()),
            Self::Drag { to } => (2, to.to_vec()),
            Self::Release {} => (3, Vec::new()),
            Self::Cut { from, to } => (4, [from, to].as_flattened().as_flattened().to_vec()),
            Self::Explode { at, radius, impulse } => (5, [&at[..], &[radius, impulse]].concat()),
            Self::Gravity { down } => (6, vec![down]),
        }
    }

    /// Decodes a command and removes it from the front of `bytes`.
    ///
    /// # Errors
    /// [`CommandError`] if there is no command, or a number is out of range.
    pub fn read(bytes: &mut &[u8]) -> Result<Self, CommandError> {
        let (kind, rest) = bytes.split_first().ok_or(CommandError::Damaged)?;
        let count = *COUNTS.get(usize::from(*kind)).ok_or(CommandError::Damaged)?;
        let (own, rest) = rest.split_at_checked(4 * count).ok_or(CommandError::Damaged)?;
        *bytes = rest;
        let (own, _) = own.as_chunks::<4>();
        let n: Vec<f32> = own.iter().map(|x| f32::from_le_bytes(*x)).collect();
        let place = |at: usize| [n[at], n[at + 1], n[at + 2]];
        let command = match kind {
            0 => Self::Throw { from: place(0), velocity: place(3), radius: n[6], density: n[7] },
            1 => Self::Grab { from: place(0), along: place(3), force: n[6] },
            2 => Self::Drag { to: place(0) },
            3 => Self::Release {},
            4 => Self::Cut { from: [place(0), place(3)], to: [place(6), place(9)] },
            5 => Self::Explode { at: place(0), radius: n[3], impulse: n[4] },
            _ => Self::Gravity { down: n[0] },
        };
        command.check()?;
        Ok(command)
    }

    pub(crate) fn check(&self) -> Result<(), CommandError> {
        let sizes = match *self {
            Self::Throw { radius, density, .. } => {
                (0.001..=50.0).contains(&radius) && (1.0..=1e5).contains(&density)
            }
            Self::Grab { force, along, .. } => {
                (0.0..=1e9).contains(&force) && along.iter().any(|x| x.abs() > 1e-6)
            }
            Self::Explode { radius, impulse, .. } => {
                (0.001..=1e4).contains(&radius) && (0.0..=1e9).contains(&impulse)
            }
            _ => true,
        };
        let most =
            if matches!(self, Self::Grab { .. } | Self::Explode { .. }) { 1e9 } else { FARTHEST };
        let all = self.parts().1.iter().all(|x| x.abs() <= most);
        if sizes && all { Ok(()) } else { Err(CommandError::Range) }
    }
}

/// The bytes of commands with their frames, in ascending order. Each command has the number of
/// frames since the previous one (seven bits per byte from the lowest, the top bit set in all but
/// the last byte), then [`Command::write`].
pub(crate) fn write_all(commands: &[(usize, Command)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for (frame, command) in commands {
        let mut frames = frame - last;
        while frames >= 0x80 {
            bytes.push(frames as u8 | 0x80);
            frames >>= 7;
        }
        bytes.push(frames as u8);
        command.write(&mut bytes);
        last = *frame;
    }
    bytes
}

/// Decodes the output of [`write_all`].
pub(crate) fn read_all(mut bytes: &[u8]) -> Result<Vec<(usize, Command)>, CommandError> {
    let mut commands = Vec::new();
    let mut frame = 0_usize;
    while !bytes.is_empty() {
        let mut shift = 0;
        loop {
            let (byte, rest) = bytes.split_first().ok_or(CommandError::Damaged)?;
            bytes = rest;
            frame += usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
            if shift > 21 || frame > MAX_FRAME {
                return Err(CommandError::Damaged);
            }
        }
        if commands.len() == MAX_COMMANDS {
            return Err(CommandError::TooMany);
        }
        commands.push((frame, Command::read(&mut bytes)?));
    }
    Ok(commands)
}
