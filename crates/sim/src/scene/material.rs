//! Named materials of scenes: `material = "glass"`.

use std::collections::BTreeMap;

use contact::Combine;
use fracture::Material as Solid;
use serde::Deserialize;

use super::InvalidValue;
use super::check::{at, fraction, lever_arm, positive, require, stress};
use crate::Texture;
use crate::scene::error::nearest;

/// Friction, restitution and look of a material. [`fracture::Material`] has its density, stiffness
/// and strength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Its name, that of a [`fracture::Material`].
    pub name: &'static str,
    /// Coefficient of restitution on a hard surface.
    pub restitution: f64,
    /// Coefficient of dry friction on itself.
    pub friction: f64,
    /// Combination rule of friction.
    pub friction_rule: Option<Rule>,
    /// Linear RGB color.
    pub color: [f32; 3],
    /// Linear RGB color of a fresh break.
    pub inner_color: [f32; 3],
    /// From 0, a mirror, to 1, chalk.
    pub roughness: f32,
    /// From 0, a dielectric, to 1, a metal.
    pub metallic: f32,
    /// Variation of its colors.
    pub texture: Texture,
    /// Share of light transmitted through its surface.
    pub transmission: f32,
    /// Refractive index.
    pub ior: f32,
}

/// Combination of the coefficients of two bodies. [`Combine`] determines which of two different
/// rules wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The arithmetic mean.
    Average,
    /// The geometric mean.
    GeometricMean,
    /// The minimum.
    Min,
    /// The product.
    Multiply,
    /// The maximum.
    Max,
}

impl Rule {
    pub(super) fn combine(self) -> Combine {
        match self {
            Self::Average => Combine::Average,
            Self::GeometricMean => Combine::GeometricMean,
            Self::Min => Combine::Min,
            Self::Multiply => Combine::Multiply,
            Self::Max => Combine::Max,
        }
    }
}

impl Material {
    /// Typical values; friction rounded from tables of dry sliding friction, the rest estimated.
    pub const TABLE: [Self; 11] = [
        Self::new("glass", 0.5, 0.4, [0.74, 0.9, 0.85], [0.4, 0.72, 0.62], 0.05).clear(0.95, 1.5),
        Self::new("brick", 0.15, 0.6, [0.42, 0.13, 0.075], [0.52, 0.22, 0.14], 0.9)
            .with(Texture::Clay),
        Self::new("concrete", 0.15, 0.6, [0.42, 0.42, 0.4], [0.27, 0.26, 0.24], 0.95)
            .with(Texture::Concrete),
        Self::new("stone", 0.2, 0.6, [0.36, 0.34, 0.31], [0.52, 0.5, 0.46], 0.9)
            .with(Texture::Stone),
        Self::new("alumina", 0.5, 0.4, [0.85, 0.84, 0.8], [0.78, 0.77, 0.73], 0.4),
        Self::new("ice", 0.3, 0.05, [0.62, 0.78, 0.85], [0.8, 0.9, 0.94], 0.15)
            .slippery()
            .clear(0.6, 1.31),
        Self::new("china", 0.4, 0.4, [0.1, 0.19, 0.42], [0.86, 0.84, 0.8], 0.2),
        Self::new("clay", 0.2, 0.6, [0.55, 0.22, 0.11], [0.68, 0.38, 0.24], 0.85)
            .with(Texture::Clay),
        Self::new("wood", 0.3, 0.4, [0.3, 0.16, 0.075], [0.66, 0.46, 0.26], 0.7)
            .with(Texture::Wood),
        Self::new("steel", 0.3, 0.5, [0.5, 0.5, 0.51], [0.42, 0.42, 0.43], 0.35).metal(),
        Self::new("rubber", 0.8, 0.8, [0.03, 0.03, 0.03], [0.05, 0.05, 0.05], 0.8),
    ];

    const fn new(
        name: &'static str,
        restitution: f64,
        friction: f64,
        color: [f32; 3],
        inner_color: [f32; 3],
        roughness: f32,
    ) -> Self {
        let friction_rule = None;
        Self {
            name,
            restitution,
            friction,
            friction_rule,
            color,
            inner_color,
            roughness,
            metallic: 0.0,
            texture: Texture::Plain,
            transmission: 0.0,
            ior: 1.5,
        }
    }

    /// This material with a texture.
    const fn with(self, texture: Texture) -> Self {
        Self { texture, ..self }
    }

    /// This material as a metal.
    const fn metal(self) -> Self {
        Self { metallic: 1.0, ..self }
    }

    /// This material, transparent.
    const fn clear(self, transmission: f32, ior: f32) -> Self {
        Self { transmission, ior, ..self }
    }

