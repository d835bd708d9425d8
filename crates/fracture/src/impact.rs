//! Strength of a body under an impact: contact force by Hertz, stress of plates, discs and chips.
//!
//! The force of the contact follows from the stiffness and curvature of both bodies and the
//! effective mass (Hertz 1882; Johnson, *Contact Mechanics*, 1985, sections 4.2 and 11.4). Where
//! the mean pressure reaches [`Material::crushing_pressure`] of the softer body, the contact
//! crushes at that pressure (Johnson, section 6.3). A wall recedes from the impact by its point
//! impedance `8 sqrt(D rho h)`, `D = E h^3 / (12 (1 - nu^2))` (Cremer, Heckl and Petersson,
//! *Structure-Borne Sound*, 2005). The body breaks by the mode with the lowest critical speed:
//!
//! - **Bending.** The wall bends under a load on a small patch (Timoshenko and Woinowsky-Krieger,
//!   *Theory of Plates and Shells*, 1959; the radius of the patch by Westergaard, as in *Roark's
//!   Formulas for Stress and Strain*, chapter 11). The bent part extends to the rim, or as far as a
//!   flexural wave travels while the force rises.
//! - **Splitting.** The body splits along the impact, as a disc between two plates does: tension
//!   `2 F / (pi D L)` (ASTM C496).
//! - **Chipping.** A chip of depth `d` runs off at `F = 9.3 K d^(3/2)` (Chai and Lawn, *Acta
//!   Materialia* 55, 2007, 2555), with the toughness `K`. A body breaks when the chip is as deep as
//!   a quarter of its second extent. In a wall thinner than the chip is deep, `F = 9.3 K t
//!   d^(1/2)`. On the way there the contact crushes at the strength of a body with a crack as large
//!   as the contact, a disc of radius `a`: `K sqrt(pi / a) / 2` (Sneddon 1946), whatever the
//!   strength of a body without a crack. So a stronger body is never the first to chip.
//!
//! Stress alone is not sufficient: in finite fracture mechanics (Leguillon, *European Journal of
//! Mechanics A* 21, 2002, 61) stress and energy are both necessary. The impact must therefore
//! provide the energy of the least separating section, `G A` with `G = K^2 (1 - nu^2) / E`. Brittle
//! bodies always get that much before their stress is too large; steel and rubber, with a `G` a
//! thousand times as large, do not.
//!
//! Only sums, products, quotients and square roots are used, so that the bits are the same on every
//! platform.

use std::f64::consts::{LN_2, PI};

use crate::Material;

/// The extents of a body around an impact, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Thickness along the impact.
    pub thickness: f64,
    /// The least extent across the impact.
    pub width: f64,
    /// The greatest extent across the impact.
    pub length: f64,
}

/// An impact on a body, without its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact<'a> {
    /// Material of the body.
    pub body: &'a Material,
    /// Material of the striking body.
    pub striker: &'a Material,
    /// The extents of the body around the impact.
    pub section: Section,
    /// Sum of the curvatures of both surfaces, 1/m; positive where they are convex.
    pub curvature: f64,
    /// Effective mass of both bodies along the normal, kg.
    pub mass: f64,
}

/// Depth of a chip that counts as fracture, as a share of the second of the body's three extents.
const CHIP: f64 = 0.25;
/// Force on a chip over `K d^(3/2)` (Chai and Lawn 2007).
const CHIPPING: f64 = 9.3;
/// Radius of the contact over the depth of the chip that it causes, where it crushes at 24 times
/// `K sqrt(pi / a) / 2`: `12 pi^(3/2) a^(3/2) = 9.3 d^(3/2)`.
const CHIPPING_RADIUS: f64 = 0.2686;
/// Bending radius of a plate over `sqrt(t sqrt(D / (rho h)))` after a time `t`: a constant force
/// gives a curvature of `F / (2 pi D) (ln(2 sqrt(t sqrt(D / (rho h))) / a) - gamma / 2)` at the
/// distance `a`, and 1/2 more in the mean of that disc, so `2 exp((1 - gamma) / 2)`.
const REACH: f64 = 2.47;
/// Rise time of the force over momentum per peak force: 1.84 by Hertz, `pi / 2` for a linear rise
/// as in crushing.
const RISE: f64 = 1.7;
/// Lengths, masses and curvatures are clamped to this range, which keeps all products finite.
const RANGE: [f64; 2] = [1e-9, 1e9];
/// Steps of the search for the critical speed. The load grows as a power between 0.5 and 1.2 of the
/// speed, so that each step at least halves the error.
const STEPS: usize = 50;

