//! How hard a body must be hit: impulse thresholds from materials.

/// What decides the strength of a brittle material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Its common name, lower case.
    pub name: &'static str,
    /// kg / m^3.
    pub density: f64,
    /// Young's modulus, Pa.
    pub stiffness: f64,
    /// Stress at which it parts, Pa.
    pub tensile_strength: f64,
    /// Mode I fracture toughness, Pa m^(1/2).
    pub toughness: f64,
}

impl Material {
    /// Rounded typical values, in brackets the ranges that the sources give.
    ///
    /// | material | kg/m^3 | GPa | MPa | MPa m^(1/2) |
    /// |---|---|---|---|---|
    /// | glass (soda-lime) | 2470 (2400 to 2500) | 70 (70 to 71) | 33 (7 to 41) | 0.7 (0.6 to 0.75) |
    /// | brick | 1850 (1700 to 2000) | 20 | 3 (2 to 3) | 1.4 |
    /// | concrete | 2400 (2240 to 2400) | 30 (30 to 33) | 3 (2.2 to 3.2) | 0.4 |
    /// | stone (marble) | 2700 | 50 (54) | 10 (9) | 1.1 |
    /// | alumina | 3900 (3500 to 4100) | 350 (220 to 416) | 250 (210 to 290) | 4 (3.7 to 7.2) |
    /// | ice | 917 | 9.3 | 1 | 0.1 (0.06 to 0.12) |
    /// | china | 2400 | 70 | 45 | 1 |
    /// | clay | 1900 | 15 | 8 | 0.8 |
    /// | wood | 520 | 9.3 | 80 | 5.5 |
    /// | steel | 7850 | 207 | 450 | 60 |
    ///
    /// Sources: glass, makeitfrom.com (annealed soda-lime: 41 MPa in tension, 0.75 MPa m^(1/2)), and
    /// 7 MPa for ordinary flawed surfaces (Kasunic, *Optomechanical Systems Engineering*, 2015);
    /// alumina, makeitfrom.com and the NIST Property Data Summary of sintered alumina (Munro 1997,
    /// whose 380 MPa are in bending); concrete, Eurocode 2 table 3.1, classes C20 to C35, and its
    /// density, engineeringtoolbox.com; stone, makeitfrom.com; brick's density and strength,
    /// material-properties.org; ice's toughness, Andrews, *Journal of Glaciology* 1985 (0.058 in a
    /// glacier, about twice that in laboratories). The rest lies in the ranges of Ashby, *Materials
    /// Selection in Mechanical Design*, 3rd ed. 2005, appendix A, and for ice of Schulson and Duval,
    /// *Creep and Fracture of Ice*, 2009, but was not compared with them again; wood is pine along
    /// the grain, steel low in carbon, and china and clay are put between glass and brick by eye.
    /// The strength of one specimen differs by a factor of two either way.
    pub const TABLE: [Self; 10] = [
        Self::new("glass", 2470.0, 70e9, 33e6, 0.7e6),
        Self::new("brick", 1850.0, 20e9, 3e6, 1.4e6),
        Self::new("concrete", 2400.0, 30e9, 3e6, 0.4e6),
        Self::new("stone", 2700.0, 50e9, 10e6, 1.1e6),
        Self::new("alumina", 3900.0, 350e9, 250e6, 4e6),
        Self::new("ice", 917.0, 9.3e9, 1e6, 0.1e6),
        Self::new("china", 2400.0, 70e9, 45e6, 1e6),
        Self::new("clay", 1900.0, 15e9, 8e6, 0.8e6),
        Self::new("wood", 520.0, 9.3e9, 80e6, 5.5e6),
        Self::new("steel", 7850.0, 207e9, 450e6, 60e6),
    ];

    const fn new(
        name: &'static str,
        density: f64,
        stiffness: f64,
        tensile_strength: f64,
        toughness: f64,
    ) -> Self {
        Self { name, density, stiffness, tensile_strength, toughness }
    }

    /// The entry of [`Material::TABLE`] of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        const TABLE: &[Material] = &Material::TABLE;
        TABLE.iter().find(|material| material.name == name)
    }

    /// Energy that a crack takes up per area, `K^2 / E` (Irwin 1957, plane stress), J / m^2.
    pub fn fracture_energy(&self) -> f64 {
        self.toughness * self.toughness / self.stiffness
    }

    /// The impulse that stresses a body to its strength, N s: the strength over the square of its
    /// size for as long as the wave along the body and back takes, `2 size / sqrt(E / density)`.
    ///
    /// `size` is a typical edge length, m.
    pub fn impulse_for_strength(&self, size: f64) -> f64 {
        let wave_speed = (self.stiffness / self.density).sqrt();
        self.tensile_strength * size * size * (2.0 * size / wave_speed)
    }

    /// The least impulse that brings a body the energy of its cracks, `sqrt(2 mass G area)`, N s.
    ///
    /// `mass` in kg; `area` is that of the cuts, m^2: the sum over the
    /// [`Bond`](crate::Bond)s of an event, or of one bond for its own strength.
    pub fn impulse_for_cracks(&self, mass: f64, area: f64) -> f64 {
        (2.0 * mass * self.fracture_energy() * area).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_of_a_pane_of_glass() {
        let glass = Material::named("glass").unwrap();
        // 0.7e6^2 / 70e9, and c = 5323.5 m/s by hand
        assert!((glass.fracture_energy() - 7.0).abs() < 1e-6);
        let by_strength = 33e6 * 0.01 * (0.2 / 5_323.5);
        assert!((glass.impulse_for_strength(0.1) / by_strength - 1.0).abs() < 1e-4);
        assert!((glass.impulse_for_cracks(2.0, 0.1) - 1.673_320).abs() < 1e-5);
        assert_eq!(Material::named("butter"), None);
    }
}
