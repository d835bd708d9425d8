//! A global allocator that counts bytes, for programs that check how much memory a file takes.
#![expect(unsafe_code, reason = "the trait of allocators is unsafe")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system allocator with a count of allocated bytes and a limit.
#[derive(Debug)]
pub struct Counting {
    now: AtomicUsize,
    peak: AtomicUsize,
    most: usize,
}

impl Counting {
    /// Refuses allocations that would exceed a total of `most` bytes.
    pub const fn new(most: usize) -> Self {
        Self { now: AtomicUsize::new(0), peak: AtomicUsize::new(0), most }
    }

    /// Starts a measurement: returns the currently allocated bytes, for [`Counting::growth`].
    pub fn start(&self) -> usize {
        let now = self.now.load(Relaxed);
        self.peak.store(now, Relaxed);
        now
    }

    /// The peak of allocated bytes above `start` since [`Counting::start`] returned it.
    pub fn growth(&self, start: usize) -> usize {
        self.peak.load(Relaxed).saturating_sub(start)
    }

    /// Counts an allocation unless it exceeds the limit.
    fn take(&self, bytes: usize) -> bool {
        let now = self.now.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if now > self.most {
            self.give_back(bytes);
            return false;
        }
        self.peak.fetch_max(now, Relaxed);
        true
    }

    fn give_back(&self, bytes: usize) {
        self.now.fetch_sub(bytes, Relaxed);
    }

    /// Counts and allocates `bytes`; null if either is refused.
    fn counted(&self, bytes: usize, allocate: impl FnOnce() -> *mut u8) -> *mut u8 {
        if !self.take(bytes) {
            return std::ptr::null_mut();
        }
        let place = allocate();
        if place.is_null() {
            self.give_back(bytes);
        }
        place
    }
}

// SAFETY: every pointer comes from `System` and returns to it with its original layout; null means
// that nothing was allocated, as the trait requires.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`.
        self.counted(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc_zeroed`.
        self.counted(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        self.give_back(layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // the old and the new block may exist at the same time
        // SAFETY: the caller upholds the contract of `GlobalAlloc::realloc`.
        let new = self.counted(size, || unsafe { System.realloc(place, layout, size) });
        if !new.is_null() {
            self.give_back(layout.size());
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_and_too_many_refused() {
        let counting = Counting::new(1000);
        let [small, large] = [100, 901].map(|size| Layout::from_size_align(size, 8).unwrap());
        let start = counting.start();
        // SAFETY: the layouts are not empty, and allocations are freed with their layout.
        unsafe {
            let place = counting.alloc(small);
            assert!(!place.is_null());
            assert!(counting.alloc(large).is_null());
            assert_eq!(counting.growth(start), 100);
            let zeros = counting.alloc_zeroed(small);
            assert_eq!(*zeros.add(99), 0);
            counting.dealloc(zeros, small);
            *place.add(99) = 7;
            let moved = counting.realloc(place, small, 800);
            assert_eq!(*moved.add(99), 7);
            assert!(
                counting.realloc(moved, Layout::from_size_align(800, 8).unwrap(), 900).is_null()
            );
            assert_eq!(counting.growth(start), 900);
            counting.dealloc(moved, Layout::from_size_align(800, 8).unwrap());
        }
        assert_eq!(counting.start(), start);
        assert_eq!(counting.growth(start), 0);
    }
}
