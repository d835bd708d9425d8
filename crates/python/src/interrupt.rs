//! Long calls that Ctrl-C ends.

use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often signals are looked for.
const INTERVAL: Duration = Duration::from_millis(50);

/// Does work on another thread, without the global interpreter lock, and looks for signals meanwhile. After Ctrl-C
/// the work goes on unseen until it is done, and what it finds is dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let (done, result) = channel();
    // nobody may wait for it any more
    let worker = std::thread::Builder::new().spawn(move || drop(done.send(work())));
    worker.map_err(|e| PyRuntimeError::new_err(format!("cannot start a thread: {e}")))?;
    let result = Mutex::new(result);
    let wait = || match result.lock() {
        Ok(result) => result.recv_timeout(INTERVAL),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    };
    loop {
        match py.detach(wait) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "brisance failed: please report this with what was given to the function",
                ));
            }
        }
    }
}
