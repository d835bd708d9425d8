//! Properties of the surfaces of fragments: drawn surfaces and convex parts.

use brisance_tests::properties;
use fracture::{
    Break, ClosedMesh, Drawing, Pattern, Projector, Voronoi, convex_decomposition, draw, shatter,
};
use levelset::{Aabb, ConvexHull, Grid, LevelSet, Solid, TriMesh};
use nalgebra::{Point3, UnitVector3, Vector3};
use proptest::prelude::*;

use crate::fracture::{block, events, sampled, unturned};

#[test]
fn convex_parts_cover_a_fragment_better_than_its_hull() {
    // an L of two arms
    let body = sampled(Vector3::new(0.4, 0.4, 0.1), |p| {
        let arm = |x: f64, y: f64, half: [f64; 3]| {
            let solid = Solid::Box { half_extents: Vector3::from(half) };
            solid.distance(&(p - Vector3::new(x, y, 0.0)))
        };
        arm(0.0, -0.3, [0.4, 0.1, 0.1]).min(arm(-0.3, 0.0, [0.1, 0.4, 0.1]))
    });
    let mesh = body.isosurface();
    let solid = ClosedMesh::new(mesh.clone()).unwrap();
    let parts = convex_decomposition(&solid, 0.01, 16);
    let hull = ConvexHull::new(&mesh.vertices).unwrap().mesh().signed_volume();
    let volume: f64 = parts.iter().map(TriMesh::signed_volume).sum();
    assert!(parts.len() > 1 && volume < 0.8 * hull, "{} {volume} {hull}", parts.len());
    assert!((volume / mesh.signed_volume() - 1.0).abs() < 0.02, "{volume}");
    for v in &mesh.vertices {
        let inside = |part: &TriMesh| {
            (0..part.triangles.len()).all(|t| {
                let [a, b, c] = part.corners(t);
                let normal = (b - a).cross(&(c - a));
                normal.dot(&(v - a)) <= 0.01 * normal.norm()
            })
        };
        assert!(parts.iter().any(inside), "{v}");
    }
}

/// Whether every edge has two triangles with opposite directions.
fn is_closed(mesh: &TriMesh) -> bool {
    let mut edges = std::collections::BTreeMap::new();
    for &[a, b, c] in &mesh.triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *edges.entry((from, to)).or_insert(0) += 1;
        }
    }
    edges.iter().all(|(&(a, b), &n)| n == 1 && edges.get(&(b, a)) == Some(&1))
}

properties! {
    // each case tests every vertex of every fragment
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn drawings_of_noise_have_two_triangles_at_each_edge(
        signs in prop::collection::vec(-1.0_f32..1.0, 5 * 5 * 5),
    ) {
        // the surface crosses most faces between voxels twice
        let bounds = Aabb { min: Point3::origin(), max: Point3::new(1.0, 1.0, 1.0) };
        let grid = Grid::enclosing(&bounds, 0.25, 0, 200).unwrap();
        let solid = LevelSet::from_fn(grid, |p| {
            let [i, j, k] = [0, 1, 2].map(|axis| (4.0 * p[axis]).round() as usize);
            f64::from(signs[25 * i + 5 * j + k])
        });
        prop_assert_eq!(solid.grid().node_count(), 125);
        prop_assert!(is_closed(&draw(&solid, &solid, &[]).mesh));
    }

    #[test]
    fn drawings_are_closed_and_hold_the_volume_of_the_fragment(
        (body, pattern, at, least) in events(),
    ) {
        let broken = shatter(&body, &[], &pattern, &at, least);
        for fragment in &broken.fragments {
            let breaks = [Break { pattern: &pattern, at, regions: &fragment.regions }];
            let drawing = draw(&fragment.level_set, &body, &breaks);
            prop_assert!(is_closed(&drawing.mesh));
            prop_assert_eq!(drawing.inner.len(), drawing.mesh.triangles.len());
            // the isosurface cuts corners off; the drawn surface may follow the voxels at the rim
            let smooth = fragment.level_set.isosurface();
            let rim = smooth.triangles.len() as f64 * body.grid().cell_volume();
            let volume = drawing.mesh.signed_volume();
            prop_assert!((volume - smooth.signed_volume()).abs() < 0.5 * rim);
        }
    }
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn slivers_too_thin_for_a_piece_are_drawn_with_their_neighbor(
        slope in prop::array::uniform2(-0.02..0.02_f64),
        depth in 0.015..0.025_f64,
    ) {
        // a cut just below the top, between the last nodes of the grid inside and those on the surface
        let half = Vector3::new(0.25, 0.25, 0.25);
        let body = block(half);
        let normal = Vector3::new(slope[0], slope[1], 1.0).normalize();
        let middle = Point3::new(0.0, 0.0, half.z - depth);
        let sites = [middle - normal * 0.1, middle + normal * 0.1];
        let pattern = Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).unwrap();
        let at = unturned(1.0);
        let broken = shatter(&body, &[], &pattern, &at, 8);
        prop_assert_eq!(broken.fragments.len(), 1);
        let fragment = &broken.fragments[0];
        let breaks = [Break { pattern: &pattern, at, regions: &fragment.regions }];
        let Drawing { mesh, inner } = draw(&fragment.level_set, &body, &breaks);
        prop_assert!(!inner.contains(&true));
        let solid = 8.0 * half.product();
        prop_assert!((mesh.signed_volume() / solid - 1.0).abs() < 1e-6);
    }
}

