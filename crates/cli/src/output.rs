//! Atomic output files.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, TryLockError};

/// Calls `write` to fill a temporary file next to `path`, and renames it to `path` once complete.
///
/// # Errors
/// The error of `write`, or an I/O error; `path` is then unchanged and nothing is left behind.
pub fn write_whole<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&std::fs::File>) -> Result<(), E>,
) -> Result<(), E> {
    let prefix = prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        // as File::create does: the umask removes permissions
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder_of(path)).map_err(|error| nameless(&error))?;
    let _unfinished = Unfinished::new(file.path());
    let mut buffered = BufWriter::new(file.as_file());
    write(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Creates a temporary file next to `path`, calls `write` with its name, and renames the file to
/// `path` once `write` succeeds. For files that another program fills.
///
/// # Errors
/// The error of `write`, or an I/O error; `path` is then unchanged and nothing is left behind.
pub fn write_whole_elsewhere<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let prefix = prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder_of(path)).map_err(|error| nameless(&error))?;
    let _unfinished = Unfinished::new(file.path());
    write(file.path())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Calls `write` to fill a temporary folder next to `path`, and renames it to `path` once complete.
///
/// # Errors
/// The error of `write`, or an I/O error, also if `path` exists and is not an empty folder; nothing
/// is left behind then.
pub fn write_whole_folder<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let prefix = prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o777));
    }
    let folder = builder.tempdir_in(folder_of(path)).map_err(|error| nameless(&error))?;
    let _unfinished = Unfinished::new(folder.path());
    write(folder.path())?;
    std::fs::rename(folder.path(), path)?;
    // the folder was renamed: nothing is left to delete
    let _ = folder.keep();
    Ok(())
}

/// Prefix of temporary file names, before the process ID, and their suffix.
const PREFIX: &str = ".brisance-";
const SUFFIX: &str = ".tmp";

fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// Unfinished temporary files and folders.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A registered unfinished temporary file or folder.
struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(|e| e.into_inner()).push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(|e| e.into_inner()).retain(|path| *path != self.0);
    }
}

/// Removes unfinished outputs before the program ends.
pub fn discard_unfinished() {
    // the lock holder may be waiting for this
    let unfinished = match UNFINISHED.try_lock() {
        Err(TryLockError::WouldBlock) => return,
        Err(TryLockError::Poisoned(list)) => list.into_inner(),
        Ok(list) => list,
    };
    unfinished.iter().for_each(|path| discard(path));
}

/// Removes a temporary file or folder if possible.
fn discard(path: &Path) {
    let removed = std::fs::remove_file(path);
    if removed.is_err() {
        let _ = std::fs::remove_dir_all(path);
    }
}

/// The error without the temporary file name, which would not help users.
fn nameless(error: &io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source()).map(ToString::to_string);
    inner.map_or_else(|| error.kind().into(), |inner| io::Error::new(error.kind(), inner))
}

/// Whether a file can be created next to `path`; removes leftovers of killed processes there.
///
/// # Errors
/// The system error if it cannot.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let folder = folder_of(path);
    discard_left(folder);
    tempfile::Builder::new()
        .prefix(&prefix())
        .suffix(SUFFIX)
        .tempfile_in(folder)
        .map(drop)
        .map_err(|error| nameless(&error))
}

/// Removes temporary files of processes that have ended, where the system lists processes.
fn discard_left(folder: &Path) {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return;
    }
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let process = name.and_then(|name| name.split_once('-')?.0.parse::<u32>().ok());
        if process.is_some_and(|process| !processes.join(process.to_string()).exists()) {
            discard(&entry.path());
        }
    }
}

/// Whether two paths refer to the same file, by different spellings or by links.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| match path.canonicalize() {
        Ok(place) => Some(place),
        // a file that does not exist yet is identified by its folder
        Err(_) => Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?)),
    };
    a == b || place(a).is_some_and(|a| place(b) == Some(a)) || are_links(a, b)
}

/// Whether two paths are links to the same file.
#[cfg(unix)]
fn are_links(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let [a, b] = [a, b].map(|path| path.metadata().map(|meta| (meta.dev(), meta.ino())));
    matches!((a, b), (Ok(a), Ok(b)) if a == b)
}

/// Whether two paths are links to the same file: unknown on this system.
#[cfg(not(unix))]
fn are_links(_: &Path, _: &Path) -> bool {
    false
}

/// The parent folder of a file; `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.glb");
        std::fs::write(&path, "old").unwrap();
        let result = write_whole(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert_eq!(result.unwrap_err().to_string(), "disk full");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_whole_or_not_there() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("frames");
        let fill = |folder: &Path| std::fs::write(folder.join("a"), "a");
        write_whole_folder(&path, |folder| {
            fill(folder)?;
            Err(io::Error::other("disk full"))
        })
        .unwrap_err();
        assert_eq!(place.path().read_dir().unwrap().count(), 0);
        write_whole_folder(&path, fill).unwrap();
        assert!(path.join("a").is_file());
        write_whole_folder(&path, fill).unwrap_err();
        assert_eq!(place.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn success_replaces_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.glb");
        std::fs::write(&path, "old").unwrap();
        write_whole(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
