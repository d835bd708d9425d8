//! The impulse of one contact that reaches a target velocity or lies on its friction cone.

/// Inverse effective mass of a contact along its own axes, the normal and two tangents, 1/kg: a
/// symmetric matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelassusBlock {
    pub(crate) normal: f64,
    /// Coupling of the normal and each tangent.
    pub(crate) mixed: [f64; 2],
    /// Tangent block: first, mixed, second.
    pub(crate) tangent: [f64; 3],
}

/// Tolerance of the direction: slip across the friction impulse as a share of the slip.
const ALIGNED: f64 = 1e-10;
/// Share of its mass along the normal below which a sliding contact counts as jammed.
const JAMMED: f64 = 1e-6;

impl DelassusBlock {
    pub(crate) fn times(&self, [p, x, y]: [f64; 3]) -> [f64; 3] {
        let ([na, nb], [aa, ab, bb]) = (self.mixed, self.tangent);
        [self.normal * p + na * x + nb * y, na * p + aa * x + ab * y, nb * p + ab * x + bb * y]
    }

    /// The total impulse of a contact that moves with `free` velocity without it and at `target` or
    /// faster along the normal with it. The contact sticks if Coulomb's law allows; else it slides
    /// against its friction, whose direction takes `turns` iterations. `last` is the impulse so
    /// far.
    pub(crate) fn impulse(
        &self,
        free: [f64; 3],
        target: f64,
        friction: f64,
        last: [f64; 3],
        turns: usize,
    ) -> [f64; 3] {
        let wanted = target - free[0];
        if wanted <= 0.0 {
            return [0.0; 3];
        }
        if friction == 0.0 {
            return [wanted / self.normal, 0.0, 0.0];
        }
        let stuck = self.sticking([wanted, -free[1], -free[2]], friction);
        stuck
            .or_else(|| self.sliding(free, wanted, friction, last, turns))
            .unwrap_or_else(|| self.nearer(free, target, friction, last))
    }

    /// The impulse that changes the velocity by `wanted`, if it lies in the cone.
    fn sticking(&self, [n, a, b]: [f64; 3], friction: f64) -> Option<[f64; 3]> {
        let (nn, [na, nb], [aa, ab, bb]) = (self.normal, self.mixed, self.tangent);
        let [c, d, e] = [aa * bb - ab * ab, nb * ab - na * bb, na * ab - nb * aa];
        let determinant = nn * c + na * d + nb * e;
        if determinant <= 0.0 {
            return None;
        }
        let mixed = na * nb - nn * ab;
        let p = c * n + d * a + e * b;
        let x = d * n + (nn * bb - nb * nb) * a + mixed * b;
        let y = e * n + mixed * a + (nn * aa - na * na) * b;
        let holds = p >= 0.0 && x * x + y * y <= friction * friction * p * p;
        let scale = 1.0 / determinant;
        holds.then_some([p * scale, x * scale, y * scale])
    }

    /// The impulse on the cone whose friction opposes the remaining slip, by Newton's method on its
    /// direction.
    fn sliding(
        &self,
        free: [f64; 3],
        wanted: f64,
        friction: f64,
        last: [f64; 3],
        turns: usize,
    ) -> Option<[f64; 3]> {
        let ([na, nb], [aa, ab, bb]) = (self.mixed, self.tangent);
        let mut along = unit([last[1], last[2]]).or_else(|| unit([-free[1], -free[2]]))?;
        for turn in 0..=turns {
            let [c, s] = along;
            let (x, y) = (friction * c, friction * s);
            let mass = self.normal + na * x + nb * y;
            if mass <= JAMMED * self.normal {
                return None;
            }
            let p = wanted / mass;
            let pushed = [na + aa * x + ab * y, nb + ab * x + bb * y];
            let slip = [free[1] + p * pushed[0], free[2] + p * pushed[1]];
            let (across, with) = (slip[0] * s - slip[1] * c, slip[0] * c + slip[1] * s);
            let size = slip[0] * slip[0] + slip[1] * slip[1];
            if with > 0.0 {
                // this root is the friction that accelerates the slip
                if turn > 0 {
                    return None;
                }
                along = unit([-slip[0], -slip[1]])?;
                continue;
            }
            if turn == turns || across * across <= ALIGNED * ALIGNED * size {
                return Some([p, p * x, p * y]);
            }
            let growth = -p / mass * friction * (nb * c - na * s);
            let slips = [
                growth * pushed[0] + p * friction * (ab * c - aa * s),
                growth * pushed[1] + p * friction * (bb * c - ab * s),
            ];
            let slope = slips[0] * s - slips[1] * c + with;
            if slope == 0.0 {
                return None;
            }
            let step = (-across / slope).clamp(-0.5, 0.5);
            let shrink = 1.0 / (1.0 + step * step).sqrt();
            along = [(c - step * s) * shrink, (s + step * c) * shrink];
        }
        None
    }