    /// This material with the combination rule [`Rule::Min`] for friction.
    const fn slippery(self) -> Self {
        Self { friction_rule: Some(Rule::Min), ..self }
    }

    /// The entry of [`Material::TABLE`] with that name or one of [`Solid::ALIASES`].
    pub fn named(name: &str) -> Option<&'static Self> {
        const TABLE: &[Material] = &Material::TABLE;
        let name = Solid::named(name)?.name;
        TABLE.iter().find(|material| material.name == name)
    }

    /// Its density, stiffness and strength.
    pub fn solid(&self) -> Option<&'static Solid> {
        Solid::named(self.name)
    }
}

/// A material of a scene: `[material.NAME]`. Missing keys have the values of the material `like`.
/// Without `like` it has no strength unless `density`, `stiffness` and `strength` are given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OwnMaterial {
    /// A name of [`Material::TABLE`].
    pub like: Option<String>,
    /// Density, kg/m^3.
    pub density: Option<f64>,
    /// Young's modulus, Pa.
    pub stiffness: Option<f64>,
    /// Poisson's ratio; 0.25 by default.
    pub poisson: Option<f64>,
    /// Tensile strength, Pa.
    pub strength: Option<f64>,
    /// Mode I fracture toughness, Pa m^(1/2), which determines chipping; 1e6 by default.
    pub toughness: Option<f64>,
    /// Coefficient of restitution.
    pub restitution: Option<f64>,
    /// Coefficient of friction.
    pub friction: Option<f64>,
    /// Combination rule of restitution.
    pub restitution_rule: Option<Rule>,
    /// Combination rule of friction.
    pub friction_rule: Option<Rule>,
    /// Rolling friction, m.
    pub rolling_friction: Option<f64>,
    /// Spinning friction, m.
    pub spinning_friction: Option<f64>,
    /// Linear RGB color.
    #[serde(rename = "colour", alias = "color")]
    pub color: Option<[f32; 3]>,
    /// Linear RGB color of cuts.
    #[serde(rename = "inner_colour", alias = "inner_color")]
    pub inner_color: Option<[f32; 3]>,
    /// From 0, a mirror, to 1, chalk.
    pub roughness: Option<f32>,
    /// From 0, a dielectric, to 1, a metal.
    pub metallic: Option<f32>,
    /// Variation of its colors.
    pub texture: Option<Texture>,
    /// Share of light transmitted through its surface, 0 to 1.
    pub transmission: Option<f32>,
    /// Refractive index, 1 to 3.
    pub ior: Option<f32>,
    /// Opacity, 0 to 1.
    pub alpha: Option<f32>,
}

impl OwnMaterial {
    fn base(&self) -> Option<&'static Material> {
        self.like.as_deref().and_then(Material::named)
    }

    /// Its density, stiffness and strength, if it has all of them.
    pub(super) fn solid(&self) -> Option<Solid> {
        let base = self.base().and_then(Material::solid);
        Some(Solid {
            name: base.map_or("own", |base| base.name),
            density: self.density.or_else(|| Some(base?.density))?,
            stiffness: self.stiffness.or_else(|| Some(base?.stiffness))?,
            poisson: self.poisson.or_else(|| Some(base?.poisson)).unwrap_or(0.25),
            tensile_strength: self.strength.or_else(|| Some(base?.tensile_strength))?,
            toughness: self.toughness.or_else(|| Some(base?.toughness)).unwrap_or(1e6),
        })
    }
}

/// Properties of a body, from its material or its own keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BodyProperties {
    pub(super) density: Option<f64>,
    pub(super) restitution: Option<f64>,
    pub(super) friction: Option<f64>,
    pub(super) restitution_rule: Option<Rule>,
    pub(super) friction_rule: Option<Rule>,
    pub(super) rolling_friction: Option<f64>,
    pub(super) spinning_friction: Option<f64>,
    pub(super) color: Option<[f32; 3]>,
    pub(super) inner_color: Option<[f32; 3]>,
    pub(super) roughness: Option<f32>,
    pub(super) metallic: Option<f32>,
    pub(super) texture: Option<Texture>,
    pub(super) transmission: Option<f32>,
    pub(super) ior: Option<f32>,
    pub(super) alpha: Option<f32>,
}

impl BodyProperties {
    pub(super) fn of(material: &Material) -> Self {
        Self {
            density: material.solid().map(|solid| solid.density),
            restitution: Some(material.restitution),
            friction: Some(material.friction),
            restitution_rule: None,
            friction_rule: material.friction_rule,
            rolling_friction: None,
            spinning_friction: None,
            color: Some(material.color),
            inner_color: Some(material.inner_color),
            roughness: Some(material.roughness),
            metallic: Some(material.metallic),
            texture: Some(material.texture),
            transmission: Some(material.transmission),
            ior: Some(material.ior),
            alpha: None,
        }
    }

