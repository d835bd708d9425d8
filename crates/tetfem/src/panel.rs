//! Dense panels of a factor, and their kernels.
//!
//! The rows of a factor are stored in strips of four, column after column, so that kernels read
//! sequentially. Products are added in a fixed order and rounded once, in scalar registers or in
//! vectors of up to four, so that all machines get the same bits.
#![allow(clippy::needless_range_loop, reason = "what constants index stays in registers")]

use pulp::Simd;

/// Rows of a strip.
pub(crate) const STRIP: usize = 4;

/// Degrees of freedom of a node.
pub(crate) const NODE: usize = 3;

/// Strips that are multiplied together. More would exceed the registers; spilling one makes the
/// kernel take half as long again.
const MAX_STRIPS: usize = 2;

/// Columns whose leading rows are eliminated.
pub(crate) struct Elimination<'a, S> {
    pub(crate) simd: S,
    /// The updated columns, a whole number of strips.
    pub(crate) columns: &'a mut [f64],
    pub(crate) length: usize,
    /// Destination of the factor, with reciprocals on the diagonal. Nothing is written above the
    /// diagonal.
    pub(crate) factor: &'a mut [f64],
    pub(crate) pivots: usize,
}

impl<S: Simd> Elimination<'_, S> {
    /// Eliminates; returns whether all pivots are positive.
    #[inline(always)]
    pub(crate) fn run(self) -> bool {
        let (simd, pivots, length) = (self.simd, self.pivots, self.length);
        let strips = length / STRIP;
        for own in 0..pivots.div_ceil(STRIP) {
            let first = own * STRIP;
            let columns = &mut self.columns[first * length..][..STRIP * length];
            for strip in (own..strips).step_by(MAX_STRIPS) {
                let tile = &mut columns[strip * STRIP..];
                let factor = (&*self.factor, pivots);
                subtract_some(simd, tile, length, factor, first, [strip, own], strips - strip);
            }
            let mut block = [[0.0; STRIP]; STRIP];
            for c in 0..STRIP {
                block[c].copy_from_slice(&columns[c * length + first..][..STRIP]);
            }
            let width = STRIP.min(pivots - first);
            if !root(&mut block, width) {
                return false;
            }
            let to = &mut self.factor[(own * pivots + first) * STRIP..][..width * STRIP];
            to.copy_from_slice(&block.as_flattened()[..width * STRIP]);
            for strip in own + 1..strips {
                let to = &mut self.factor[(strip * pivots + first) * STRIP..][..width * STRIP];
                divide(simd, &columns[strip * STRIP..], length, &block, to);
            }
        }
        true
    }
}

/// The strip of a factor below a diagonal block.
#[inline(always)]
fn divide<S: Simd>(
    simd: S,
    columns: &[f64],
    length: usize,
    block: &[[f64; STRIP]; STRIP],
    factor: &mut [f64],
) {
    for n in 0..STRIP / S::F64_LANES {
        let mut x = [simd.splat_f64s(0.0); STRIP];
        for c in 0..STRIP {
            let mut sum = S::as_simd_f64s(&columns[c * length..][..STRIP]).0[n];
            for d in 0..c {
                sum = simd.mul_add_f64s(x[d], simd.splat_f64s(-block[d][c]), sum);
            }
            x[c] = simd.mul_f64s(sum, simd.splat_f64s(block[c][c]));
        }
        for c in 0..STRIP {
            if c * STRIP < factor.len() {
                S::as_mut_simd_f64s(&mut factor[c * STRIP..][..STRIP]).0[n] = x[c];
            }
        }
    }
}

/// Replaces the lower half of a block, column-major, by its Cholesky factor with reciprocals on the
/// diagonal, and everything else, also beyond its width, by zero. Returns whether all pivots are
/// positive.
#[inline(always)]
fn root(block: &mut [[f64; STRIP]; STRIP], width: usize) -> bool {
    for c in 0..STRIP {
        let mut column = block[c];
        for d in 0..c {
            for r in c..STRIP {
                column[r] -= block[d][r] * block[d][c];
            }
        }
        let pivot = column[c];
        if c < width && (pivot.is_nan() || pivot <= 0.0 || pivot == f64::INFINITY) {
            return false;
        }
        let inverse = if c < width { 1.0 / pivot.sqrt() } else { 0.0 };
        for r in 0..STRIP {
            column[r] = if r > c { column[r] * inverse } else { 0.0 };
        }
        column[c] = inverse;
        block[c] = column;
    }
    true
}

/// The lower half of a square matrix, column-major; the number of rows is a multiple of [`STRIP`],
/// and the columns of a strip begin at its first row.
#[derive(Clone, Copy)]
pub(crate) struct Half(pub(crate) usize);

impl Half {
    /// Number of values.
    pub(crate) fn count(self) -> usize {
        self.0 * (self.0 + STRIP) / 2
    }

