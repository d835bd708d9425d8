//! The parts of the page.

/// By route: content type and content. The recording is added to them.
pub(super) const PAGE: [(&str, &str, &[u8]); 10] = [
    ("/", "text/html; charset=utf-8", include_bytes!("page/index.html")),
    ("/viewer.css", "text/css; charset=utf-8", include_bytes!("page/viewer.css")),
    ("/viewer.js", SCRIPT, include_bytes!("page/viewer.js")),
    ("/playback.js", SCRIPT, include_bytes!("page/playback.js")),
    ("/plot.js", SCRIPT, include_bytes!("page/plot.js")),
    ("/recorded.js", SCRIPT, include_bytes!("page/recorded.js")),
    ("/stage.js", SCRIPT, include_bytes!("page/stage.js")),
    ("/texture.js", SCRIPT, include_bytes!("page/texture.js")),
    ("/three.js", SCRIPT, include_bytes!("page/three.js")),
    ("/icon.svg", "image/svg+xml", include_bytes!("page/icon.svg")),
];

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The part at a route, as text; empty if there is none.
pub(super) fn text(route: &str) -> &'static str {
    let part = PAGE.iter().find(|(known, ..)| *known == route);
    part.and_then(|(.., bytes)| str::from_utf8(bytes).ok()).unwrap_or_default()
}
