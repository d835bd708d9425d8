//! Numbers in lanes: plain arrays whose loops compile to vector instructions.

use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use nalgebra::Vector3;

/// Number of contacts solved in parallel lanes.
pub(crate) const LANES: usize = 4;

/// One number per lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wide(pub(crate) [f64; LANES]);

impl Wide {
    #[inline(always)]
    pub(crate) fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        // `map` of arrays is not inlined
        Self(std::array::from_fn(|i| f(self.0[i])))
    }
}

macro_rules! lanewise {
    ($operator:ident, $name:ident, $op:tt) => {
        impl $operator for Wide {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                self.zip(other, |p, q| p $op q)
            }
        }
    };
}

lanewise!(Add, add, +);
lanewise!(Sub, sub, -);
lanewise!(Mul, mul, *);

/// One vector per lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wide3(pub(crate) [Wide; 3]);

impl Wide3 {
    #[inline(always)]
    pub(crate) fn dot(&self, other: &Self) -> Wide {
        let ([a, b, c], [p, q, r]) = (self.0, other.0);
        a * p + b * q + c * r
    }

    #[inline(always)]
    pub(crate) fn cross(&self, other: &Self) -> Self {
        let ([a, b, c], [p, q, r]) = (self.0, other.0);
        Self([b * r - c * q, c * p - a * r, a * q - b * p])
    }

    /// Sets the vector of one lane.
    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, value: [f64; 3]) {
        for (wide, x) in self.0.iter_mut().zip(value) {
            wide.0[lane] = x;
        }
    }

    #[inline(always)]
    pub(crate) fn of(&self, lane: usize) -> [f64; 3] {
        std::array::from_fn(|k| self.0[k].0[lane])
    }
}

impl Add for Wide3 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] + other.0[k]))
    }
}

impl Sub for Wide3 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] - other.0[k]))
    }
}

impl Mul<Wide> for Wide3 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, share: Wide) -> Self {
        Self(std::array::from_fn(|k| self.0[k] * share))
    }
}

impl AddAssign for Wide3 {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Wide3 {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// The first minimum over groups of numbers.
pub(crate) struct First {
    least: Wide,
    /// Groups of the minima.
    groups: Wide,
}

impl First {
    #[inline(always)]
    pub(crate) fn new(most: f64) -> Self {
        Self { least: Wide([most; LANES]), groups: Wide::default() }
    }

    #[inline(always)]
    pub(crate) fn update(&mut self, group: usize, numbers: Wide) {
        let group = group as f64;
        for lane in 0..LANES {
            let is_less = numbers.0[lane] < self.least.0[lane];
            self.groups.0[lane] = if is_less { group } else { self.groups.0[lane] };
            self.least.0[lane] = if is_less { numbers.0[lane] } else { self.least.0[lane] };
        }
    }

    /// The minimum and its index.
    #[inline(always)]
    pub(crate) fn least(&self) -> (f64, usize) {
        let least = self.least.0.into_iter().fold(f64::INFINITY, least_of);
        let place = |lane: usize| LANES * self.groups.0[lane] as usize + lane;
        let places = (0..LANES).filter(|&lane| self.least.0[lane] == least).map(place);
        (least, places.min().unwrap_or(0))
    }
}

/// One number per lane in single precision, at half the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Narrow(pub(crate) [f32; LANES]);

impl Narrow {
    #[inline(always)]
    pub(crate) fn new(wide: Wide) -> Self {
        Self(std::array::from_fn(|i| wide.0[i] as f32))
    }

    #[inline(always)]
    pub(crate) fn wide(self) -> Wide {
        Wide(std::array::from_fn(|i| f64::from(self.0[i])))
    }
}

/// One vector per lane in single precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Narrow3(pub(crate) [Narrow; 3]);

impl Narrow3 {
    #[inline(always)]
    pub(crate) fn new(wide: &Wide3) -> Self {
        Self(std::array::from_fn(|k| Narrow::new(wide.0[k])))
    }

    #[inline(always)]
    pub(crate) fn wide(&self) -> Wide3 {
        Wide3(std::array::from_fn(|k| self.0[k].wide()))
    }

    /// Sets the vector of one lane.
    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, value: [f64; 3]) {
        for (narrow, x) in self.0.iter_mut().zip(value) {
            narrow.0[lane] = x as f32;
        }
    }
}

/// One symmetric matrix per lane: xx, yy, zz, xy, xz, yz.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WideSymmetric(pub(crate) [Wide; 6]);

impl WideSymmetric {
    #[inline(always)]
    pub(crate) fn mul(&self, v: &Wide3) -> Wide3 {
        let ([xx, yy, zz, xy, xz, yz], [x, y, z]) = (self.0, v.0);
        Wide3([xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z])
    }

    #[inline(always)]
    pub(crate) fn trace(&self) -> Wide {
        self.0[0] + self.0[1] + self.0[2]
    }

    /// Sum of the squares of all nine entries.
    #[inline(always)]
    pub(crate) fn square(&self) -> Wide {
        let [xx, yy, zz, xy, xz, yz] = std::array::from_fn(|k| self.0[k] * self.0[k]);
        let off = xy + xz + yz;
        xx + yy + zz + off + off
    }
}

impl Add for WideSymmetric {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] + other.0[k]))
    }
}

/// The same vector in every lane.
#[inline(always)]
pub(crate) fn wide(v: &Vector3<f64>) -> Wide3 {
    Wide3([v.x, v.y, v.z].map(|x| Wide([x; LANES])))
}

/// A vector, shortened to the length `most` if it is longer.
#[inline(always)]
pub(crate) fn within_disc(v: &Wide3, most: Wide) -> Wide3 {
    let square = v.dot(v);
    let beyond = square.zip(most * most, |square, most| f64::from(u8::from(square > most)));
    // most contacts stick: the branch is predicted, and the root is skipped
    if beyond.0 == [0.0; LANES] {
        return *v;
    }
    // not `hypot`, whose bits differ between platforms
    let size = square.map(f64::sqrt);
    *v * size.zip(most, |size, most| if size > most { most / size } else { 1.0 })
}

// these compile to single instructions
#[inline(always)]
pub(crate) fn least_of(p: f64, q: f64) -> f64 {
    if q < p { q } else { p }
}

#[inline(always)]
pub(crate) fn most_of(p: f64, q: f64) -> f64 {
    if q > p { q } else { p }
}
