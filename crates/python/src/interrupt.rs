//! Calls without the global interpreter lock, and long calls that Ctrl-C interrupts.

use std::process;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Interval of checks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// The process in which threads were started. A process that is forked from it has none of them, and
/// would wait for them forever.
static STARTED_IN: OnceLock<u32> = OnceLock::new();

/// Checks that this process is not forked from one that has started threads.
fn check_process() -> PyResult<()> {
    if *STARTED_IN.get_or_init(process::id) == process::id() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "this process was forked from one that has used brisance, and has none of its threads: start \
         processes with multiprocessing.get_context(\"spawn\")",
    ))
}

/// Does work without the global interpreter lock.
///
/// # Errors
/// If the threads for it are in the process from which this one was forked.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    check_process()?;
    Ok(py.detach(work))
}

/// Does work on another thread without the global interpreter lock, and checks for signals meanwhile. After Ctrl-C
/// the work continues in the background, and its result is dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    check_process()?;
    let (done, result) = channel();
    // the receiver may be gone
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