impl Impact<'_> {
    /// Peak force at an approach speed, m/s, in N: that of a rigid body in series with the
    /// impedance `Z` of its wall, `1 / F = 1 / F_rigid + 1 / (Z v)`. It is up to 10 % below the
    /// solution of the equation of motion.
    pub fn force(&self, speed: f64) -> f64 {
        let (rigid, wave) = (self.rigid_force(speed), self.impedance() * speed);
        if wave > 0.0 { rigid / (1.0 + rigid / wave) } else { 0.0 }
    }

    /// The largest ratio of load to strength at an approach speed, m/s, or the ratio of the speed
    /// to the one with sufficient energy if this is less: the body breaks at 1. Walls bend under
    /// [`Impact::force`]; splitting and chipping apply to compact bodies, which move as a whole.
    pub fn load(&self, speed: f64) -> f64 {
        let bending = self.bending_stress(speed, self.force(speed)) / self.body.tensile_strength;
        let splitting = self.rigid_force(speed) / self.splitting_force();
        let chip = self.contact_at(self.chipping_pressure());
        let chipping = self.force_of(&chip, speed) / self.chipping_force();
        bending.max(splitting).max(chipping).min(speed / self.parting_speed())
    }

    /// The approach speed that breaks the body, m/s; infinite if there is none, as for a mass that
    /// is not positive or material data that are not finite.
    ///
    /// It falls with the mass, and grows with the toughness and the thickness.
    pub fn critical_speed(&self) -> f64 {
        if self.mass.is_nan() || self.mass <= 0.0 {
            return f64::INFINITY;
        }
        let mut speed = 1.0;
        for _ in 0..STEPS {
            let load = self.load(speed);
            if !(load > 0.0 && load.is_finite()) {
                return f64::INFINITY;
            }
            speed = clamp(speed / load);
            if (load - 1.0).abs() < 1e-12 {
                break;
            }
        }
        // a speed at the bounds means that there is no solution
        if speed < RANGE[1] { speed } else { f64::INFINITY }
    }

    /// Duration of contact at an approach speed, m/s, in s: the force rises for 1.7 times the
    /// momentum per peak force and falls for as long. The factor is 1.84 for elastic bodies by
    /// Hertz (Johnson, section 11.4), whose time falls with the fifth root of the speed, and
    /// `pi / 2` for bodies that crush.
    pub fn duration(&self, speed: f64) -> f64 {
        let force = self.rigid_force(speed);
        2.0 * RISE * clamp(self.mass) * clamp(speed) / force.max(f64::MIN_POSITIVE)
    }

    /// Peak force on a body that moves as a whole, N.
    fn rigid_force(&self, speed: f64) -> f64 {
        self.force_of(&self.contact(), speed)
    }

    /// Peak force for a given contact, N.
    fn force_of(&self, contact: &Contact, speed: f64) -> f64 {
        let Contact { stiffness, radius, pressure } = *contact;
        let energy = 0.5 * clamp(self.mass) * speed * speed;
        // indentation at which the mean pressure of Hertz reaches that of crushing
        let root = PI * radius * pressure / stiffness;
        let yields = root * root;
        let least = 0.4 * stiffness * yields * yields * root;
        if energy <= least {
            let indentation = fifth_root(square(energy / (0.4 * stiffness)));
            return stiffness * indentation * indentation.sqrt();
        }
        // beyond it the contact area grows by 2 pi R per indentation
        let (first, slope) = (stiffness * yields * root, 2.0 * PI * radius * pressure);
        (first * first + 2.0 * slope * (energy - least)).sqrt()
    }

    fn contact(&self) -> Contact {
        self.contact_at(self.body.crushing_pressure())
    }

    /// The contact if the body crushes at a pressure, Pa.
    fn contact_at(&self, crushing: f64) -> Contact {
        let compliance = |m: &Material| (1.0 - m.poisson * m.poisson) / m.stiffness;
        let modulus = 1.0 / (compliance(self.body) + compliance(self.striker));
        let radius = 1.0 / clamp(self.curvature);
        let pressure = crushing.min(self.striker.crushing_pressure());
        Contact { stiffness: 4.0 / 3.0 * modulus * radius.sqrt(), radius, pressure }
    }

    /// Radius of the contact under a force, m.
    fn contact_radius(&self, force: f64) -> f64 {
        let Contact { stiffness, radius, pressure } = self.contact();
        let by_hertz = (radius * cube_root(square(force / stiffness))).sqrt();
        by_hertz.max((force / (PI * pressure)).sqrt())
    }

    /// `D / (rho h)` of the wall, m^4 / s^2.
    fn rigidity_per_mass(&self) -> f64 {
        let Material { stiffness, poisson, density, .. } = *self.body;
        let thickness = clamp(self.section.thickness);
        stiffness * thickness * thickness / (12.0 * (1.0 - poisson * poisson) * density)
    }

    /// Force over the speed of the wall at the impact, N s / m.
    fn impedance(&self) -> f64 {
        let mass_per_area = self.body.density * clamp(self.section.thickness);
        8.0 * mass_per_area * self.rigidity_per_mass().sqrt()
    }

    /// Tension in the far face of the wall, Pa.
    fn bending_stress(&self, speed: f64, force: f64) -> f64 {
        let thickness = clamp(self.section.thickness);
        let time = RISE * clamp(self.mass) * speed / self.rigid_force(speed).max(f64::MIN_POSITIVE);
        let reach = REACH * (time * self.rigidity_per_mass().sqrt()).sqrt();
        let reach = reach.min(0.5 * clamp(self.section.length));
        let patch = self.contact_radius(force);
        // Westergaard: a plate is too thick to bend within a patch that is much smaller than itself
        let rounded = (1.6 * patch * patch + thickness * thickness).sqrt() - 0.675 * thickness;
        let moment = (1.0 + self.body.poisson) * ln_1p(reach / rounded.max(patch));
        1.5 * force * moment / (PI * thickness * thickness)
    }

    /// The force that splits the body along the impact, N.
    fn splitting_force(&self) -> f64 {
        let Section { thickness, width, .. } = self.section;
        0.5 * PI * self.body.tensile_strength * clamp(thickness) * clamp(width)
    }

    /// The extents from the least to the greatest, m.
    fn extents(&self) -> [f64; 3] {
        let Section { thickness, width, length } = self.section;
        let mut extents = [thickness, width, length].map(clamp);
        extents.sort_by(f64::total_cmp);
        extents
    }

    /// The force that breaks the body by a chip, N.
    fn chipping_force(&self) -> f64 {
        let extents = self.extents();
        let depth = CHIP * extents[1];
        CHIPPING * self.body.toughness * depth.sqrt() * depth.min(extents[0])
    }

    /// Mean pressure at which the contact of a chip crushes, Pa.
    fn chipping_pressure(&self) -> f64 {
        let radius = CHIPPING_RADIUS * CHIP * self.extents()[1];
        Material::crushing_at(0.5 * self.body.toughness * (PI / radius).sqrt())
    }

    /// The approach speed with the energy of the least section through the body, m/s.
    fn parting_speed(&self) -> f64 {
        let Material { toughness, stiffness, poisson, .. } = *self.body;
        let release = square(toughness) * (1.0 - square(poisson)) / stiffness;
        let [least, second, _] = self.extents();
        (2.0 * release * least * second / clamp(self.mass)).sqrt()
    }
}