    /// Offset that the first row of a column would have.
    #[inline(always)]
    pub(crate) fn column(self, column: usize) -> usize {
        let first = column / STRIP * STRIP;
        // preceding strips, which shrink by four rows each, less the rows missing at its top
        let before = first * self.0 - first * first.saturating_sub(STRIP) / 2;
        before + (column - first) * (self.0 - first) - first
    }

    /// Subtracts the product of the strips of a factor with their transpose.
    #[inline(always)]
    pub(crate) fn subtract<S: Simd>(
        self,
        simd: S,
        half: &mut [f64],
        factor: &[f64],
        pivots: usize,
    ) {
        let strips = self.0 / STRIP;
        for strip in (0..strips).step_by(MAX_STRIPS) {
            let end = strips.min(strip + MAX_STRIPS);
            for column in 0..end {
                let strip = strip.max(column);
                let length = self.0 - column * STRIP;
                let tile = &mut half[self.column(column * STRIP) + strip * STRIP..];
                let which = [strip, column];
                subtract_some(simd, tile, length, (factor, pivots), pivots, which, end - strip);
            }
        }
    }
}

/// Subtracts from a tile the product of up to [`MAX_STRIPS`] strips of a factor, from the given one
/// on, and the transpose of another.
#[inline(always)]
fn subtract_some<S: Simd>(
    simd: S,
    tile: &mut [f64],
    length: usize,
    (factor, pivots): (&[f64], usize),
    depth: usize,
    [rows, columns]: [usize; 2],
    left: usize,
) {
    let (count, stride) = (depth * STRIP, pivots * STRIP);
    let b = &factor[columns * stride..][..count];
    let first = &factor[rows * stride..];
    if left < MAX_STRIPS {
        subtract(simd, tile, length, [&first[..count]], b);
    } else {
        subtract(simd, tile, length, [&first[..count], &first[stride..][..count]], b);
    }
}

/// Subtracts from a tile the product of strips and the transpose of a strip.
#[inline(always)]
fn subtract<S: Simd, const M: usize>(
    simd: S,
    tile: &mut [f64],
    length: usize,
    strips: [&[f64]; M],
    b: &[f64],
) {
    let registers = STRIP / S::F64_LANES;
    let strips = strips.map(|strip| S::as_simd_f64s(strip).0);
    // sized for the case of one value per register
    let mut sums = [[[simd.splat_f64s(0.0); STRIP]; M]; STRIP];
    for p in 0..b.len() / STRIP {
        let b = &b[p * STRIP..][..STRIP];
        for n in 0..registers {
            let a = strips.map(|strip| strip[p * registers + n]);
            for c in 0..STRIP {
                let b = simd.splat_f64s(b[c]);
                for m in 0..M {
                    sums[c][m][n] = simd.mul_add_f64s(a[m], b, sums[c][m][n]);
                }
            }
        }
    }
    for c in 0..STRIP {
        let column = &mut tile[c * length..][..M * STRIP];
        let column = S::as_mut_simd_f64s(column).0;
        for m in 0..M {
            for n in 0..registers {
                let x = &mut column[m * registers + n];
                *x = simd.sub_f64s(*x, sums[c][m][n]);
            }
        }
    }
}

/// Forward substitution: solves for the pivots of a factor in strips, the first of `x`, and updates
/// the other rows.
#[inline(always)]
pub(crate) fn forward<S: Simd>(simd: S, factor: &[f64], pivots: usize, x: &mut [f64]) {
    let own = pivots.div_ceil(STRIP);
    for n in 0..own {
        let first = n * STRIP;
        let strip = &factor[n * pivots * STRIP..];
        let (solved, rest) = x.split_at_mut(first);
        subtract_product::<S, 1, 4>(simd, [strip], solved, rest);
        let block = &strip[first * STRIP..];
        let mut own = [0.0; STRIP];
        for r in 0..STRIP.min(pivots - first) {
            let mut sum = rest[r];
            for c in 0..r {
                sum -= block[c * STRIP + r] * own[c];
            }
            own[r] = sum * block[r * STRIP + r];
        }
        rest[..STRIP].copy_from_slice(&own);
    }
    let (x, rest) = x.split_at_mut(own * STRIP);
    let x = &x[..pivots];
    let mut strips = factor[own * STRIP * pivots..].chunks_exact(FOUR * STRIP * pivots);
    let mut rests = rest.chunks_exact_mut(FOUR * STRIP);
    for (strips, rest) in strips.by_ref().zip(rests.by_ref()) {
        subtract_product::<S, FOUR, 2>(simd, four(strips, pivots), x, rest);
    }
    let strips = strips.remainder().chunks_exact(STRIP * pivots);
    for (strip, rest) in strips.zip(rests.into_remainder().chunks_exact_mut(STRIP)) {
        subtract_product::<S, 1, 4>(simd, [strip], x, rest);
    }
}

