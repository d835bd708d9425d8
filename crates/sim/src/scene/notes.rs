//! Notes about deprecated parts of a scene.

use super::{Body, Scene};

impl Scene {
    /// Deprecated parts of the scene, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let renamed = |body: &&Body| body.fracture.as_ref().is_some_and(|f| f.strength.is_some());
        let names: Vec<String> =
            self.bodies.iter().filter(renamed).map(|body| format!("{:?}", body.name)).collect();
        if names.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "the key `strength` of `fracture` is now called `break_impulse` (bodies {}): rename it, \
             or remove it to let the material decide",
            names.join(", ")
        )]
    }

    /// Settings that the solver of the scene ignores, one sentence each.
    pub fn solver_warnings(&self) -> Vec<String> {
        type Coefficient = fn(&Body) -> f64;
        let solver = self.simulation.solver;
        if solver.resists_rolling() {
            return Vec::new();
        }
        let names = |has: Coefficient| {
            let mut names: Vec<String> = Vec::new();
            for body in self.bodies.iter().filter(|body| has(body) > 0.0) {
                let name = format!("{:?}", body.given_name());
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names.join(", ")
        };
        let frictions: [(&str, Coefficient); 2] = [
            ("rolling_friction", Body::rolling_friction),
            ("spinning_friction", Body::spinning_friction),
        ];
        let reported = frictions.into_iter().filter_map(|(key, has)| {
            let names = Some(names(has)).filter(|names| !names.is_empty())?;
            let solver = solver.name();
            Some(format!(
                "the solver \"{solver}\" ignores `{key}` of {names}: use \"manifold\" or \
                 \"reference\", or remove it"
            ))
        });
        reported.collect()
    }
}
