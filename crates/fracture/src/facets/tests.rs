//! Tests of cut surfaces.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use levelset::{Aabb, Solid, TriMesh};
use nalgebra::{Point3, Vector3};
use proptest::prelude::*;

use super::{ConvexCell, Facets, boxes, carve, cell_clipper};
use crate::Pattern;
use crate::cell::{Cell, Plane};
use crate::slicing::ClosedMesh;

/// Whether every directed edge occurs as often as its opposite.
fn is_closed(mesh: &TriMesh) -> bool {
    let sides = mesh.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let (mut edges, mut opposite): (Vec<_>, Vec<_>) = sides.map(|[a, b]| ([a, b], [b, a])).unzip();
    edges.sort_unstable();
    opposite.sort_unstable();
    edges == opposite
}

/// Closed solids with vertices, edges and faces at whole coordinates.
static SOLIDS: LazyLock<Vec<Facets>> = LazyLock::new(|| {
    let of = |solid: Solid| Facets::of_solid(&solid).unwrap();
    let mut solids = vec![
        of(Solid::Box { half_extents: Vector3::new(2.0, 1.0, 3.0) }),
        of(Solid::Sphere { radius: 2.0 }),
        of(Solid::Cylinder { half_height: 2.0, radius: 1.0 }),
        of(Solid::Capsule { half_height: 1.0, radius: 1.0 }),
        of(Solid::Cone { half_height: 2.0, radius: 2.0 }),
        of(Solid::Torus { major: 2.0, minor: 1.0 }),
    ];
    // a box with a cavity, and two that overlap
    let mut hollow = solids[0].clone();
    let mut cavity = of(Solid::Box { half_extents: Vector3::new(1.0, 0.5, 2.0) });
    let reversed: Vec<Vec<u32>> =
        cavity.polygons().map(|(corners, _)| corners.iter().rev().copied().collect()).collect();
    cavity = Facets::of_polygons(cavity.vertices, &reversed);
    hollow.append(&cavity);
    solids.push(hollow);
    // a frame of voxels, with flat edges and reentrant corners
    let full = |[i, j, k]: [i32; 3]| {
        (0..3).contains(&i) && (0..2).contains(&j) && (0..3).contains(&k) && [i, k] != [1, 1]
            || [i, j, k] == [0, 2, 0]
    };
    solids.push(voxels(full));
    solids
});

/// Number of convex solids, which come first.
const CONVEX: usize = 5;

/// The surface of unit cubes.
fn voxels(full: impl Fn([i32; 3]) -> bool) -> Facets {
    let mut names: BTreeMap<[i32; 3], u32> = BTreeMap::new();
    let mut mesh = TriMesh::default();
    for i in 0..4 {
        for j in 0..4 {
            for k in 0..4 {
                for (axis, sign) in (0..3).flat_map(|a| [(a, 1), (a, -1)]) {
                    let mut next = [i, j, k];
                    next[axis] += sign;
                    if !full([i, j, k]) || full(next) {
                        continue;
                    }
                    let quad = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[u, v]| {
                        let mut p = [i, j, k];
                        p[axis] += i32::from(sign > 0);
                        p[(axis + 1) % 3] += u;
                        p[(axis + 2) % 3] += v;
                        *names.entry(p).or_insert_with(|| {
                            mesh.vertices.push(Point3::from(p.map(f64::from)));
                            mesh.vertices.len() as u32 - 1
                        })
                    });
                    let [a, b, c, d] = quad;
                    let quads = [[a, b, c], [a, c, d]];
                    let turned =
                        quads.map(|[a, b, c]| if sign > 0 { [a, b, c] } else { [a, c, b] });
                    mesh.triangles.extend(turned);
                }
            }
        }
    }
    Facets::of_mesh(&ClosedMesh::new(mesh).unwrap())
}

/// Voronoi cells of sites in a box.
fn pattern(sites: &[Point3<f64>]) -> Pattern {
    let bounds = Aabb { min: Point3::from([-9.0; 3]), max: Point3::from([9.0; 3]) };
    let cell = |site: &Point3<f64>| {
        let others = sites.iter().filter(|other| *other != site);
        others.fold(Cell::whole(&bounds), |cell, other| {
            cell.cut(Plane::through(&nalgebra::center(site, other), other - site))
        })
    };
    Pattern::from_cells(sites.iter().map(cell).collect()).unwrap()
}

fn cells(pattern: &Pattern) -> Vec<ConvexCell<'_>> {
    let cell = |number| ConvexCell::new(pattern, number, &nalgebra::Similarity3::identity());
    (0..pattern.region_count()).filter_map(cell).collect()
}

/// Sites off the lattice of the solids, or on it, so that planes pass through their features.
fn sites() -> impl Strategy<Value = Vec<Point3<f64>>> {
    let anywhere = prop::collection::vec(prop::array::uniform3(-3.0..3.0), 2..12)
        .prop_map(|sites| sites.into_iter().map(Point3::from).collect::<Vec<_>>());
    let whole = prop::collection::vec(prop::array::uniform3(-3..=3_i32), 2..12).prop_map(|sites| {
        let mut sites: Vec<_> = sites;
        sites.sort_unstable();
        sites.dedup();
        sites.into_iter().map(|p| Point3::from(p.map(f64::from))).collect::<Vec<_>>()
    });
    let halves =
        prop::collection::vec(prop::array::uniform3(-6..=6_i32), 2..12).prop_map(|sites| {
            let mut sites: Vec<_> = sites;
            sites.sort_unstable();
            sites.dedup();
            sites
                .into_iter()
                .map(|p| Point3::from(p.map(|x| 0.5 * f64::from(x))))
                .collect::<Vec<_>>()
        });
    prop_oneof![anywhere, whole, halves]
}

