//! A single-threaded replacement of the part of rayon that brisance uses. On
//! `wasm32-unknown-unknown`, which has no threads, the crate takes the name of rayon, whose thread
//! pool would be a sixth of the module of the playground. Results are the same, since none depends
//! on the number of threads.
//!
//! ```
//! use brisance_serial::prelude::*;
//!
//! let squares: Vec<u32> = (0..4_u32).into_par_iter().with_min_len(2).map(|n| n * n).collect();
//! assert_eq!(squares, [0, 1, 4, 9]);
//! assert_eq!([3, 1, 2].par_iter().map(|n| *n).reduce(|| 0, u32::max), 3);
//! let pairs: Vec<(usize, u8)> = [5_u8, 6].par_iter().zip([7, 8]).map(|(a, b)| a + b).enumerate().collect();
//! assert_eq!(pairs, [(0, 12), (1, 14)]);
//! ```

/// Calls `first`, then `second`.
pub fn join<A, B>(first: impl FnOnce() -> A, second: impl FnOnce() -> B) -> (A, B) {
    (first(), second())
}

/// The traits, under their names in rayon.
pub mod prelude {
    pub use super::{IntoParallelIterator, ParallelSlice, ParallelSliceMut};
}

/// An iterator with the methods of a parallel one.
#[derive(Clone, Debug)]
pub struct Serial<I>(I);

impl<I: Iterator> IntoIterator for Serial<I> {
    type Item = I::Item;
    type IntoIter = I;

    fn into_iter(self) -> I {
        self.0
    }
}

impl<I: Iterator> Serial<I> {
    /// The same: there is one thread.
    #[must_use]
    pub fn with_min_len(self, _least: usize) -> Self {
        self
    }

    /// The same: there is one thread.
    #[must_use]
    pub fn with_max_len(self, _most: usize) -> Self {
        self
    }

    /// As [`Iterator::map`].
    pub fn map<T>(self, change: impl FnMut(I::Item) -> T) -> Serial<impl Iterator<Item = T>> {
        Serial(self.0.map(change))
    }

    /// As [`Iterator::map`], with one state from `start`.
    pub fn map_init<S, T>(
        self,
        start: impl FnOnce() -> S,
        mut change: impl FnMut(&mut S, I::Item) -> T,
    ) -> Serial<impl Iterator<Item = T>> {
        let mut state = start();
        Serial(self.0.map(move |item| change(&mut state, item)))
    }

    /// As [`Iterator::filter_map`].
    pub fn filter_map<T>(
        self,
        change: impl FnMut(I::Item) -> Option<T>,
    ) -> Serial<impl Iterator<Item = T>> {
        Serial(self.0.filter_map(change))
    }

    /// As [`Iterator::flat_map`].
    pub fn flat_map_iter<T: IntoIterator>(
        self,
        change: impl FnMut(I::Item) -> T,
    ) -> Serial<impl Iterator<Item = T::Item>> {
        Serial(self.0.flat_map(change))
    }

    /// As [`Iterator::enumerate`].
    pub fn enumerate(self) -> Serial<impl Iterator<Item = (usize, I::Item)>> {
        Serial(self.0.enumerate())
    }

    /// As [`Iterator::zip`].
    pub fn zip<J: IntoIterator>(
        self,
        other: J,
    ) -> Serial<impl Iterator<Item = (I::Item, J::Item)>> {
        Serial(self.0.zip(other))
    }

    /// As [`Iterator::for_each`].
    pub fn for_each(self, act: impl FnMut(I::Item)) {
        self.0.for_each(act);
    }

    /// As [`Iterator::collect`].
    pub fn collect<C: FromIterator<I::Item>>(self) -> C {
        self.0.collect()
    }

    /// Replaces the contents of `items` by all items.
    pub fn collect_into_vec(self, items: &mut Vec<I::Item>) {
        items.clear();
        items.extend(self.0);
    }

    /// As [`Iterator::unzip`].
    pub fn unzip<A, B, C, D>(self) -> (C, D)
    where
        I: Iterator<Item = (A, B)>,
        C: Default + Extend<A>,
        D: Default + Extend<B>,
    {
        self.0.unzip()
    }

    /// As [`Iterator::fold`] with the initial value from `start`.
    pub fn reduce(
        self,
        start: impl FnOnce() -> I::Item,
        join: impl FnMut(I::Item, I::Item) -> I::Item,
    ) -> I::Item {
        self.0.fold(start(), join)
    }
}

/// Conversion into an iterator.
pub trait IntoParallelIterator: IntoIterator + Sized {
    /// The iterator.
    fn into_par_iter(self) -> Serial<Self::IntoIter> {
        Serial(self.into_iter())
    }
}

impl<I: IntoIterator> IntoParallelIterator for I {}

/// Slices.
pub trait ParallelSlice<T> {
    /// As [`slice::iter`].
    fn par_iter(&self) -> Serial<std::slice::Iter<'_, T>>;
    /// As [`slice::chunks`].
    fn par_chunks(&self, size: usize) -> Serial<std::slice::Chunks<'_, T>>;
}

impl<T> ParallelSlice<T> for [T] {
    fn par_iter(&self) -> Serial<std::slice::Iter<'_, T>> {
        Serial(self.iter())
    }

    fn par_chunks(&self, size: usize) -> Serial<std::slice::Chunks<'_, T>> {
        Serial(self.chunks(size))
    }
}

/// Mutable slices.
pub trait ParallelSliceMut<T> {
    /// As [`slice::iter_mut`].
    fn par_iter_mut(&mut self) -> Serial<std::slice::IterMut<'_, T>>;
    /// As [`slice::chunks_mut`].
    fn par_chunks_mut(&mut self, size: usize) -> Serial<std::slice::ChunksMut<'_, T>>;
    /// As [`slice::chunks_exact_mut`].
    fn par_chunks_exact_mut(&mut self, size: usize) -> Serial<std::slice::ChunksExactMut<'_, T>>;
}

impl<T> ParallelSliceMut<T> for [T] {
    fn par_iter_mut(&mut self) -> Serial<std::slice::IterMut<'_, T>> {
        Serial(self.iter_mut())
    }

    fn par_chunks_mut(&mut self, size: usize) -> Serial<std::slice::ChunksMut<'_, T>> {
        Serial(self.chunks_mut(size))
    }

    fn par_chunks_exact_mut(&mut self, size: usize) -> Serial<std::slice::ChunksExactMut<'_, T>> {
        Serial(self.chunks_exact_mut(size))
    }
}

/// Tests the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
