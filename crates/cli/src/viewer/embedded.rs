//! A recording and its player page in one file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sim::Recording;
use thiserror::Error;

use super::page::{html, text};
use super::playback::playback;

/// Why a recording cannot be embedded.
#[derive(Clone, Copy, Debug, Error)]
#[error(
    "the page would have {bytes} bytes, more than {limit}: write a .glb file and use `brisance view`"
)]
pub struct TooLarge {
    /// Size of the page in bytes.
    pub bytes: usize,
    /// Maximum size.
    pub limit: usize,
}

/// Content security policy of a self-contained page: run its own scripts and read its own data.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; \
    img-src data:; connect-src data:";

/// The scripts that others import.
const MODULES: [&str; 9] = [
    "dust.js",
    "packed.js",
    "panels.js",
    "playback.js",
    "plot.js",
    "recorded.js",
    "stage.js",
    "texture.js",
    "three.js",
];

/// An HTML page that plays a recording, titled `name`, and fetches nothing.
///
/// # Errors
/// [`TooLarge`] if it would exceed `limit` bytes.
pub fn embedded(recording: &Recording, name: &str, limit: usize) -> Result<String, TooLarge> {
    let playback = playback(recording, None, name);
    // base64: four characters for three bytes
    let bytes = playback.len().div_ceil(3) * 4 + OWN;
    if bytes > limit {
        return Err(TooLarge { bytes, limit });
    }
    let modules = MODULES.map(|module| {
        let script = STANDARD.encode(bare(text(&format!("/{module}"))));
        format!("\"{module}\":\"data:text/javascript;base64,{script}\"")
    });
    let map = format!("{{\"imports\":{{{}}}}}", modules.join(","));
    let data = STANDARD.encode(playback);
    let scripts = format!(
        "<style>{}</style>\n<script type=\"importmap\">{map}</script>\n\
         <script type=\"application/octet-stream\" id=\"embedded\">{data}</script>\n\
         <script type=\"module\">{}</script>",
        text("/viewer.css"),
        bare(text("/viewer.js")),
    );
    let policy = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">");
    let page = html()
        .replace("<link rel=\"icon\" href=\"icon.svg\">\n", &policy)
        .replace("<link rel=\"stylesheet\" href=\"viewer.css\">\n", "")
        .replace("<script type=\"module\" src=\"viewer.js\"></script>", "");
    // last, when the canvas exists
    Ok(page.replace("</body>", &format!("{scripts}\n</body>")))
}

/// Approximate size of the page without a recording, bytes.
const OWN: usize = 900_000;

/// A script with imports by name instead of by path, since data URIs have no paths.
fn bare(script: &str) -> String {
    script.replace("from \"./", "from \"")
}
