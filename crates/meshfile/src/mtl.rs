//! Materials of Wavefront OBJ: MTL.

use sim::{Coat, Opacity, Wrap};

use crate::coats::{CoatWarning, FileReader, Images, plain};
use crate::{MeshFileError, decoded};

/// Parses the materials of an MTL file, UTF-8 or Latin-1, with the images that they name. Unknown
/// statements are skipped, as are image options except `-clamp`.
///
/// Supported are `Kd`, `d` or `Tr`, `map_Kd`, and `Pr` and `Pm` of the physically based extension.
pub(crate) fn parse(
    text: &[u8],
    read_file: &mut FileReader<'_>,
    warnings: &mut Vec<CoatWarning>,
) -> Result<Vec<Coat>, MeshFileError> {
    let mut coats: Vec<Coat> = Vec::new();
    let mut images = Images::default();
    for line in decoded(text).split('\n') {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (key, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if key == "newmtl" {
            coats.push(plain(rest));
            continue;
        }
        let Some(coat) = coats.last_mut() else { continue };
        match key {
            "Kd" => set_color(coat, rest),
            "d" => set_alpha(coat, share(rest.trim_start_matches("-halo"))),
            "Tr" => set_alpha(coat, share(rest).map(|clear| 1.0 - clear)),
            "Pr" => coat.roughness = share(rest).or(coat.roughness),
            "Pm" => coat.metallic = share(rest).unwrap_or(coat.metallic),
            "map_Kd" => {
                let (file, wrap) = without_options(rest);
                let file = file.replace('\\', "/");
                if file.is_empty() {
                    continue;
                }
                coat.wrap = [wrap; 2];
                coat.image = images.read_image(&coat.name, &file, read_file, warnings)?;
            }
            _ => {}
        }
    }
    for coat in &mut coats {
        // some programs write black where the image replaces the color
        if coat.image.is_some() && coat.color[..3] == [0.0; 3] {
            coat.color[..3].fill(1.0);
        }
    }
    Ok(coats)
}

/// The first number of a text, clamped to 0 to 1.
fn share(text: &str) -> Option<f32> {
    let number = text.split_whitespace().next()?.parse::<f32>().ok()?;
    number.is_finite().then(|| number.clamp(0.0, 1.0))
}

fn set_color(coat: &mut Coat, text: &str) {
    let mut shares = text.split_whitespace().map(share);
    let mut next = || shares.next().flatten();
    let Some(r) = next() else { return };
    // one number is gray
    let (g, b) = next().zip(next()).unwrap_or((r, r));
    coat.color[..3].copy_from_slice(&[r, g, b]);
}

fn set_alpha(coat: &mut Coat, alpha: Option<f32>) {
    let Some(alpha) = alpha else { return };
    coat.color[3] = alpha;
    coat.opacity = if alpha < 1.0 { Opacity::Blend } else { Opacity::Opaque };
}

/// The file name after options such as `-s 2 2 1` and `-clamp on`, and the value of the latter.
fn without_options(text: &str) -> (&str, Wrap) {
    let (mut rest, mut wrap) = (text, Wrap::Repeat);
    while rest.starts_with('-') {
        let (option, mut values) = next_word(rest);
        let most = match option {
            "-s" | "-o" | "-t" => 3,
            "-mm" => 2,
            _ => 1,
        };
        if option == "-clamp" {
            let is_on = next_word(values).0 == "on";
            wrap = if is_on { Wrap::Clamp } else { Wrap::Repeat };
        }
        for n in 0..most {
            let (word, after) = next_word(values);
            // options of three numbers may have fewer
            if after.is_empty() || (n > 0 && word.parse::<f32>().is_err()) {
                break;
            }
            values = after;
        }
        rest = values;
    }
    (rest, wrap)
}

fn next_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_materials_are_read() {
        let text =
            b"# made by hand\nKd 1 1 1\nnewmtl old wood\nKd 0.5 0.25 2 # brown\nTr 0.25\nPr 0.5\n\
            newmtl grey\nKd 0.5\nd nan\nKs 1 1 1\nPm 1\nnewmtl bad\nKd red\nd -halo 0.5\n";
        let mut warnings = vec![];
        let coats = parse(text, &mut |_| Err("no".to_owned()), &mut warnings).unwrap();
        let names: Vec<&str> = coats.iter().map(|coat| &coat.name[..]).collect();
        assert_eq!(names, ["old wood", "grey", "bad"]);
        assert_eq!((coats[0].color, coats[0].opacity), ([0.5, 0.25, 1.0, 0.75], Opacity::Blend));
        assert_eq!((coats[0].roughness, coats[1].metallic), (Some(0.5), 1.0));
        assert_eq!((coats[1].color, coats[1].opacity), ([0.5, 0.5, 0.5, 1.0], Opacity::Opaque));
        assert_eq!(coats[2].color, [1.0, 1.0, 1.0, 0.5]);
        assert!(warnings.is_empty());
    }

    #[test]
    fn names_of_images_come_after_options() {
        let cases = [
            ("wood.png", "wood.png", Wrap::Repeat),
            ("old wood.png", "old wood.png", Wrap::Repeat),
            ("-s 2 2 1 -clamp on wood.png", "wood.png", Wrap::Clamp),
            ("-clamp off wood.png", "wood.png", Wrap::Repeat),
            ("-o 0.5 wood 1.png", "wood 1.png", Wrap::Repeat),
            ("-mm 0 1 -bm 0.5 a/b.jpg", "a/b.jpg", Wrap::Repeat),
            ("-clamp", "", Wrap::Repeat),
            ("-s", "", Wrap::Repeat),
        ];
        for (text, name, wrap) in cases {
            assert_eq!(without_options(text), (name, wrap), "{text}");
        }
    }

    #[test]
    fn an_image_is_read_once_and_a_missing_one_is_told_of() {
        let mut asked = vec![];
        let mut read_file = |name: &str| {
            asked.push(name.to_owned());
            Err("no such file".to_owned())
        };
        let mut warnings = vec![];
        let text = b"newmtl a\nmap_Kd x\\y.png\nnewmtl b\nmap_Kd x/y.png\n";
        let coats = parse(text, &mut read_file, &mut warnings).unwrap();
        assert!(coats.iter().all(|coat| coat.image.is_none()));
        assert_eq!(asked, ["x/y.png"]);
        assert!(warnings[0].to_string().contains("`x/y.png` cannot be read (no such file)"));
    }
}
