//! Random crowded scenes: overlapping solids of all kinds, joints, breakable bodies, steps and sizes over five
//! orders of magnitude, and a game that removes, throws and cuts.

use brisance_tests::properties;
use brisance_tests::random_scenes::{RandomScene, random_scene};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;

/// Default number of scenes, without `PROPTEST_CASES`.
const CASES: u32 = 48;

fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { CASES };
    ProptestConfig { cases, max_shrink_iters: 300, ..config }
}

/// Runs a scene on one thread and on three.
fn check(scene: &RandomScene) -> Result<(), TestCaseError> {
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a thread").install(|| scene.run())
    };
    let one = on(1);
    prop_assert!(one.is_ok(), "{}\n{}\n{:?}", one.unwrap_err(), scene.toml, scene.acts);
    prop_assert_eq!(one, on(3), "{}\n{:?}", &scene.toml, &scene.acts);
    Ok(())
}

properties! {
    #![proptest_config(config())]

    #[test]
    fn random_scenes_gain_no_energy_and_end_the_same_on_any_number_of_threads(
        scene in random_scene(1)
    ) {
        check(&scene)?;
    }

    #[test]
    fn random_scenes_with_joints_gain_no_energy_and_end_the_same_on_any_number_of_threads(
        scene in random_scene(3)
    ) {
        check(&scene)?;
    }
}
