//! A page that plays a recording in the browser, served to this machine only.

mod playback;
mod server;

pub use playback::playback;
pub use server::Viewer;
