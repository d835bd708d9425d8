//! Bumps on the cuts of exact solids.

use brisance_tests::properties;
use fracture::{Alignment, ClosedMesh, FaceOrigin, Geometry, Noise, Pattern, Surface, Voronoi};
use levelset::{Aabb, Grid, Solid};
use nalgebra::{Point3, UnitVector3, Vector3};
use proptest::prelude::*;

fn block() -> Geometry {
    let solid = Solid::Box { half_extents: Vector3::new(0.5, 0.3, 0.4) };
    let bounds = Aabb { min: Point3::new(-0.5, -0.3, -0.4), max: Point3::new(0.5, 0.3, 0.4) };
    let grid = Grid::enclosing(&bounds, 0.05, 3, Grid::MAX_NODES).unwrap();
    Geometry::primitive(solid, grid).unwrap()
}

fn pieces(seed: u64, count: usize) -> (Vec<Surface>, Alignment) {
    let block = block();
    let normal = UnitVector3::new_normalize(Vector3::new(0.3, 0.8, -0.5));
    let at = Alignment::enclosing(&block.bounds(), Point3::new(0.1, 0.0, -0.05), normal);
    let pattern = Pattern::voronoi(&Voronoi::new(count, seed)).unwrap();
    let pieces = block.divide(&pattern, &at, 0.0);
    (pieces.pieces.iter().map(|piece| piece.geometry.surface().unwrap()).collect(), at)
}

fn cuts(surface: &Surface) -> impl Iterator<Item = usize> {
    let is_cut = |t: &usize| surface.origins[*t] == FaceOrigin::Cut;
    (0..surface.mesh.triangles.len()).filter(is_cut)
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rough_pieces_are_closed_and_fill_the_solid(
        seed in any::<u64>(), count in 2..20_usize,
        share in 0.02..0.33_f64, frequency in 2.0..8.0_f64, octaves in 1..4_u32,
    ) {
        let noise = Noise { amplitude: share / frequency, frequency, octaves, seed };
        let (surfaces, at) = pieces(seed, count);
        let mut sum = 0.0;
        for surface in &surfaces {
            let rough = surface.with_noise(&noise, &at.transform());
            prop_assert_eq!(rough.flat.len(), rough.surface.mesh.triangles.len());
            prop_assert_eq!(rough.surface.origins.len(), rough.flat.len());
            let closed = ClosedMesh::new(rough.surface.mesh.clone());
            prop_assert!(closed.is_ok(), "{:?}", closed.err());
            sum += rough.surface.mesh.signed_volume();
        }
        let whole = 0.6 * 0.8;
        prop_assert!((sum / whole - 1.0).abs() < 1e-6, "{} of {} m^3", sum, whole);
    }

    #[test]
    fn outer_faces_and_rims_stay_and_cuts_move_by_the_amplitude_at_most(
        seed in any::<u64>(), count in 2..12_usize, frequency in 2.0..8.0_f64,
    ) {
        let noise = Noise { amplitude: 0.2 / frequency, frequency, octaves: 2, seed };
        let (surfaces, at) = pieces(seed, count);
        for flat in &surfaces {
            let rough = flat.with_noise(&noise, &at.transform());
            let area = |surface: &Surface| -> f64 {
                let outer = (0..surface.mesh.triangles.len())
                    .filter(|&t| surface.origins[t] != FaceOrigin::Cut);
                outer.map(|t| surface.mesh.area_vector(t).norm() / 2.0).sum()
            };
            let (before, after) = (area(flat), area(&rough.surface));
            prop_assert!((after - before).abs() <= 1e-9 * (before + 1e-3));
            // the noise moves each axis by the amplitude
            let most = 3.0_f64.sqrt() * noise.amplitude * at.scale;
            for t in cuts(&rough.surface) {
                let normal = rough.flat[t];
                let plane = cuts(flat).map(|own| (flat.mesh.corners(own), flat.mesh.area_vector(own)));
                let height = plane
                    .filter(|(_, area)| area.normalize().dot(&normal) > 1.0 - 1e-9)
                    .map(|(corners, _)| {
                        rough.surface.mesh.corners(t).map(|p| normal.dot(&(p - corners[0])).abs())
                    })
                    .map(|heights| heights.into_iter().fold(0.0, f64::max))
                    .fold(f64::INFINITY, f64::min);
                prop_assert!(height <= most, "{} m of {} m", height, most);
            }
        }
    }
}

/// Cuts are rough except near their rims.
#[test]
fn bumps_are_there() {
    let noise = Noise { amplitude: 0.03, frequency: 6.0, octaves: 2, seed: 3 };
    let (surfaces, at) = pieces(5, 8);
    let (mut tilted, mut all) = (0, 0);
    for flat in &surfaces {
        let rough = flat.with_noise(&noise, &at.transform());
        for t in cuts(&rough.surface) {
            let normal = rough.surface.mesh.area_vector(t).normalize();
            all += 1;
            tilted += usize::from(normal.dot(&rough.flat[t]) < 0.99);
        }
    }
    assert!(6 * tilted > all, "{tilted} of {all} triangles are tilted by more than 8 degrees");
}

/// Patterns keep their bumps in files.
#[test]
fn a_pattern_file_holds_the_bumps() {
    let noise = Noise { amplitude: 0.03, frequency: 6.0, octaves: 2, seed: 3 };
    let plain = Pattern::voronoi(&Voronoi::new(5, 1)).unwrap();
    let rough = plain.clone().with_drawn_noise(&noise).unwrap();
    let round_trip = |pattern: &Pattern| {
        let mut bytes = Vec::new();
        pattern.write(&mut bytes).unwrap();
        (Pattern::read(&bytes[..]).unwrap(), bytes)
    };
    let (read, bytes) = round_trip(&rough);
    assert_eq!(read.drawn_noise(), Some(&noise));
    assert_eq!(read.region_count(), 5);
    assert_eq!(round_trip(&plain).0.drawn_noise(), None);
    // an amplitude that is not finite
    let mut broken = bytes;
    broken[12..20].copy_from_slice(&f64::NAN.to_le_bytes());
    let refused = Pattern::read(&broken[..]).unwrap_err();
    assert!(refused.to_string().contains("noise"), "{refused}");
    let negative = Noise { amplitude: -1.0, ..noise };
    assert!(plain.with_drawn_noise(&negative).is_err());
}
