//! Random islands for tests.

use nalgebra::{Matrix3x6, Vector3};

use super::island::{Island, Term};
use super::set::Set;

/// Random numbers from -1 to 1.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }

    pub(super) fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.next())
    }

    fn term(&mut self, bodies: [Option<u32>; 2], set: Set) -> Term {
        // bodies of 1 kg and 0.1 kg m^2, with contacts within 0.3 m of their centers
        let mut side = |body: Option<u32>, sign: f64| {
            let mut jacobian = Matrix3x6::zeros();
            if body.is_some() {
                let arm = self.vector() * 0.3;
                let spun = arm.cross_matrix() * (-sign / 0.1_f64.sqrt());
                jacobian.fixed_view_mut::<3, 3>(0, 0).fill_diagonal(sign);
                jacobian.fixed_view_mut::<3, 3>(0, 3).copy_from(&spun);
            }
            jacobian
        };
        let jacobian = [side(bodies[0], 1.0), side(bodies[1], -1.0)];
        let scale = (jacobian.iter().map(|j| j.norm_squared()).sum::<f64>() / 3.0).sqrt();
        let excess = self.vector() / scale;
        let scale_of = Vector3::repeat(scale);
        let transposed = jacobian.map(|j| (j / scale).transpose());
        Term { bodies, transposed, excess, set, scale: scale_of }
    }

    /// Bodies in a chain from the ground, with some more contacts and a joint between two.
    pub(super) fn island(&mut self, friction: f64, joined: bool) -> Island {
        let bodies = 2 + (self.next().abs() * 4.0) as usize;
        let mut terms = Vec::new();
        for n in 0..2 * bodies as u32 {
            let b = n % bodies as u32;
            let a = if n == 0 { None } else { b.checked_sub(1) };
            let normal = self.vector().normalize();
            terms.push(self.term([Some(b), a], Set::Contact { normal, friction }));
        }
        if joined {
            let (least, most) = (Vector3::new(f64::NEG_INFINITY, 0.0, -0.1), Vector3::zeros());
            let most = most + Vector3::new(f64::INFINITY, f64::INFINITY, 0.1);
            terms.push(self.term([Some(1), Some(0)], Set::Rows { least, most }));
        }
        Island { bodies, terms }
    }
}
