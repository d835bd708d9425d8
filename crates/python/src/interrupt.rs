//! Long calls that Ctrl-C interrupts.

use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Interval of checks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// Does work on another thread without the global interpreter lock, and checks for signals meanwhile. After Ctrl-C
/// the work continues in the background, and its result is dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let (done, result) = channel();
    // the receiver is gone after an interruption
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