/// Force `stiffness * indentation^(3/2)` until the mean pressure over `pi radius indentation`
/// reaches that of crushing.
struct Contact {
    /// Stiffness, N / m^(3/2).
    stiffness: f64,
    /// Radius, m.
    radius: f64,
    /// Pressure, Pa.
    pressure: f64,
}

/// Clamps to [`RANGE`]; NaN gives its minimum.
fn clamp(x: f64) -> f64 {
    if x.is_nan() { RANGE[0] } else { x.clamp(RANGE[0], RANGE[1]) }
}

fn square(x: f64) -> f64 {
    x * x
}

/// `x = m 2^n` with `m` from 1 to 2, for positive normal numbers.
fn parts(x: f64) -> (f64, i32) {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let mantissa = f64::from_bits(bits & MANTISSA | 1.0_f64.to_bits());
    (mantissa, (bits >> 52) as i32 - 1023)
}

/// Newton's method for `y^N = x`, from a start within a factor of 2.
fn root<const N: i32>(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return if x.is_finite() { 0.0 } else { x };
    }
    let (_, exponent) = parts(x);
    let mut y = f64::from_bits(((exponent.div_euclid(N) + 1 + 1023) as u64) << 52);
    // from above convergence is monotonic
    for _ in 0..12 {
        let mut power = y;
        (2..N).for_each(|_| power *= y);
        y -= (y - x / power) / f64::from(N);
    }
    y
}

fn cube_root(x: f64) -> f64 {
    root::<3>(x)
}

fn fifth_root(x: f64) -> f64 {
    root::<5>(x)
}

/// `ln(1 + x)` for `x` not below 0, to about 1e-14.
fn ln_1p(x: f64) -> f64 {
    if !x.is_finite() {
        return x;
    }
    let (mantissa, exponent) = parts(1.0 + x);
    // ln m = 2 artanh((m - 1) / (m + 1)), of at most 1/3
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let mut sum = 0.0;
    for n in (0..16).rev() {
        sum = sum * s * s + 1.0 / f64::from(2 * n + 1);
    }
    f64::from(exponent) * LN_2 + 2.0 * s * sum
}