    /// A step towards the solution that cannot overshoot, for a jammed contact.
    fn nearer(&self, free: [f64; 3], target: f64, friction: f64, last: [f64; 3]) -> [f64; 3] {
        let given = self.times(last);
        let now: [f64; 3] = std::array::from_fn(|k| free[k] + given[k]);
        let push = (last[0] + (target - now[0]) / self.normal).max(0.0);
        let more = push - last[0];
        // no eigenvalue is larger than the trace
        let step = self.tangent_step();
        let drag = [0, 1].map(|k| last[k + 1] - (now[k + 1] + self.mixed[k] * more) * step);
        let [x, y] = within(drag, friction * push);
        [push, x, y]
    }

    /// Impulse per m/s along the tangents that cannot overshoot in any direction, kg.
    pub(crate) fn tangent_step(&self) -> f64 {
        1.0 / (self.tangent[0] + self.tangent[2])
    }
}

/// A friction impulse, shortened to at most this size.
pub(crate) fn within([x, y]: [f64; 2], most: f64) -> [f64; 2] {
    let size = (x * x + y * y).sqrt();
    if size <= most {
        return [x, y];
    }
    let share = most / size;
    [x * share, y * share]
}

fn unit([x, y]: [f64; 2]) -> Option<[f64; 2]> {
    let size = (x * x + y * y).sqrt();
    (size > 0.0).then(|| [x / size, y / size])
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix3, Vector3};

    use super::*;

    #[test]
    fn a_contact_keeps_to_coulombs_law() {
        let mut state = 9u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        let (mut stuck, mut slid, mut jammed, mut astray) = (0, 0, 0, 0);
        for case in 0..20_000 {
            let half = Matrix3::from_fn(|_, _| random());
            let k = half * half.transpose() + Matrix3::identity() * 0.02;
            let delassus = DelassusBlock {
                normal: k.m11,
                mixed: [k.m12, k.m13],
                tangent: [k.m22, k.m23, k.m33],
            };
            let free = Vector3::new(random() - 0.2, 2.0 * random(), 2.0 * random());
            let (target, friction) = (0.1 * random().abs(), 1.5 * random().abs());
            let j = delassus.impulse(free.into(), target, friction, [0.0; 3], 40);
            let after = free + k * Vector3::from(j);
            let [push, x, y] = j;
            let drag = (x * x + y * y).sqrt();
            assert!(push >= 0.0 && drag <= friction * push * (1.0 + 1e-9), "{case}: {j:?}");
            if push == 0.0 {
                assert!(free.x >= target || drag == 0.0, "{case}: {j:?}");
                continue;
            }
            let slip = (after.y * after.y + after.z * after.z).sqrt();
            let missed = (after.x - target).abs() / free.norm();
            if missed < 1e-9 && slip < 1e-9 {
                stuck += 1;
            } else if missed < 1e-9 {
                slid += 1;
                assert!((drag - friction * push).abs() < 1e-9 * push, "{case}: {drag}");
                let along = (x * after.y + y * after.z) / (drag * slip);
                astray += usize::from(friction > 0.0 && along > -1.0 + 1e-6);
            } else {
                // a step towards the solution: no energy is added
                jammed += 1;
                let work = Vector3::from(j).dot(&(free + after));
                assert!(work < 1e-12 || after.x <= target + 1e-9, "{case}: {work}");
            }
        }
        assert!(stuck > 400 && slid > 2000, "{stuck} {slid}");
        // where Newton's method fails
        assert!(jammed < slid / 20 && astray < slid / 500, "{jammed} {astray} of {slid}");
    }
}
