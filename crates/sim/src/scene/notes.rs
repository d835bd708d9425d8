//! Notes about deprecated parts of a scene, and warnings about settings.

use super::{Body, JointKind, Scene};

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

    /// Events after the end of the run, and limits of joints that the start of the scene violates,
    /// one sentence each.
    pub fn timing_warnings(&self) -> Vec<String> {
        let end = self.simulation.frames as f64 / self.simulation.fps;
        let late = self.events.iter().enumerate().filter(|(_, event)| event.time >= end);
        let late = late.map(|(n, event)| {
            format!(
                "`event[{n}]` at {} s has no effect: the run ends at {end} s; use more `frames` or an \
                 earlier `time`",
                event.time
            )
        });
        let excludes = |limits: &[f64; 2]| limits[0] > 0.0 || limits[1] < 0.0;
        let is_measured_from_start =
            |kind: JointKind| matches!(kind, JointKind::Hinge | JointKind::Slider);
        let joints = self.joints.iter().enumerate().filter(|(_, joint)| {
            is_measured_from_start(joint.kind) && joint.limits.as_ref().is_some_and(excludes)
        });
        let joints = joints.map(|(n, _)| {
            format!(
                "`joints[{n}].limits` exclude 0, the position at the start: the first frame moves the \
                 bodies to the nearest limit"
            )
        });
        late.chain(joints).collect()
    }

    /// An event that had no effect in a run, by index, as a sentence; `None` for an unknown index.
    pub fn idle_event_warning(&self, n: usize) -> Option<String> {
        let event = self.events.get(n)?;
        let reason = match &event.push {
            Some(push) => format!("{:?} does not exist any more, or does not move", push.body),
            None if event.cut.is_some() => "the cut divided no body".to_owned(),
            None => "the explosion reached no body that moves or breaks".to_owned(),
        };
        Some(format!("`event[{n}]` at {} s had no effect: {reason}", event.time))
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
