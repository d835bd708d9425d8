//! Reading of input files.

use std::io;
use std::path::Path;

/// The content of a file that another file refers to, which must be a regular file.
///
/// # Errors
/// An I/O error, also for devices, which may never end, and pipes, which may never begin.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_if(path, std::fs::FileType::is_file)
}

/// The content of a file on the command line: a regular file, or a pipe that the user connected.
///
/// # Errors
/// An I/O error, also for devices, which may never end.
pub(crate) fn read_argument(path: &Path) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    use std::os::unix::fs::FileTypeExt;
    #[cfg(unix)]
    let is_pipe = |kind: &std::fs::FileType| kind.is_fifo();
    #[cfg(not(unix))]
    let is_pipe = |_: &std::fs::FileType| false;
    read_if(path, |kind| kind.is_file() || is_pipe(kind))
}

/// Why a file cannot be read, without system error codes.
pub(crate) fn problem(error: &io::Error) -> String {
    let text = error.to_string();
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => text.split(" (os error").next().unwrap_or(&text).to_owned(),
    }
}

/// Refuses a folder where a file is expected.
///
/// # Errors
/// [`io::ErrorKind::IsADirectory`].
pub(crate) fn refuse_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    Ok(())
}

fn read_if(path: &Path, may: impl Fn(&std::fs::FileType) -> bool) -> io::Result<Vec<u8>> {
    refuse_folder(path)?;
    let kind = std::fs::metadata(path).map_err(of_file)?.file_type();
    if may(&kind) {
        return std::fs::read(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device or a pipe and no file"))
}

/// The error of a path with a file in place of a folder, such as `mesh.ply/`.
fn of_file(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotADirectory => {
            io::Error::new(error.kind(), "a part of it before a / is a file, not a folder")
        }
        _ => error,
    }
}
