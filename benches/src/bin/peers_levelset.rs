//! Level-set rows against other libraries.

use cpu_time::ProcessTime;
use levelset::*;
use nalgebra::Point3;

fn load(path: &str) -> TriMesh {
    let (models, _) = tobj::load_obj(path, &tobj::LoadOptions::default()).unwrap();
    let mesh = &models[0].mesh;
    let vertices: Vec<Point3<f64>> = mesh
        .positions
        .chunks(3)
        .map(|p| Point3::new(p[0].into(), p[1].into(), p[2].into()))
        .collect();
    let b = Aabb::around(&vertices).unwrap();
    let s = 1.0 / b.extents().max();
    TriMesh {
        vertices: vertices.iter().map(|v| Point3::from((v - b.min) * s)).collect(),
        triangles: mesh.indices.chunks(3).map(|t| [t[0], t[1], t[2]]).collect(),
    }
}
fn time<T>(name: &str, n: usize, mut f: impl FnMut() -> T) -> T {
    let mut out = None;
    let mut ts: Vec<f64> = (0..n)
        .map(|_| {
            let t = ProcessTime::now();
            out = Some(f());
            t.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    ts.sort_by(f64::total_cmp);
    println!("{name}: {:.2} ms (min {:.2})", ts[n / 2], ts[0]);
    out.unwrap()
}
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let mesh = load(&path);
    if std::env::args().nth(2).is_some() {
        let b = Aabb::around(&mesh.vertices).unwrap();
        let grid = Grid::enclosing(&b, 0.00699, 3, Grid::MAX_NODES).unwrap();
        let ls = LevelSet::from_mesh(&mesh, grid, Sign::Strict).unwrap();
        let v = mesh.moments().volume;
        for doublings in [0, 4] {
            for a in [0.1, 0.05, 0.025, 0.0125] {
                let t = time("stuff", 5, || {
                    TetMesh::stuffed(&ls, &Stuffing { spacing: a, doublings, limit: 1 << 30 })
                        .unwrap()
                });
                println!(
                    "{a} {} tets {:?} {:?} vol {} ({:.2}%)",
                    t.tets.len(),
                    t.validate(),
                    t.quality(),
                    t.moments().volume,
                    (t.moments().volume / v - 1.0) * 100.0
                );
                let f = t.boundary().facts();
                println!("{f:?}");
            }
        }
        for (name, solid) in [
            ("sphere", Solid::Sphere { radius: 0.4 }),
            ("box", Solid::Box { half_extents: nalgebra::Vector3::new(0.31, 0.4, 0.27) }),
            ("torus", Solid::Torus { major: 0.3, minor: 0.12 }),
        ] {
            let b = Aabb { min: Point3::from([-0.5; 3]), max: Point3::from([0.5; 3]) };
            let ls = LevelSet::from_fn(Grid::enclosing(&b, 0.01, 0, 1 << 30).unwrap(), |p| {
                solid.distance(&p)
            });
            for a in [0.1, 0.07, 0.05, 0.033, 0.025, 0.0125] {
                let t =
                    TetMesh::stuffed(&ls, &Stuffing { spacing: a, doublings: 4, limit: 1 << 30 })
                        .unwrap();
                let f = t.boundary().facts().unwrap();
                println!(
                    "{name} {a} {:?} {:?} {} {f:?}",
                    t.validate(),
                    t.quality(),
                    t.moments().volume
                );
            }
        }
        return;
    }
    let b = Aabb::around(&mesh.vertices).unwrap();
    for h in [0.0204, 0.00699, 0.00402] {
        let grid = Grid::enclosing(&b, h, 3, Grid::MAX_NODES).unwrap();
        println!("{:?}", grid.dims());
        let n = if h > 0.01 { 15 } else { 3 };
        let ls = time("from_mesh", n, || LevelSet::from_mesh(&mesh, grid, Sign::Strict).unwrap());
        let band = time("band_from_mesh", n, || {
            LevelSet::band_from_mesh(&mesh, grid, Sign::Strict).unwrap()
        });
        println!("{:?}", ls.gradient_error(3.0 * h));
        println!("{:?}", ls.gradient_error(30.0 * h));
        let r = time("redistance sweep", n.min(5), || ls.redistanced());
        let m1 = ls.marched(Order::First);
        let m2 = ls.marched(Order::Second);
        for r in [&r, &m1, &m2] {
            let (mut e, mut w, mut be, mut bw, mut bn) = (0.0f64, 0.0f64, 0.0f64, 0.0f64, 0);
            for (a, b) in r.as_slice().iter().zip(ls.as_slice()) {
                let d = ((a - b).abs() as f64) / h;
                e += d;
                w = w.max(d);
                if (b.abs() as f64) < 3.0 * h {
                    be += d;
                    bw = bw.max(d);
                    bn += 1;
                }
            }
            println!(
                "redist err all mean {:.4} max {:.3} band mean {:.4} max {:.3} grad {:?}",
                e / ls.as_slice().len() as f64,
                w,
                be / bn as f64,
                bw,
                r.gradient_error(3.0 * h)
            );
        }
        let m = time("mc", n, || ls.isosurface());
        println!("{} tris", m.triangles.len());
        time("components", n, || ls.components());
        time("moments", n, || ls.moments());
        time("particles h", n, || ls.surface_particles(h));
        time("particles 2h", n, || ls.surface_particles(2.0 * h));
    }
}
