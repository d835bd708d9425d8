//! Material properties of bodies.

use std::sync::Arc;

use contact::Combine;
use fracture::Material as Solid;

use super::material::BodyProperties;
use super::{Body, Material, Rule};
use crate::Look;

impl Body {
    fn properties(&self) -> BodyProperties {
        match &self.own_material {
            Some(own) => BodyProperties::of_own(own),
            None => {
                let named = self.material.as_deref().and_then(Material::named);
                named.map_or_else(BodyProperties::default, BodyProperties::of)
            }
        }
    }

    /// Density, stiffness and strength of its material, if it has one with these.
    pub fn solid(&self) -> Option<Solid> {
        match &self.own_material {
            Some(own) => own.solid(),
            None => Material::named(self.material.as_deref()?)?.solid().copied(),
        }
    }

    /// Density, kg/m^3: its own, else its material's, else that of water.
    pub fn density(&self) -> f64 {
        self.density.or(self.properties().density).unwrap_or(1000.0)
    }

    /// Stress at which anchors fail under its weight, Pa: its own, else its material's, else
    /// infinite.
    pub fn anchor_strength(&self) -> f64 {
        let by_material = || Some(self.solid()?.tensile_strength);
        self.anchor_strength.or_else(by_material).unwrap_or(f64::INFINITY)
    }

    /// Coefficient of restitution: its own, else its material's, else 0.3.
    pub fn restitution(&self) -> f64 {
        self.restitution.or(self.properties().restitution).unwrap_or(0.3)
    }

    /// Coefficient of friction: its own, else its material's, else 0.5.
    pub fn friction(&self) -> f64 {
        self.friction.or(self.properties().friction).unwrap_or(0.5)
    }

    /// Combination rule of its restitution: its own, else its material's.
    pub fn restitution_rule(&self) -> Option<Combine> {
        self.restitution_rule.or(self.properties().restitution_rule).map(Rule::combine)
    }

    /// Combination rule of its friction: its own, else its material's.
    pub fn friction_rule(&self) -> Option<Combine> {
        self.friction_rule.or(self.properties().friction_rule).map(Rule::combine)
    }

    /// Rolling friction, m: its own, else its material's, else none.
    pub fn rolling_friction(&self) -> f64 {
        self.rolling_friction.or(self.properties().rolling_friction).unwrap_or(0.0)
    }

    /// Spinning friction, m: its own, else its material's, else none.
    pub fn spinning_friction(&self) -> f64 {
        self.spinning_friction.or(self.properties().spinning_friction).unwrap_or(0.0)
    }

    /// Its look: by its own keys, else that of its material, else gray. Cuts of a body with its own
    /// color are paler than its surface.
    pub fn look(&self) -> Look {
        let known = self.properties();
        let color = self.color.or(known.color).unwrap_or([0.7; 3]);
        let paler = color.map(|c| 0.75 * c + 0.15);
        let of_material = known.inner_color.filter(|_| self.color.is_none());
        Look {
            material: self.material.clone().unwrap_or_else(|| self.name.clone()),
            color,
            inner_color: self.inner_color.or(of_material).unwrap_or(paler),
            roughness: self.roughness.or(known.roughness).unwrap_or(0.8),
            metallic: self.metallic.or(known.metallic).unwrap_or(0.0),
            texture: self.texture.or(known.texture).unwrap_or_default(),
            transmission: self.transmission.or(known.transmission).unwrap_or(0.0),
            ior: self.ior.or(known.ior).unwrap_or(1.5),
            alpha: self.alpha.or(known.alpha).unwrap_or(1.0),
            small_pieces: self.small_pieces,
            coats: Arc::default(),
        }
    }
}

impl Material {
    /// The look of a body of this material.
    pub fn look(&self) -> Look {
        Look {
            material: self.name.to_owned(),
            color: self.color,
            inner_color: self.inner_color,
            roughness: self.roughness,
            metallic: self.metallic,
            texture: self.texture,
            transmission: self.transmission,
            ior: self.ior,
            ..Look::default()
        }
    }
}