    pub(super) fn of_own(own: &OwnMaterial) -> Self {
        let base = own.base().map_or_else(Self::default, Self::of);
        // a body with its own color has its own color of cuts
        let cuts = if own.color.is_some() { None } else { base.inner_color };
        Self {
            density: own.density.or(base.density),
            restitution: own.restitution.or(base.restitution),
            friction: own.friction.or(base.friction),
            restitution_rule: own.restitution_rule.or(base.restitution_rule),
            friction_rule: own.friction_rule.or(base.friction_rule),
            rolling_friction: own.rolling_friction,
            spinning_friction: own.spinning_friction,
            color: own.color.or(base.color),
            inner_color: own.inner_color.or(cuts),
            roughness: own.roughness.or(base.roughness),
            metallic: own.metallic.or(base.metallic),
            texture: own.texture.or(base.texture),
            transmission: own.transmission.or(base.transmission),
            ior: own.ior.or(base.ior),
            alpha: own.alpha,
        }
    }
}

/// Checks the materials of a scene.
pub(super) fn check_materials(
    materials: &BTreeMap<String, OwnMaterial>,
) -> Result<(), InvalidValue> {
    for (name, own) in materials {
        let key = format!("material.{name}");
        require(
            Material::named(name).is_none(),
            &key,
            || "has the name of a known material: choose another",
        )?;
        if let Some(like) = &own.like {
            known(&at(&key, "like"), like, &[])?;
        }
        check_own(&key, own)?;
    }
    Ok(())
}

/// Checks that a material exists.
pub(super) fn check_material(
    key: &str,
    name: &str,
    materials: &BTreeMap<String, OwnMaterial>,
) -> Result<(), InvalidValue> {
    let own: Vec<&str> = materials.keys().map(String::as_str).collect();
    known(key, name, &own)
}

fn check_own(key: &str, own: &OwnMaterial) -> Result<(), InvalidValue> {
    if let Some(density) = own.density {
        positive(&at(key, "density"), density, "kg/m^3")?;
    }
    for (name, value) in [("stiffness", own.stiffness), ("strength", own.strength)] {
        value.map_or(Ok(()), |value| stress(&at(key, name), value))?;
    }
    if let Some(poisson) = own.poisson {
        require((-0.9..=0.499).contains(&poisson), &at(key, "poisson"), || {
            format!("must be from -0.9 to 0.499, not {poisson:?}")
        })?;
    }
    if let Some(toughness) = own.toughness {
        positive(&at(key, "toughness"), toughness, "Pa m^(1/2)")?;
    }
    if let Some(restitution) = own.restitution {
        fraction(&at(key, "restitution"), restitution)?;
    }
    if let Some(friction) = own.friction {
        require(friction >= 0.0 && friction.is_finite(), &at(key, "friction"), || {
            format!("must be 0 or more and finite, not {friction:?}")
        })?;
    }
    for (name, lever) in
        [("rolling_friction", own.rolling_friction), ("spinning_friction", own.spinning_friction)]
    {
        lever.map_or(Ok(()), |lever| lever_arm(&at(key, name), lever))?;
    }
    for (name, color) in [("colour", own.color), ("inner_colour", own.inner_color)] {
        color.iter().flatten().try_for_each(|c| fraction(&at(key, name), f64::from(*c)))?;
    }
    let shares = [
        ("roughness", own.roughness),
        ("metallic", own.metallic),
        ("transmission", own.transmission),
        ("alpha", own.alpha),
    ];
    for (name, share) in shares {
        share.map_or(Ok(()), |share| fraction(&at(key, name), f64::from(share)))?;
    }
    own.ior.map_or(Ok(()), |ior| refractive_index(&at(key, "ior"), ior))
}

/// Checks that a refractive index is one of a transparent material.
pub(super) fn refractive_index(key: &str, ior: f32) -> Result<(), InvalidValue> {
    require((1.0..=3.0).contains(&ior), key, || {
        format!("must be from 1 to 3, as 1.5 of glass, not {ior:?}")
    })
}

/// Checks that a name is one of [`Material::TABLE`] or of `own`.
fn known(key: &str, name: &str, own: &[&str]) -> Result<(), InvalidValue> {
    let aliases = Solid::ALIASES.iter().map(|[alias, _]| *alias);
    let all =
        || own.iter().copied().chain(Material::TABLE.iter().map(|m| m.name)).chain(aliases.clone());
    require(all().any(|other| other == name), key, || match nearest(name, all()) {
        Some(nearest) => format!("names no material `{name}`, did you mean `{nearest}`?"),
        None => {
            format!("names no material `{name}`; known: {}", all().collect::<Vec<_>>().join(", "))
        }
    })
}
