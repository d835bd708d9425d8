//! Materials.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

/// A material by its typical values.
#[pyclass(frozen, get_all, module = "brisance")]
pub(crate) struct Material {
    /// Its name.
    name: &'static str,
    /// Density, kg/m^3.
    density: f64,
    /// Young's modulus, Pa.
    young: f64,
    /// Poisson's ratio.
    poisson: f64,
    /// Tensile strength, Pa.
    strength: f64,
    /// Mode I fracture toughness, Pa m^(1/2).
    toughness: f64,
    /// Fracture energy, J/m^2, in plane strain: toughness^2 (1 - poisson^2) / young (Irwin 1957).
    fracture_energy: f64,
}

#[pymethods]
impl Material {
    /// The material with a name as in scenes, for example "glass".
    #[staticmethod]
    fn named(name: &str) -> PyResult<Self> {
        let known = || fracture::Material::TABLE.map(|material| material.name).join(", ");
        let unknown =
            || PyKeyError::new_err(format!("there is no material {name:?}; known: {}", known()));
        let found = fracture::Material::named(name).ok_or_else(unknown)?;
        Ok(Self {
            name: found.name,
            density: found.density,
            young: found.stiffness,
            poisson: found.poisson,
            strength: found.tensile_strength,
            toughness: found.toughness,
            fracture_energy: found.fracture_energy(),
        })
    }

    fn __repr__(&self) -> String {
        format!("Material({:?})", self.name)
    }
}
