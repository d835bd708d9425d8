//! A page that plays a recording in the browser, served only to this machine or as a single file.

mod embedded;
mod frame;
mod page;
mod playback;
mod server;

pub use embedded::{TooLarge, embedded};
pub use page::viewer;
pub use playback::playback;
pub use server::{Part, Server};
