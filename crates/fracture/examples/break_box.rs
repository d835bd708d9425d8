//! Breaks a box of concrete by a Voronoi pattern around an impact, and prints the masses of its pieces.
//!
//! `cargo run --release -p brisance-fracture --example break_box -- [SITES] [SEED]`, 12 sites and seed 1 unless given.
//! The masses add up to that of the box, and where two pieces touched there is a bond.
#![allow(clippy::print_stdout, reason = "an example that reports")]

use std::error::Error;

use brisance_fracture::levelset::{Aabb, Grid, Solid};
use brisance_fracture::nalgebra::{Point3, Vector3};
use brisance_fracture::{Alignment, Geometry, Material, Pattern, Voronoi};

/// Half the edge lengths, m.
const HALF: Vector3<f64> = Vector3::new(0.3, 0.2, 0.1);

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let sites = args.next().map_or(Ok(12), |text| text.parse())?;
    let seed = args.next().map_or(Ok(1), |text| text.parse())?;
    let concrete = Material::named("concrete").ok_or("there is no concrete")?;

    // the grid is where signed distance is sampled if it is asked for: pieces of a box are exact
    let bounds = Aabb { min: Point3::from(-HALF), max: Point3::from(HALF) };
    let grid = Grid::enclosing(&bounds, 0.02, 3, Grid::MAX_NODES)?;
    let body = Geometry::primitive(Solid::Box { half_extents: HALF }, grid).ok_or("no solid")?;

    // pieces are smaller near the blow, which comes from above
    let extents = HALF / HALF.max();
    let pattern =
        Pattern::voronoi(&Voronoi { extents, clustering: 2.0, ..Voronoi::new(sites, seed) })?;
    let hit = Point3::new(0.1, HALF.y, 0.0);
    let at = Alignment::enclosing(&bounds, hit, Vector3::y_axis());
    let broken = body.divide(&pattern, &at, 1e-6);

    let mut sum = 0.0;
    for (n, piece) in broken.pieces.iter().enumerate() {
        let moments = piece.geometry.moments();
        let (mass, center) = (moments.volume * concrete.density, moments.center());
        let Point3 { coords } = center;
        println!(
            "piece {n:2}: {mass:7.3} kg at ({:6.3}, {:6.3}, {:6.3}) m",
            coords.x, coords.y, coords.z
        );
        sum += mass;
    }
    let whole = body.moments().volume * concrete.density;
    println!("{} pieces, {sum:.6} kg of {whole:.6} kg", broken.pieces.len());
    let cut: f64 = broken.bonds.iter().map(|bond| bond.area).sum();
    println!("{} bonds, {cut:.4} m^2 of new surface on either side", broken.bonds.len());
    Ok(())
}
