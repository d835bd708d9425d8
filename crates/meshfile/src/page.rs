//! What the pages of the program and of the playground read of coats.

use serde_json::{Value, json};
use sim::{Coat, Image, Opacity, Wrap};

/// The kind of an image, and how many bytes it has.
pub fn image_head(image: &Image) -> Value {
    json!({ "type": image.kind.media_type(), "bytes": image.bytes.len() })
}

/// Coats and images, each once.
#[derive(Debug, Default)]
pub struct Coats {
    known: Vec<(Coat, f32)>,
    /// What pages read of coats.
    pub entries: Vec<Value>,
    /// The images of the entries.
    pub images: Vec<Image>,
}

impl Coats {
    /// The number of a coat of a body that is so rough where the coat does not say.
    pub fn of(&mut self, coat: &Coat, roughness: f32) -> usize {
        let roughness = coat.roughness.unwrap_or(roughness);
        let known = self.known.iter().position(|(c, r)| c == coat && *r == roughness);
        if let Some(known) = known {
            return known;
        }
        let image = coat.image.as_ref().map(|image| {
            self.images.iter().position(|known| known == image).unwrap_or_else(|| {
                self.images.push(image.clone());
                self.images.len() - 1
            })
        });
        let [r, g, b, alpha] = coat.color;
        let cutoff = match coat.opacity {
            Opacity::Mask(cutoff) => Some(cutoff),
            _ => None,
        };
        self.entries.push(json!({ "colour": [r, g, b], "alpha": alpha, "roughness": roughness,
            "metallic": coat.metallic, "blend": coat.opacity == Opacity::Blend,
            "cutoff": cutoff, "image": image, "wrap": coat.wrap.map(mode) }));
        self.known.push((coat.clone(), roughness));
        self.known.len() - 1
    }
}

/// The number that three.js has for what an image shows beyond its ends.
fn mode(wrap: Wrap) -> u32 {
    match wrap {
        Wrap::Repeat => 1000,
        Wrap::Clamp => 1001,
        Wrap::Mirror => 1002,
    }
}