/// Strips that share each load of vector values.
const FOUR: usize = 4;

#[inline(always)]
fn four(strips: &[f64], pivots: usize) -> [&[f64]; FOUR] {
    let strip = |n: usize| &strips[n * pivots * STRIP..][..pivots * STRIP];
    [strip(0), strip(1), strip(2), strip(3)]
}

/// Subtracts the product of strips with a vector from its remaining rows, with `SUMS` partial sums
/// per row.
#[inline(always)]
fn subtract_product<S: Simd, const M: usize, const SUMS: usize>(
    simd: S,
    strips: [&[f64]; M],
    x: &[f64],
    rest: &mut [f64],
) {
    let registers = STRIP / S::F64_LANES;
    let mut sums = [[[simd.splat_f64s(0.0); STRIP]; SUMS]; M];
    let whole = x.len() / SUMS * SUMS;
    for p in (0..whole).step_by(SUMS) {
        for k in 0..SUMS {
            for m in 0..M {
                let a = &strips[m][(p + k) * STRIP..][..STRIP];
                add_product(simd, &mut sums[m][k], a, simd.splat_f64s(x[p + k]));
            }
        }
    }
    for p in whole..x.len() {
        for m in 0..M {
            let a = &strips[m][p * STRIP..][..STRIP];
            add_product(simd, &mut sums[m][0], a, simd.splat_f64s(x[p]));
        }
    }
    for m in 0..M {
        let rest = S::as_mut_simd_f64s(&mut rest[m * STRIP..][..STRIP]).0;
        for k in 0..SUMS {
            for n in 0..registers {
                rest[n] = simd.sub_f64s(rest[n], sums[m][k][n]);
            }
        }
    }
}

/// Adds a multiple of part of a strip.
#[inline(always)]
fn add_product<S: Simd>(simd: S, sum: &mut [S::f64s; STRIP], a: &[f64], x: S::f64s) {
    let a = S::as_simd_f64s(a).0;
    for n in 0..STRIP / S::F64_LANES {
        sum[n] = simd.mul_add_f64s(a[n], x, sum[n]);
    }
}

/// Back substitution: solves for the pivots of a factor in strips by its transpose, given the other
/// rows of `x`; `sums` are four per pivot.
#[inline(always)]
pub(crate) fn backward<S: Simd>(
    simd: S,
    factor: &[f64],
    pivots: usize,
    x: &mut [f64],
    sums: &mut [f64],
) {
    let own = pivots.div_ceil(STRIP);
    sums.fill(0.0);
    let (x, rest) = x.split_at_mut(own * STRIP);
    let mut strips = factor[own * STRIP * pivots..].chunks_exact(FOUR * STRIP * pivots);
    let mut rests = rest.chunks_exact(FOUR * STRIP);
    for (strips, rest) in strips.by_ref().zip(rests.by_ref()) {
        add_transposed(simd, four(strips, pivots), rest, sums);
    }
    let strips = strips.remainder().chunks_exact(STRIP * pivots);
    for (strip, rest) in strips.zip(rests.remainder().chunks_exact(STRIP)) {
        add_transposed(simd, [strip], rest, sums);
    }
    for n in (0..own).rev() {
        let first = n * STRIP;
        let (strip, x) = (&factor[n * pivots * STRIP..], &mut x[first..first + STRIP]);
        let (before, block) = strip.split_at(first * STRIP);
        let mut own = [0.0; STRIP];
        for r in (0..STRIP.min(pivots - first)).rev() {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| sums[(first + r) * STRIP + k]);
            let mut sum = x[r] - ((a + b) + (c + d));
            for c in r + 1..STRIP.min(pivots - first) {
                sum -= block[r * STRIP + c] * own[c];
            }
            own[r] = sum * block[r * STRIP + r];
        }
        x.copy_from_slice(&own);
        add_transposed(simd, [before], x, &mut sums[..first * STRIP]);
    }
}

/// Adds the products of the rows of strips with their values in `x`; each partial sum takes every
/// fourth.
#[inline(always)]
fn add_transposed<S: Simd, const M: usize>(
    simd: S,
    strips: [&[f64]; M],
    x: &[f64],
    sums: &mut [f64],
) {
    let registers = STRIP / S::F64_LANES;
    let x = S::as_simd_f64s(x).0;
    for (p, sum) in sums.chunks_exact_mut(STRIP).enumerate() {
        let sum = S::as_mut_simd_f64s(sum).0;
        for n in 0..registers {
            let mut added = sum[n];
            for m in 0..M {
                let a = S::as_simd_f64s(&strips[m][p * STRIP..][..STRIP]).0[n];
                added = simd.mul_add_f64s(a, x[m * registers + n], added);
            }
            sum[n] = added;
        }
    }
}
