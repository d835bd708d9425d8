//! Pictures of a recording without a browser or a graphics card: ray tracing with a bounding volume
//! hierarchy, one sun with soft shadows, ambient occlusion of the sky, and a filmic tone curve.
//!
//! Each pixel has four samples, each with a ray to the sun and some to the sky; the light is
//! averaged over neighbors on the same surface. Random numbers depend only on the position in the
//! picture, so the result is the same for any number of threads.

mod animation;
mod between;
mod bvh;
mod camera;
mod directions;
mod images;
mod light;
mod picture;
mod smooth;
mod specks;
mod stage;
mod tone;
mod video;
mod view;

use rayon::prelude::*;
use sim::Recording;

use crate::format::DustCloud;

pub use animation::{Apng, Gif};
pub use images::{ImageError, Images};
pub use picture::{Picture, contact_sheet};
pub(crate) use tone::srgb;
pub use video::Video;
pub use view::View;

use bvh::Vec3;
use camera::{Camera, SUPERSAMPLING};
use directions::Random;
use light::Sample;
use specks::Speck;
use stage::Stage;

/// Number of samples in memory at a time, unless rows are longer: 80 MB.
const AT_ONCE: usize = 1 << 20;

/// What pictures show.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The bodies.
    pub recording: &'a Recording,
    /// Images of materials. Materials whose images are not among them have only their colors.
    pub images: &'a Images,
    /// Dust of the same run.
    pub dust: Option<&'a DustCloud>,
}

/// Draws a subject at a time in frames, `size` pixels wide and high.
pub fn render(subject: Subject<'_>, view: &View, time: f64, size: [usize; 2]) -> Picture {
    let Subject { recording, images, dust } = subject;
    let stage = Stage::new((recording, images), view, time);
    let camera = Camera::new(view, size);
    let seconds = (time / recording.fps) as f32;
    let visible = dust.iter().flat_map(|dust| dust.at(seconds)).collect();
    let specks = specks::specks(&stage, &camera, view, visible);
    let [width, height] = size;
    let rows = (AT_ONCE / (width * SUPERSAMPLING * SUPERSAMPLING)).max(16);
    let mut bytes = Vec::with_capacity(3 * width * height);
    for first in (0..height).step_by(rows) {
        let rows = first..(first + rows).min(height);
        bytes.extend(draw_rows(&stage, &camera, &specks, rows));
    }
    let shows_body = (0..height).into_par_iter().any(|y| {
        (0..width).any(|x| stage.has_body(&camera.ray(SUPERSAMPLING * x, SUPERSAMPLING * y)))
    });
    Picture::new(size, bytes).showing(shows_body)
}

/// Draws some rows of a picture.
fn draw_rows(
    stage: &Stage<'_>,
    camera: &Camera,
    specks: &[Speck],
    rows: std::ops::Range<usize>,
) -> Vec<u8> {
    let [width, height] = camera.size;
    // filtering needs the rows above and below
    let margin = smooth::REACH.div_ceil(SUPERSAMPLING);
    let above = margin.min(rows.start);
    let first = (rows.start - above) * SUPERSAMPLING;
    let last = (rows.end + margin).min(height) * SUPERSAMPLING;
    let across = width * SUPERSAMPLING;
    let mut samples: Vec<Sample> = (first..last)
        .into_par_iter()
        .flat_map_iter(|y| {
            (0..across).map(move |x| {
                let mut random = Random::at(x as u32, y as u32);
                stage.trace(&camera.ray(x, y), camera.spread, &mut random)
            })
        })
        .collect();
    smooth::smooth(&mut samples, across, camera.spread);
    specks::draw(specks, &mut samples, across, first);
    let bright = |sample: &Sample| tone::film(sample.bright());
    let share = 1.0 / (SUPERSAMPLING * SUPERSAMPLING) as f32;
    let pixel = |(row, column): (usize, usize)| {
        let own = (0..SUPERSAMPLING).flat_map(|y| {
            let start = ((row + above) * SUPERSAMPLING + y) * across + column * SUPERSAMPLING;
            &samples[start..start + SUPERSAMPLING]
        });
        let sum: Vec3 = own.map(bright).sum();
        (sum * share).map(srgb).data.0[0]
    };
    let pixels = (0..rows.len()).into_par_iter();
    pixels.flat_map_iter(|row| (0..width).flat_map(move |column| pixel((row, column)))).collect()
}