#[test]
fn drawn_edges_are_sharp_where_a_cut_meets_the_surface() {
    let half = Vector3::new(0.4, 0.25, 0.3);
    let body = block(half);
    let normal = UnitVector3::new_normalize(Vector3::new(1.0, 0.3, 0.2));
    let sites = [Point3::from(normal.scale(-0.1)), Point3::from(normal.scale(0.1))];
    let pattern = Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).unwrap();
    let at = unturned(1.0);
    let broken = shatter(&body, &[], &pattern, &at, 8);
    assert_eq!(broken.fragments.len(), 2);
    let mut volume = 0.0;
    let mut off = (0.0, 0.0);
    for fragment in &broken.fragments {
        let breaks = [Break { pattern: &pattern, at, regions: &fragment.regions }];
        let Drawing { mesh, inner } = draw(&fragment.level_set, &body, &breaks);
        volume += mesh.signed_volume();
        // where the plane intersects the edges of the block along x
        for (y, z) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let (y, z) = (y * half.y, z * half.z);
            let corner = Point3::new(-(normal.y * y + normal.z * z) / normal.x, y, z);
            let gap = |mesh: &TriMesh| {
                mesh.vertices.iter().map(|v| (v - corner).norm()).fold(1.0, f64::min)
            };
            off.0 += gap(&mesh);
            off.1 += gap(&fragment.level_set.isosurface());
            assert!(gap(&mesh) < 0.5 / 32.0, "{} of a voxel", gap(&mesh) * 32.0);
        }
        let area: f64 = (0..mesh.triangles.len())
            .filter(|&t| inner[t])
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                (b - a).cross(&(c - a)).norm() / 2.0
            })
            .sum();
        let cut = 4.0 * half.y * half.z / normal.x;
        // the row of quads along the rim may belong to either side
        assert!((area / cut - 1.0).abs() < 0.1, "{}", area / cut);
    }
    // marching cubes cuts the corners off
    assert!(off.0 < 0.5 * off.1, "{off:?}");
    let solid = 8.0 * half.product();
    assert!((volume / solid - 1.0).abs() < 5e-3, "{}", volume / solid);
}

#[test]
fn projected_surfaces_lie_on_the_mesh_of_the_body() {
    let solid = Solid::Sphere { radius: 0.3 };
    let bounds = Aabb { min: Point3::from([-0.3; 3]), max: Point3::from([0.3; 3]) };
    let fine = Grid::enclosing(&bounds, 0.005, 3, Grid::MAX_NODES).unwrap();
    let mesh = LevelSet::from_fn(fine, |p| solid.distance(&p)).isosurface();
    let body = sampled(Vector3::repeat(0.3), |p| solid.distance(p));
    let pattern = Pattern::voronoi(&Voronoi::new(20, 3)).unwrap();
    let at = unturned(0.5);
    let broken = shatter(&body, &[], &pattern, &at, 8);
    assert!(broken.fragments.len() > 3);
    let off = |drawing: &Drawing| {
        let mut inner = vec![false; drawing.mesh.vertices.len()];
        for (triangle, _) in drawing.mesh.triangles.iter().zip(&drawing.inner).filter(|(_, i)| **i)
        {
            triangle.iter().for_each(|&v| inner[v as usize] = true);
        }
        let outer = drawing.mesh.vertices.iter().zip(inner).filter(|(_, inner)| !inner);
        outer.map(|(v, _)| (v.coords.norm() - 0.3).abs()).fold(0.0, f64::max)
    };
    let projector = Projector::new(&mesh, 0.5 / 32.0).unwrap();
    for fragment in &broken.fragments {
        let breaks = [Break { pattern: &pattern, at, regions: &fragment.regions }];
        let mut drawing = draw(&fragment.level_set, &body, &breaks);
        drawing.project_outer(&projector);
        assert!(is_closed(&drawing.mesh));
        // the mesh itself is off by the sag of its triangles
        assert!(off(&drawing) < 5e-5, "{}", off(&drawing));
    }
}
