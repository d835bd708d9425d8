//! Fracture by stress of finite elements.

use serde::Deserialize;

use super::InvalidValue;
use super::check::{STRONGEST, at, bounded, positive, require, stress};
use super::fracture_context::FractureContext;

/// `stress = { spacing = 0.05 }`: cracks where the tension in finite elements of this edge length
/// exceeds the strength (Mu01).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    /// Edge length of the tetrahedra, m.
    pub spacing: f64,
    /// Tensile strength, Pa; that of its material by default.
    pub strength: Option<f64>,
    /// Young's modulus, Pa; that of its material by default.
    pub young: Option<f64>,
    /// Poisson's ratio; 0.25 by default.
    #[serde(default = "quarter")]
    pub poisson: f64,
    /// Yield strength: von Mises stress above which a body without cracks deforms plastically, Pa;
    /// elastic by default.
    pub yield_strength: Option<f64>,
    /// Growth of the yield stress per plastic strain, Pa (isotropic linear hardening); 0 by
    /// default.
    pub hardening: Option<f64>,
    /// Radius over which impacts are spread and stress is averaged, m; by default a quarter of the
    /// edge of a cube of the body's volume.
    pub averaging: Option<f64>,
    /// Whether elements are quadratic: the stress is far more accurate, and takes about ten times
    /// as long; `false` by default.
    #[serde(default)]
    pub quadratic: bool,
    /// Duration of an impact, s; by default the contact time by Hertz.
    pub duration: Option<f64>,
    /// Radius around a contact beyond which an unanchored body is fixed (Mu01 section 2.8), m;
    /// inertia relief by default.
    pub collision_radius: Option<f64>,
    /// Radius of a crack whose tension equals the strength, m; twice the spacing by default.
    pub reach: Option<f64>,
    /// Maximum number of cracks per event; 16 by default.
    #[serde(default = "sixteen")]
    pub cracks: usize,
}

fn quarter() -> f64 {
    0.25
}

fn sixteen() -> usize {
    16
}

impl Stress {
    pub(super) fn check(&self, key: &str, body: &FractureContext<'_>) -> Result<(), InvalidValue> {
        body.check_tetrahedra(key, self.spacing)?;
        body.check_strength(key, "strength", self.strength)?;
        body.check_strength(key, "young", self.young)?;
        let lengths =
            [("duration", self.duration, "s"), ("collision_radius", self.collision_radius, "m")];
        for (name, value, unit) in lengths.into_iter().filter_map(|(n, x, u)| Some((n, x?, u))) {
            positive(&at(key, name), value, unit)?;
        }
        require((-0.9..=0.49).contains(&self.poisson), &at(key, "poisson"), || {
            format!("must be from -0.9 to 0.49, not {:?}", self.poisson)
        })?;
        if let Some(reach) = self.reach {
            positive(&at(key, "reach"), reach, "m")?;
        }
        if let Some(averaging) = self.averaging {
            bounded(&at(key, "averaging"), &[averaging], "m")?;
            require(averaging >= 0.0, &at(key, "averaging"), || "must be 0 m or more")?;
        }
        if let Some(yields) = self.yield_strength {
            stress(&at(key, "yield_strength"), yields)?;
        }
        if let Some(hardening) = self.hardening {
            let key = at(key, "hardening");
            require((0.0..=STRONGEST).contains(&hardening), &key, || {
                format!("must be 0 to {STRONGEST:e} Pa, not {hardening:?}")
            })?;
            require(self.yield_strength.is_some(), &key, || "needs a `yield_strength`")?;
        }
        require((1..=1000).contains(&self.cracks), &at(key, "cracks"), || {
            format!("must be 1 to 1000, not {}", self.cracks)
        })
    }
}