/// Cuts a solid into the cells of sites and compares the sum of all pieces with the whole.
fn check_pieces(whole: &Facets, sites: &[Point3<f64>]) -> Result<(), TestCaseError> {
    let exact = whole.moments();
    let mut sum = levelset::Moments::default();
    for (_, piece) in carve(whole, &cells(&pattern(sites))) {
        for mut part in piece.parts() {
            part.simplify();
            let surface = part.surface();
            prop_assert!(is_closed(&surface.mesh));
            let moments = part.moments();
            prop_assert!((moments.volume - surface.mesh.signed_volume()).abs() < 1e-11);
            sum = sum + moments;
        }
    }
    let error = sum.volume - exact.volume;
    prop_assert!(error.abs() <= 1e-12 * exact.volume, "{error}");
    prop_assert!((sum.first - exact.first).amax() <= 1e-11 * exact.volume);
    prop_assert!((sum.second - exact.second).amax() <= 1e-11 * exact.volume);
    Ok(())
}

// two tests, which run at the same time
proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn pieces_of_convex_solids_are_closed_and_add_up_to_the_whole(
        n in 0..CONVEX,
        sites in sites(),
    ) {
        check_pieces(&SOLIDS[n], &sites)?;
    }

    #[test]
    fn pieces_of_reentrant_solids_are_closed_and_add_up_to_the_whole(
        n in CONVEX..SOLIDS.len(),
        sites in sites(),
    ) {
        check_pieces(&SOLIDS[n], &sites)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn faces_near_a_cell_give_what_the_closed_solid_gives(n in 0..8usize, sites in sites()) {
        let whole = SOLIDS[n].clone().with_convex_faces().into_owned();
        let size = whole.moments().volume;
        let boxes = boxes::FaceBoxes::new(&whole);
        let mut clipper = cell_clipper::CellClipper::new(&whole, &boxes, whole.bounds().unwrap());
        let all: Vec<u32> = (0..whole.faces.len() as u32).collect();
        for cell in &cells(&pattern(&sites)) {
            let Some(part) = clipper.intersection(cell, &all) else { continue };
            let mut closed = carve::by_planes(whole.clone(), &mut [cell]);
            let expected = closed.pop().map_or_else(Default::default, |(_, part)| part.moments());
            let moments = part.moments();
            prop_assert!((moments.volume - expected.volume).abs() <= 1e-13 * size);
            prop_assert!((moments.first - expected.first).amax() <= 1e-12 * size);
            prop_assert!(is_closed(&part.surface().mesh));
        }
    }

    #[test]
    fn faces_near_a_cell_suffice_unless_a_vertex_is_in_a_plane(
        n in 0..8usize,
        sites in prop::collection::vec(prop::array::uniform3(-3.0..3.0), 2..12),
    ) {
        let whole = SOLIDS[n].clone();
        let whole = whole.with_convex_faces();
        let sites: Vec<Point3<f64>> = sites.into_iter().map(Point3::from).collect();
        let boxes = boxes::FaceBoxes::new(&whole);
        let mut clipper = cell_clipper::CellClipper::new(&whole, &boxes, whole.bounds().unwrap());
        for cell in &cells(&pattern(&sites)) {
            prop_assert!(clipper.intersection(cell, &boxes.near(&cell.bounds)).is_some());
        }
    }

    #[test]
    fn pieces_put_together_are_the_whole(n in 0..8usize, sites in sites()) {
        let whole = SOLIDS[n].clone();
        let exact = whole.moments().volume;
        let pattern = pattern(&sites);
        let cells = cells(&pattern);
        let mut planes: Vec<Plane> = Vec::new();
        let mut pieces: Vec<Facets> = carve(&whole, &cells).into_iter().map(|(number, mut piece)| {
            let own = &cells.iter().find(|cell| cell.number == number).unwrap().planes;
            let number = |n: usize| {
                let same = |p: &Plane| *p == own[n] || *p == own[n].flipped();
                planes.iter().position(same)
            };
            let numbers: Vec<_> = (0..own.len()).map(number).collect();
            let numbers: Vec<usize> = numbers.into_iter().enumerate().map(|(n, known)| known.unwrap_or_else(|| {
                planes.push(own[n]);
                planes.len() - 1
            })).collect();
            piece.renumber(|n| numbers[n]);
            piece
        }).collect();
        pieces.iter_mut().for_each(Facets::simplify);
        let all: Vec<&Facets> = pieces.iter().collect();
        let union = Facets::union(&all, &planes);
        prop_assert!((union.moments().volume - exact).abs() <= 1e-10 * exact);
        let surface = union.surface();
        prop_assert!(is_closed(&surface.mesh));
        let cut: f64 = union.sections().iter().map(|(_, area, _)| area.abs()).sum();
        let area: f64 = (0..surface.mesh.triangles.len()).map(|t| surface.mesh.area_vector(t).norm()).sum();
        prop_assert!(cut <= 1e-9 * area, "{cut} of {area}");
    }
}

#[test]
fn primitives_are_closed_and_near_their_closed_form() {
    let volumes = [48.0, 32.0 / 3.0, 4.0, 10.0 / 3.0, 16.0 / 3.0, 4.0 * std::f64::consts::PI];
    for (n, (solid, volume)) in SOLIDS.iter().zip(volumes).enumerate() {
        let exact = if n == 0 { volume } else { volume * std::f64::consts::PI };
        let surface = solid.surface();
        assert!(is_closed(&surface.mesh));
        let share = solid.moments().volume / exact;
        assert!(share <= 1.0 + 1e-12 && share > 0.985, "{n} {share}");
        assert_eq!(solid.is_convex(1e-9), n != 5);
    }
}
