//! Fracture by stress of finite elements.

use serde::Deserialize;

use super::InvalidValue;
use super::breakable::Breakable;
use super::check::{STRONGEST, at, bounded, positive, require, stress};

/// `stress = { spacing = 0.05 }`: cracks where finite elements of that size find more tension than
/// the body bears (Mu01).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    /// Edge length of the tetrahedra, m.
    pub spacing: f64,
    /// Tension that the body bears, Pa; that of its material unless given.
    pub strength: Option<f64>,
    /// Young's modulus, Pa; that of its material unless given.
    pub young: Option<f64>,
    /// Poisson's ratio; 0.25 unless given.
    #[serde(default = "quarter")]
    pub poisson: f64,
    /// Von Mises stress beyond which the body stays deformed where it does not break, Pa; it springs
    /// back unless given.
    pub yield_strength: Option<f64>,
    /// Growth of the yield stress per plastic strain, Pa (isotropic linear hardening); 0 unless given.
    pub hardening: Option<f64>,
    /// Radius over which blows are spread and stress is averaged, m; a quarter of the edge of a cube of
    /// the body's volume unless given.
    pub averaging: Option<f64>,
    /// Whether displacements are quadratic in each tetrahedron: stress is far more exact, and takes
    /// some ten times as long; `false` unless given.
    #[serde(default)]
    pub quadratic: bool,
    /// How long a blow lasts, s; as long as the bodies touch by Hertz unless given.
    pub duration: Option<f64>,
    /// Radius around a contact beyond which a body that nothing anchors is supported in the place of its
    /// inertia, m (Mu01 section 2.8); inertia relief unless given.
    pub collision_radius: Option<f64>,
    /// Radius of a crack at the strength, m; twice the spacing unless given.
    pub reach: Option<f64>,
    /// Most cracks in one event; 16 unless given.
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
    pub(super) fn check(&self, key: &str, body: &Breakable<'_>) -> Result<(), InvalidValue> {
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
