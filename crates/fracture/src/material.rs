//! Stiffness, strength and toughness of brittle materials.

/// Material parameters of fracture; see [`Impact`](crate::Impact).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Its common name, lower case.
    pub name: &'static str,
    /// Density, kg / m^3.
    pub density: f64,
    /// Young's modulus, Pa.
    pub stiffness: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Tensile strength, Pa.
    pub tensile_strength: f64,
    /// Mode I fracture toughness, Pa m^(1/2).
    pub toughness: f64,
}

impl Material {
    /// Rounded typical values, in brackets the ranges that the sources give.
    ///
    /// | material | kg/m^3 | GPa | Poisson | MPa | MPa m^(1/2) |
    /// |---|---|---|---|---|---|
    /// | glass (soda-lime) | 2470 (2400 to 2500) | 70 (70 to 71) | 0.22 | 33 (7 to 41) | 0.7 (0.6 to 0.75) |
    /// | brick | 1850 (1700 to 2000) | 20 | 0.2 | 3 (2 to 3) | 1.4 |
    /// | concrete | 2400 (2240 to 2400) | 30 (30 to 33) | 0.2 | 3 (2.2 to 3.2) | 0.4 |
    /// | stone (marble) | 2700 | 50 (54) | 0.25 | 10 (9) | 1.1 |
    /// | alumina | 3900 (3500 to 4100) | 350 (220 to 416) | 0.22 | 250 (210 to 290) | 4 (3.7 to 7.2) |
    /// | ice | 917 | 9.3 | 0.33 | 1 | 0.1 (0.06 to 0.12) |
    /// | china (porcelain) | 2400 | 70 | 0.22 | 50 | 1 |
    /// | clay (terracotta) | 1900 | 15 | 0.2 | 8 | 0.8 |
    /// | wood | 520 | 9.3 | 0.35 | 80 | 5.5 |
    /// | steel | 7850 | 207 | 0.3 | 450 | 60 |
    /// | rubber | 1100 | 0.002 (0.0015 to 0.0025) | 0.49 | 20 | 0.2 (0.15 to 0.25) |
    ///
    /// Sources: glass, makeitfrom.com (annealed soda-lime: 41 MPa in tension, 0.75 MPa m^(1/2)),
    /// and 7 MPa for ordinary flawed surfaces (Kasunic, *Optomechanical Systems Engineering*,
    /// 2015); alumina, makeitfrom.com and the NIST Property Data Summary of sintered alumina (Munro
    /// 1997, whose 380 MPa are in bending); concrete, Eurocode 2 table 3.1, classes C20 to C35, and
    /// its density, engineeringtoolbox.com; stone, makeitfrom.com; brick's density and strength,
    /// material-properties.org; ice's toughness, Andrews, *Journal of Glaciology* 1985 (0.058 in a
    /// glacier, about twice that in laboratories). The rest lies in the ranges of Ashby, *Materials
    /// Selection in Mechanical Design*, 3rd ed. 2005, appendix A, and for ice of Schulson and
    /// Duval, *Creep and Fracture of Ice*, 2009, but was not checked against them; wood is pine
    /// along the grain, steel low in carbon, rubber natural; china's strength is that in bending of
    /// unglazed porcelain C 110 (IEC 60672-3), and the rest of china and clay is estimated between
    /// glass and brick. Poisson's ratios are round handbook values; nothing here depends on them
    /// much. The strength of one specimen differs by a factor of two either way.
    pub const TABLE: [Self; 11] = [
        Self::new("glass", 2470.0, (70e9, 0.22), 33e6, 0.7e6),
        Self::new("brick", 1850.0, (20e9, 0.2), 3e6, 1.4e6),
        Self::new("concrete", 2400.0, (30e9, 0.2), 3e6, 0.4e6),
        Self::STONE,
        Self::new("alumina", 3900.0, (350e9, 0.22), 250e6, 4e6),
        Self::new("ice", 917.0, (9.3e9, 0.33), 1e6, 0.1e6),
        Self::new("china", 2400.0, (70e9, 0.22), 50e6, 1e6),
        Self::new("clay", 1900.0, (15e9, 0.2), 8e6, 0.8e6),
        Self::new("wood", 520.0, (9.3e9, 0.35), 80e6, 5.5e6),
        Self::new("steel", 7850.0, (207e9, 0.3), 450e6, 60e6),
        Self::new("rubber", 1100.0, (2e6, 0.49), 20e6, 0.2e6),
    ];

    /// The default material of a striking body.
    pub const STONE: Self = Self::new("stone", 2700.0, (50e9, 0.25), 10e6, 1.1e6);

    /// Other names of entries of [`Material::TABLE`], each before the name in the table.
    pub const ALIASES: [[&str; 2]; 3] =
        [["porcelain", "china"], ["terracotta", "clay"], ["marble", "stone"]];

    const fn new(
        name: &'static str,
        density: f64,
        (stiffness, poisson): (f64, f64),
        tensile_strength: f64,
        toughness: f64,
    ) -> Self {
        Self { name, density, stiffness, poisson, tensile_strength, toughness }
    }

    /// The entry of [`Material::TABLE`] of that name or of one of [`Material::ALIASES`].
    pub fn named(name: &str) -> Option<&'static Self> {
        const TABLE: &[Material] = &Material::TABLE;
        let alias = Self::ALIASES.iter().find(|[alias, _]| *alias == name);
        let name = alias.map_or(name, |[_, name]| name);
        TABLE.iter().find(|material| material.name == name)
    }

    /// Energy of a crack in plane strain, J/m^2: toughness^2 (1 - poisson^2) / stiffness (Irwin
    /// 1957).
    pub fn fracture_energy(&self) -> f64 {
        self.toughness * self.toughness * (1.0 - self.poisson * self.poisson) / self.stiffness
    }

    /// Compressive strength of brittle materials over their tensile strength (Griffith 1924).
    pub const COMPRESSIVE_TO_TENSILE: f64 = 8.0;

    /// Mean pressure at which a contact crushes the material, Pa: 3 times its compressive strength
    /// (Tabor, *The Hardness of Metals*, 1951), which follows from
    /// [`Material::COMPRESSIVE_TO_TENSILE`].
    pub fn crushing_pressure(&self) -> f64 {
        Self::crushing_at(self.tensile_strength)
    }

    /// [`Material::crushing_pressure`] for a tensile strength, Pa.
    pub(crate) fn crushing_at(tensile_strength: f64) -> f64 {
        3.0 * Self::COMPRESSIVE_TO_TENSILE * tensile_strength
    }
}
