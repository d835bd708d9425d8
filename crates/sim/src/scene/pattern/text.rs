//! Patterns in the syntax of the command line.

use super::super::read_toml;
use super::{Nested, Pattern, Preset};

const FORM: &str = "give voronoi:PIECES, radial:SECTORSxRINGS, bricks:LENGTHxHEIGHT, slices:PLANES or \
    preset:NAME, as in voronoi:35,clustering=0.8, or two with a slash between them";

const ROUGH: &str = "only plane cuts can be nested, and one of both patterns has noise: remove it, or write the nested \
    pattern with its noise in a scene and make a file of it by `brisance pattern new NAME --scene SCENE`";

/// Reads `voronoi:35` (pieces), `radial:9x3` (sectors and rings), `bricks:4x3` (number of bricks
/// along the length and height of the box, and its depth if there is a third number), `slices:6`
/// (planes) or `preset:glass`, and more settings after commas by their keys in scene files:
/// `voronoi:35,clustering=0.8`. `bricks:4x3/voronoi:5` divides each brick further.
impl std::str::FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.split_once('/') {
            None => single(text)?,
            Some((outer, inner)) => {
                let [outer, inner]: [Self; 2] = [outer.parse()?, inner.parse()?];
                if outer.noise().or(inner.noise()).is_some() {
                    return Err(ROUGH.to_owned());
                }
                Self::Nested(Nested { outer: Box::new(outer), inner: Box::new(inner), noise: None })
            }
        };
        parsed.check("pattern").map_err(|invalid| invalid.to_string())?;
        Ok(parsed)
    }
}

fn single(text: &str) -> Result<Pattern, String> {
    let mut parts = settings(text).into_iter();
    let first = parts.next().unwrap_or_default();
    let (kind, counts) = first.split_once(':').ok_or(FORM)?;
    if kind == "preset" {
        let known = Preset::ALL.iter().find(|(name, _)| *name == counts);
        let names = Preset::ALL.map(|(name, _)| name).join(", ");
        let unknown = || format!("there is no preset {counts:?}; there are {names}");
        let (_, preset) = known.ok_or_else(unknown)?;
        return match parts.next() {
            Some(_) => Err(format!("a preset has no settings: write {first}")),
            None => Ok(Pattern::Preset(*preset)),
        };
    }
    let whole = |name: &str, text: &str| match text.parse::<usize>() {
        Ok(number) => Ok(number),
        Err(_) => Err(format!("{name} must be a whole number of 1 or more, not {text:?}: {FORM}")),
    };
    let all: Vec<&str> = counts.split('x').collect();
    let counts = match (kind, &all[..]) {
        ("voronoi", [pieces]) => format!("pieces = {}", whole("pieces", pieces)?),
        ("slices", [planes]) => format!("planes = {}", whole("planes", planes)?),
        ("radial", [sectors, rings]) => {
            format!("sectors = {}\nrings = {}", whole("sectors", sectors)?, whole("rings", rings)?)
        }
        ("bricks", [length, height, deep @ ..]) if deep.len() < 2 => {
            let [length, height] = [whole("length", length)?, whole("height", height)?];
            let depth = deep.first().map_or(Ok(1), |depth| whole("depth", depth))?;
            format!("count = [{length}, {height}, {depth}]")
        }
        _ => return Err(FORM.to_owned()),
    };
    let rest: Vec<&str> = parts.collect();
    let toml = format!("[{kind}]\n{counts}\n{}\n", rest.join("\n"));
    read_toml(&toml).map_err(|e| format!("{}: {FORM}", e.problem()))
}

/// The parts between commas that are not in brackets.
fn settings(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
