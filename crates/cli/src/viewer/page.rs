//! The parts of the page.

use std::borrow::Cow;

use super::frame::filled;
use super::server::Part;

/// By route: content type and content. The recording is added separately.
pub(super) const PAGE: [(&str, &str, &[u8]); 12] = [
    ("/viewer.css", "text/css; charset=utf-8", include_bytes!("page/viewer.css")),
    ("/viewer.js", SCRIPT, include_bytes!("page/viewer.js")),
    ("/dust.js", SCRIPT, include_bytes!("page/dust.js")),
    ("/packed.js", SCRIPT, include_bytes!("page/packed.js")),
    ("/panels.js", SCRIPT, include_bytes!("page/panels.js")),
    ("/playback.js", SCRIPT, include_bytes!("page/playback.js")),
    ("/plot.js", SCRIPT, include_bytes!("page/plot.js")),
    ("/recorded.js", SCRIPT, include_bytes!("page/recorded.js")),
    ("/stage.js", SCRIPT, include_bytes!("page/stage.js")),
    ("/texture.js", SCRIPT, include_bytes!("page/texture.js")),
    ("/three.js", SCRIPT, include_bytes!("page/three.js")),
    ("/icon.svg", "image/svg+xml", include_bytes!("page/icon.svg")),
];

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page itself, at the route `/`.
pub(super) fn html() -> String {
    filled(include_str!("page/frame.html"), include_str!("page/viewer.html"))
}

/// The part at a route, as text; empty if there is none.
pub(super) fn text(route: &str) -> &'static str {
    let part = PAGE.iter().find(|(known, ..)| *known == route);
    part.and_then(|(.., bytes)| str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// All parts of the page of some recordings. Each recording is its name and its bytes from
/// [`playback`](super::playback()).
pub fn viewer(recordings: Vec<(String, Vec<u8>)>) -> Vec<Part> {
    let html = Part {
        route: "/".to_owned(),
        kind: "text/html; charset=utf-8",
        body: html().into_bytes().into(),
    };
    let page = PAGE.iter().map(|&(route, kind, body)| Part {
        route: route.to_owned(),
        kind,
        body: Cow::Borrowed(body),
    });
    let (names, playbacks): (Vec<String>, Vec<_>) = recordings.into_iter().unzip();
    let names = serde_json::Value::from(names).to_string().into_bytes();
    let list =
        Part { route: "/recordings".to_owned(), kind: "application/json", body: names.into() };
    let playbacks = playbacks.into_iter().enumerate().map(|(n, playback)| Part {
        route: format!("/recording/{n}"),
        kind: "application/octet-stream",
        body: playback.into(),
    });
    page.chain([html, list]).chain(playbacks).collect()
}
