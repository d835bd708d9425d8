//! Files that are either whole or not there.

use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Has `write` fill a temporary file beside `path`, and gives it that name when all is written.
///
/// # Errors
/// What `write` returns, or an I/O error; `path` is then as it was before and nothing is left.
pub fn write_whole<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&std::fs::File>) -> Result<(), E>,
) -> Result<(), E> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".brisance-").suffix(".tmp");
    #[cfg(unix)]
    {
        // as File::create does: the umask takes away what the user does not want
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder_of(path))?;
    let mut buffered = BufWriter::new(file.as_file());
    write(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Has `write` fill a temporary folder beside `path`, and gives it that name when all is written.
///
/// # Errors
/// What `write` returns, or an I/O error, also when `path` exists and is not an empty folder;
/// nothing is left then.
pub fn write_whole_folder<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".brisance-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o777));
    }
    let folder = builder.tempdir_in(folder_of(path))?;
    write(folder.path())?;
    std::fs::rename(folder.path(), path)?;
    // there is nothing left to delete
    let _ = folder.keep();
    Ok(())
}

/// The folder a file is in; `.` for a bare name.
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
