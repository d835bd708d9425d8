//! Changes to files: bits, bytes, numbers, words, lines, and blocks of them.

/// Random choices.
pub(crate) struct Random(fracture::Random);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fracture::Random::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.word()
    }

    /// A random number below `end`, or 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A random subrange of `0..length`, rarely a long one.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        let longest = (length - start).min(1 << self.below(12));
        start..start + self.below(longest + 1)
    }
}

/// Limit of the size of files, bytes.
const LARGEST: usize = 1 << 17;

/// Numbers at the ends of ranges, as text.
const NUMBERS: [&str; 30] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "100",
    "255",
    "256",
    "65535",
    "65536",
    "1000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "-2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e-9",
    "1e-308",
    "1e30",
    "1e155",
    "1e308",
    "-1e308",
    "nan",
    "inf",
];

const INTEGERS: [u64; 16] = [
    0,
    1,
    2,
    4,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

const FLOATS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-9,
    1e-308,
    5e-324,
    1e9,
    1e19,
    1e30,
    1e155,
    1e308,
    -1e308,
    f64::INFINITY,
    f64::NAN,
];

/// Changes `file` in one to eight places; `other` is a file of the same kind.
pub(crate) fn mutate(file: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..1 << random.below(4) {
        change(file, other, random);
        file.truncate(LARGEST);
    }
}

fn change(file: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(file.len());
    match random.below(16) {
        _ if file.is_empty() => file.extend(other),
        0 => file[at] ^= 1 << random.below(8),
        1 => file[at] = *random.pick(&[0, 1, 10, 32, 45, 127, 128, 255]),
        2 => file[at] = random.next() as u8,
        3 => {
            let number = *random.pick(&INTEGERS);
            let size = *random.pick(&[2, 4, 8]);
            let bytes = if random.below(4) == 0 {
                number.to_be_bytes()[8 - size..].to_vec()
            } else {
                number.to_le_bytes()[..size].to_vec()
            };
            overwrite(file, aligned(at, size, random), &bytes);
        }
        4 => {
            let number = *random.pick(&FLOATS);
            let bytes = match random.below(3) {
                0 => number.to_be_bytes().to_vec(),
                1 => (number as f32).to_le_bytes().to_vec(),
                _ => number.to_le_bytes().to_vec(),
            };
            overwrite(file, aligned(at, bytes.len(), random), &bytes);
        }
        5 => file.truncate(at),
        6 => drop(file.drain(random.range(file.len()))),
        7 => {
            let block = file[random.range(file.len())].to_vec();
            let times = 1 << random.below(8);
            let most = LARGEST.saturating_sub(file.len());
            let repeated = block.repeat(times.min(most / block.len().max(1)));
            drop(file.splice(at..at, repeated));
        }
        8 => {
            let part = other[random.range(other.len())].to_vec();
            let place = random.range(file.len());
            drop(file.splice(place, part));
        }
        9 => {
            // joins the start of one file and the end of the other
            file.truncate(at);
            file.extend(&other[random.below(other.len())..]);
        }
        10..13 => swap_token(file, at, other, random),
        13 => {
            let number = random.pick(&NUMBERS).as_bytes().to_vec();
            let place = token(file, at, is_numeric);
            drop(file.splice(place, number));
        }
        _ => change_lines(file, at, random),
    }
}

/// `at`, usually rounded down to a multiple of `size`, the alignment of numbers.
fn aligned(at: usize, size: usize, random: &mut Random) -> usize {
    if random.below(2) == 0 { at } else { at - at % size }
}

fn overwrite(file: &mut [u8], at: usize, bytes: &[u8]) {
    let end = file.len().min(at + bytes.len());
    file[at..end].copy_from_slice(&bytes[..end - at]);
}

fn is_numeric(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+-.eE".contains(&byte)
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-._".contains(&byte)
}

/// The first token at or after a position, with wrap-around at the end of the file.
fn token(file: &[u8], at: usize, of: fn(u8) -> bool) -> std::ops::Range<usize> {
    let start = (at..file.len()).chain(0..at).find(|&n| of(file[n])).unwrap_or(at);
    let end = (start..file.len()).find(|&n| !of(file[n])).unwrap_or(file.len());
    let start = (0..start).rev().take_while(|&n| of(file[n])).last().unwrap_or(start);
    start..end
}

/// Replaces a token by a number or by a token of either file, or inserts one after it.
fn swap_token(file: &mut Vec<u8>, at: usize, other: &[u8], random: &mut Random) {
    let place = token(file, at, is_of_word);
    let new = match random.below(4) {
        0 => file[token(file, random.below(file.len()), is_of_word)].to_vec(),
        1 if !other.is_empty() => {
            other[token(other, random.below(other.len()), is_of_word)].to_vec()
        }
        _ => random.pick(&NUMBERS).as_bytes().to_vec(),
    };
    let place = if random.below(8) == 0 { place.end..place.end } else { place };
    drop(file.splice(place, new));
}

/// Doubles, drops or moves a line.
fn change_lines(file: &mut Vec<u8>, at: usize, random: &mut Random) {
    let line = |at: usize| {
        let start = file[..at].iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1);
        let end = file[at..].iter().position(|&b| b == b'\n').map_or(file.len(), |n| at + n + 1);
        start..end
    };
    let (here, there) = (line(at), line(random.below(file.len())));
    let text = file[here.clone()].to_vec();
    match random.below(3) {
        0 => drop(file.drain(here)),
        1 => drop(file.splice(there, text)),
        _ => drop(file.splice(there.start..there.start, text)),
    }
}
