//! Handling of memory exhaustion.
#![expect(
    unsafe_code,
    reason = "the trait of allocators is unsafe; the hook for failures is not stable"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The system allocator. On a failed allocation it removes the temporary files, prints one sentence
/// and exits with code 2, where the standard library would abort.
pub(crate) struct Allocator;

// SAFETY: every call is forwarded unchanged to `System`, and its result is returned unchanged.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc_zeroed`.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `GlobalAlloc::realloc`.
        checked(unsafe { System.realloc(place, layout, size) }, size)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(place, layout) }
    }
}

fn checked(place: *mut u8, bytes: usize) -> *mut u8 {
    if place.is_null() {
        give_up(bytes);
    }
    place
}

/// Ends the program. Returns only in a nested call, for an allocation that fails meanwhile.
#[cold]
fn give_up(bytes: usize) {
    static ENDING: AtomicBool = AtomicBool::new(false);
    thread_local!(static ENDS: Cell<bool> = const { Cell::new(false) });
    if ENDS.get() {
        return;
    }
    if ENDING.swap(true, Ordering::Relaxed) {
        // another thread ends the program
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    ENDS.set(true);
    // stderr may be closed
    let _ = writeln!(
        std::io::stderr(),
        "brisance: memory ran out ({bytes} bytes more were needed): use fewer nodes, pieces or frames"
    );
    brisance::output::discard_unfinished();
    std::process::exit(2)
}
