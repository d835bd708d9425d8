//! Materials that scenes can name: `material = "glass"`.

use fracture::Material as Solid;

use crate::Look;

/// How a material rubs, bounces and looks; how heavy and strong it is says [`fracture::Material`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Its name, that of a [`fracture::Material`].
    pub name: &'static str,
    /// Coefficient of restitution on something hard.
    pub restitution: f64,
    /// Coefficient of friction on itself, dry.
    pub friction: f64,
    /// Linear RGB colour.
    pub colour: [f32; 3],
    /// Linear RGB colour of a fresh break.
    pub inner_colour: [f32; 3],
    /// From 0, a mirror, to 1, chalk.
    pub roughness: f32,
}

impl Material {
    /// Typical values; friction rounded from tables of sliding friction of dry surfaces, the rest
    /// by eye.
    pub const TABLE: [Self; 10] = [
        Self::new("glass", 0.5, 0.4, [0.42, 0.62, 0.58], [0.62, 0.82, 0.76], 0.1),
        Self::new("brick", 0.15, 0.6, [0.42, 0.13, 0.075], [0.52, 0.22, 0.14], 0.9),
        Self::new("concrete", 0.15, 0.6, [0.42, 0.42, 0.4], [0.27, 0.26, 0.24], 0.95),
        Self::new("stone", 0.2, 0.6, [0.36, 0.34, 0.31], [0.52, 0.5, 0.46], 0.9),
        Self::new("alumina", 0.5, 0.4, [0.85, 0.84, 0.8], [0.78, 0.77, 0.73], 0.4),
        Self::new("ice", 0.3, 0.05, [0.62, 0.78, 0.85], [0.8, 0.9, 0.94], 0.15),
        Self::new("china", 0.4, 0.4, [0.1, 0.19, 0.42], [0.86, 0.84, 0.8], 0.2),
        Self::new("clay", 0.2, 0.6, [0.55, 0.22, 0.11], [0.68, 0.38, 0.24], 0.85),
        Self::new("wood", 0.3, 0.4, [0.3, 0.16, 0.075], [0.66, 0.46, 0.26], 0.7),
        Self::new("steel", 0.3, 0.5, [0.08, 0.09, 0.1], [0.3, 0.3, 0.3], 0.35),
    ];

    const fn new(
        name: &'static str,
        restitution: f64,
        friction: f64,
        colour: [f32; 3],
        inner_colour: [f32; 3],
        roughness: f32,
    ) -> Self {
        Self { name, restitution, friction, colour, inner_colour, roughness }
    }

    /// The entry of [`Material::TABLE`] of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        const TABLE: &[Material] = &Material::TABLE;
        TABLE.iter().find(|material| material.name == name)
    }

    /// Its density, stiffness and strength.
    pub fn solid(&self) -> Option<&'static Solid> {
        Solid::named(self.name)
    }
}

impl super::Body {
    fn known(&self) -> Option<&'static Material> {
        self.material.as_deref().and_then(Material::named)
    }

    /// Density, stiffness and strength of its material, if it names one.
    pub fn solid(&self) -> Option<&'static Solid> {
        self.known().and_then(Material::solid)
    }

    /// Mass per volume, kg/m^3: its own, else its material's, else that of water.
    pub fn density(&self) -> f64 {
        self.density.or_else(|| Some(self.solid()?.density)).unwrap_or(1000.0)
    }

    /// Stress at which anchors give way under its weight, Pa: its own, else its material's, else
    /// infinite.
    pub fn anchor_strength(&self) -> f64 {
        let by_material = || Some(self.solid()?.tensile_strength);
        self.anchor_strength.or_else(by_material).unwrap_or(f64::INFINITY)
    }

    /// Coefficient of restitution: its own, else its material's, else 0.3.
    pub fn restitution(&self) -> f64 {
        self.restitution.or_else(|| Some(self.known()?.restitution)).unwrap_or(0.3)
    }

    /// Coefficient of friction: its own, else its material's, else 0.5.
    pub fn friction(&self) -> f64 {
        self.friction.or_else(|| Some(self.known()?.friction)).unwrap_or(0.5)
    }

    /// What it looks like: by its own keys, else as its material, else grey. Cuts of a body of a
    /// colour of its own are paler than its surface.
    pub fn look(&self) -> Look {
        let known = self.known();
        let colour = self.colour.or_else(|| Some(known?.colour)).unwrap_or([0.7; 3]);
        let paler = colour.map(|c| 0.75 * c + 0.15);
        let of_material = known.filter(|_| self.colour.is_none()).map(|m| m.inner_colour);
        Look {
            material: self.material.clone().unwrap_or_else(|| self.name.clone()),
            colour,
            inner_colour: self.inner_colour.or(of_material).unwrap_or(paler),
            roughness: self.roughness.or_else(|| Some(known?.roughness)).unwrap_or(0.8),
        }
    }
}
