//! Solids of the filled areas of SVG files.

use std::f64::consts::PI;

use brisance::outline_file::read_outline;
use brisance_tests::properties;
use fracture::ClosedMesh;
use levelset::TriMesh;
use proptest::prelude::*;

use crate::cli::Case;

/// m per pixel.
const PIXEL: f64 = 0.0254 / 96.0;

fn read(elements: &str) -> TriMesh {
    let text = format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{elements}</svg>");
    let mesh = read_outline(text.as_bytes()).unwrap_or_else(|e| panic!("{elements}: {e}"));
    ClosedMesh::new(mesh.clone()).unwrap_or_else(|e| panic!("{elements}: {e}"));
    mesh
}

/// The filled area of elements, square pixels.
fn area(elements: &str) -> f64 {
    read(elements).signed_volume() / (PIXEL * PIXEL)
}

fn path(data: &str) -> String {
    format!("<path d=\"{data}\"/>")
}

#[test]
fn shapes_without_curves_have_the_areas_of_their_formulas() {
    // the lines of a pentagram of radius 1 enclose five tips and a pentagon
    let tip = |k: f64| format!("{},{} ", (k * 0.8 * PI).sin(), (k * 0.8 * PI).cos());
    // the maximum number of corners
    let most = |n: usize| {
        format!("<rect x='{}' y='{}' width='1' height='1'/>", 2 * (n % 50), 2 * (n / 50))
    };
    let most: String = (0..1999).map(most).collect();
    let star: String = (0..5).map(|k| tip(f64::from(k))).collect();
    let inner = 2.5 * (0.4 * PI).sin() * ((0.4 * PI).cos() / (0.2 * PI).cos()).powi(2);
    let outer = 5.0 * (0.2 * PI).sin() * (0.4 * PI).cos() / (0.2 * PI).cos();
    for (elements, expected) in [
        ("<rect x='3' y='4' width='20' height='10'/>".to_owned(), 200.0),
        (most, 1999.0),
        ("<polygon points='0,0 10,0 0,6'/>".to_owned(), 30.0),
        ("<polyline points='0 0,10 0 0-6'/>".to_owned(), 30.0),
        (format!("<polygon points='{star}'/>"), outer),
        (format!("<polygon fill-rule='evenodd' points='{star}'/>"), outer - inner),
        (path("M0 0h10v10H0zm3 3h4v4h-4z"), 100.0),
        (path("M0 0h10v10H0zM3 3v4h4v-4z"), 84.0),
        (path("M0,0L10,0 10,10 0,10M3 3l4 0 0 4-4 0").replace("<path", "<path style='fill-rule:evenodd'"), 84.0),
        // a letter with two counters
        (path("M0 0V70H40V0zM10 10h20v20H10zM10 40h20v20h-20z").replace('"', "'"), 2000.0),
        // overlapping shapes, one twice
        ("<rect width='10' height='10'/><rect x='5' width='10' height='10'/><rect width='10' height='10'/>".to_owned(), 150.0),
        // parts that touch in a corner, and a line beside them
        ("<rect width='10' height='10'/><rect x='10' y='10' width='10' height='10'/><line x2='99'/>".to_owned(), 200.0),
        ("<g transform='scale(2 3)'><rect width='10' height='10' transform='rotate(30 5 5)'/></g>".to_owned(), 600.0),
        ("<rect width='10' height='10' transform='matrix(1 2 3 4 5 6)'/>".to_owned(), 200.0),
        ("<rect width='10' height='10' transform='translate(9) skewX(20), skewY(-10)'/>".to_owned(),
         100.0),
        ("<rect width='10' height='10' style='fill:none'/><rect width='2' height='2'/>".to_owned(), 4.0),
        ("<style>.a,.b{fill:none}</style><g class='b'><rect width='9' height='9'/><rect width='2' height='2' fill='red'/></g>".to_owned(), 4.0),
        ("<defs><rect width='9' height='9'/></defs><g display='none'><rect width='9' height='9'/></g><rect width='2' height='2'/>".to_owned(), 4.0),
        ("<g visibility='hidden'><rect width='9' height='9'/><rect visibility='visible' width='2' height='2'/></g>".to_owned(), 4.0),
    ] {
        let found = area(&elements);
        assert!((found / expected - 1.0).abs() < 1e-6, "{elements}: {found}, not {expected}");
    }
}

#[test]
fn curves_have_the_areas_of_their_formulas_within_the_tolerance() {
    // two circles, each with its center on the other
    let lens = 100.0 * (2.0 * PI / 3.0 - 3.0_f64.sqrt() / 2.0);
    for (elements, expected) in [
        ("<circle r='10'/>".to_owned(), 100.0 * PI),
        ("<ellipse rx='10' ry='3' cx='5'/>".to_owned(), 30.0 * PI),
        ("<circle r='1' transform='rotate(40) scale(10 3)'/>".to_owned(), 30.0 * PI),
        ("<circle r='10'/><circle cx='10' r='10'/>".to_owned(), 200.0 * PI - lens),
        ("<rect width='40' height='20' rx='5'/>".to_owned(), 800.0 - 25.0 * (4.0 - PI)),
        ("<rect width='40' height='20' rx='50' ry='4'/>".to_owned(), 800.0 - 80.0 * (4.0 - PI)),
        (
            path("M-10 0A10 10 0 1010 0 10 10 0 1 0-10,0zM-5 0a5 5 0 0110 0a5 5 0 0 1-10 0"),
            75.0 * PI,
        ),
        // a radius that is too small, and a rotated one
        (path("M-10 0A1 1 0 0 1 10 0z"), 50.0 * PI),
        (path("M-10 0A10 5 90 0 1 10 0z"), 100.0 * PI),
        (path("M0 0Q50 100 100 0z"), 2.0 / 3.0 * 5000.0),
        (path("M0 0q25 50 50 0t50 0").replace("/>", " fill-rule='evenodd'/>"), 4.0 / 3.0 * 1250.0),
        (path("M0 0C0 100 100 100 100 0z"), 6000.0),
        (path("M0 0c0 100 100 100 100 0s100-100 100 0z"), 12000.0),
    ] {
        let found = area(&elements);
        // the tolerance is 1/4000 of the longest edge
        assert!((found / expected - 1.0).abs() < 2e-3, "{elements}: {found}, not {expected}");
    }
    // chords of a circle are inside, and off by at most a 4000th of its width
    let found = area("<circle r='10'/>");
    let least = 100.0 * PI - 2.0 * PI * 10.0 * 20.0 / 4000.0;
    assert!((least..100.0 * PI).contains(&found), "{found}");
}

#[test]
fn lines_that_cross_at_a_small_angle_are_divided() {
    let polygon = "<polygon points='2,0 18,11 9,17 15,13 2,19 16,13' fill-rule='evenodd'/>";
    // three corners are collinear except for rounding; the area is from exact fractions
    let found = area(polygon);
    assert!((found - 29.388059701492537).abs() < 1e-4, "{found}");
}

#[test]
fn outlines_are_as_large_as_the_file_says() {
    let size = |attributes: &str| {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" {attributes}><rect x='7' width='10' height='20'/></svg>"
        );
        let mesh = read_outline(text.as_bytes()).unwrap();
        let bounds = levelset::Aabb::around(&mesh.vertices).unwrap();
        assert!(bounds.center().coords.norm() < 1e-12, "it is about the origin");
        bounds.extents()
    };
    for (attributes, pixel) in [
        ("", PIXEL),
        ("viewBox='0 0 100 50'", PIXEL),
        ("width='100%' height='100%' viewBox='0 0 100 50'", PIXEL),
        ("width='100mm' height='50mm' viewBox='0 0 100 50'", 1e-3),
        ("width='200cm' viewBox='0 0 100 50'", 2e-2),
        ("width='100in' height='1in' viewBox='0,0,100,50'", 0.0254 / 50.0),
    ] {
        let extents = size(attributes);
        let expected = [10.0 * pixel, 20.0 * pixel, 1.0];
        let off = (extents - nalgebra::Vector3::from(expected)).norm();
        assert!(off < 1e-9, "{attributes}: {extents}");
    }
}

properties! {
    #[test]
    fn any_star_has_the_area_of_its_corners_under_any_transform(
        radii in proptest::collection::vec(0.2..1.0_f64, 3..40),
        m in proptest::array::uniform4(-3.0..3.0_f64),
    ) {
        let det = m[0] * m[3] - m[1] * m[2];
        prop_assume!(det.abs() > 0.3);
        let n = radii.len();
        let corner = |k: usize| {
            let angle = 2.0 * PI * k as f64 / n as f64;
            [radii[k % n] * angle.cos(), radii[k % n] * angle.sin()]
        };
        let expected: f64 = (0..n).map(|k| {
            let ([a, b], [c, d]) = (corner(k), corner(k + 1));
            0.5 * (a * d - b * c)
        }).sum();
        let points: String = (0..n).map(|k| format!("{},{} ", corner(k)[0], corner(k)[1])).collect();
        let [a, b, c, d] = m;
        let elements = format!("<polygon points='{points}' transform='matrix({a},{b},{c},{d},7,8)'/>");
        let found = area(&elements);
        prop_assert!((found / (expected * det.abs()) - 1.0).abs() < 1e-5, "{} {}", found, expected);
    }

    #[test]
    fn lines_that_cross_anyhow_bound_closed_solids(
        points in proptest::collection::vec((0_u8..20, 0_u8..20), 3..30),
    ) {
        let list: String = points.iter().map(|(x, y)| format!("{x},{y} ")).collect();
        let text = |rule: &str| format!(
            "<svg xmlns='http://www.w3.org/2000/svg'><polygon points='{list}' fill-rule='{rule}'/></svg>"
        );
        let volume = |rule: &str| read_outline(text(rule).as_bytes()).ok().map(|mesh| {
            assert!(ClosedMesh::new(mesh.clone()).is_ok(), "{}", list);
            mesh.signed_volume() / PIXEL.powi(2)
        });
        // scan lines lie between the integer rows of the corners
        let winding = |x: f64, y: f64| {
            let edges = points.iter().zip(points.iter().cycle().skip(1));
            edges.map(|(a, b)| {
                let ([ax, ay], [bx, by]) = ([a.0, a.1].map(f64::from), [b.0, b.1].map(f64::from));
                let crosses = (ay <= y) != (by <= y) && ax + (y - ay) / (by - ay) * (bx - ax) > x;
                if crosses { if by > ay { 1 } else { -1 } } else { 0 }
            }).sum::<i32>()
        };
        let cells = (0..400).flat_map(|i| (0..400).map(move |j| (i, j)));
        let (mut odd, mut any) = (0.0, 0.0);
        for (i, j) in cells {
            let w = winding(0.05 * (f64::from(i) + 0.5), 0.05 * (f64::from(j) + 0.49));
            any += if w != 0 { 0.0025 } else { 0.0 };
            odd += if w % 2 != 0 { 0.0025 } else { 0.0 };
        }
        for (rule, expected) in [("evenodd", odd), ("nonzero", any)] {
            let found = volume(rule).unwrap_or(0.0);
            prop_assert!((found - expected).abs() < 0.02 * expected + 1.0, "{} {} {}", rule, found, expected);
        }
    }
}

const SCENE: &str = "version = 1\n[pattern.a.voronoi]\npieces = 6\n[[body]]\nname = \"letter\"\ndensity = 1000\n\
    shape = { svg = { file = \"a.svg\", size = 0.4, depth = 0.05 } }\nfracture = { pattern = \"a\", break_impulse = 1 }\n";

/// An L with legs of length 40 and 20 and width 10.
const LETTER: &str =
    "<svg xmlns=\"http://www.w3.org/2000/svg\">\n<path d=\"M0 0h10v30h10v10H0z\"/>\n</svg>\n";

#[test]
fn a_body_has_the_mass_of_its_outline_and_stands_upright() {
    let case = Case::new(&[("a.svg", LETTER)]);
    let body = |more: &str| {
        let scene = SCENE.replace("depth = 0.05", &format!("depth = 0.05{more}"));
        std::fs::write(case.folder.path().join("a.toml"), scene).unwrap();
        let output = case.run(&["check", "a.toml", "--json"]);
        let message = String::from_utf8_lossy(&output.stderr);
        let json: serde_json::Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{message}"));
        json["bodies"][0]["mass"].as_f64().unwrap()
    };
    // 500 square pixels, of which 40 are 0.4 m
    assert!((body("") / (500.0 * 1e-4 * 0.05 * 1000.0) - 1.0).abs() < 1e-6);
    let scene = sim::scene::Scene::from_toml(&SCENE.replace("size = 0.4, ", "")).unwrap();
    let outline = read_outline(LETTER.as_bytes()).unwrap();
    let surface = sim::MeshData::Surface(outline.into());
    let center = |mirror: &str| {
        let scene = SCENE.replace("depth = 0.05", &format!("depth = 0.05{mirror}"));
        let scene = sim::scene::Scene::from_toml(&scene).unwrap();
        let meshes = [("a.svg".to_owned(), surface.clone())].into();
        let (world, _) = sim::build(&scene, &meshes).unwrap();
        let state = world.iter().next().unwrap();
        assert!(state.solid.unwrap().geometry.is_exact(), "it breaks into exact pieces");
        state.pose.translation.vector
    };
    assert_eq!(scene.outline_files().collect::<Vec<_>>(), ["a.svg"]);
    // 40 of 10 x 40 squares at (-5, 0) and 10 x 10 at (5, 15 below), 0.01 m each
    let expected = [-0.03, -0.03, 0.0];
    for (mirror, flip) in
        [("", [1.0, 1.0]), (", mirror = \"x\"", [-1.0, 1.0]), (", mirror = \"y\"", [1.0, -1.0])]
    {
        let found = center(mirror);
        for k in 0..2 {
            assert!((found[k] - flip[k] * expected[k]).abs() < 1e-6, "{mirror}: {found}");
        }
        assert!(found.z.abs() < 1e-9);
    }
}

#[test]
fn outlines_that_bound_nothing_are_refused_with_advice() {
    let many: String =
        (0..5001).map(|n| format!("<rect x='{}' width='1' height='1'/>", 2 * n)).collect();
    let deep = format!("{}{}", "<g>".repeat(70), "</g>".repeat(70));
    let comb: String = (0..400).map(|n| format!("M{n} 0V400M0 {n}H400")).collect();
    for (elements, words) in [
        ("<text>a</text>".to_owned(), vec!["line 2", "<text> is text", "convert it to paths"]),
        ("<use href='#a'/>".to_owned(), vec!["line 2", "unlink it"]),
        ("<image/>".to_owned(), vec!["trace it"]),
        ("<path fill='none' d='M0 0h9v9z'/>".to_owned(), vec!["strokes and no fills"]),
        ("<line x2='3'/>".to_owned(), vec!["strokes and no fills"]),
        (String::new(), vec!["no filled area"]),
        ("<path d='M0 0h9'/>".to_owned(), vec!["no filled area"]),
        (
            "<rect width='10%' height='3'/>".to_owned(),
            vec![
                "(named in scene.toml, line",
                "line 2: <rect> has the length `10%` of a picture without a size",
            ],
        ),
        ("<rect width='1%%' height='3'/>".to_owned(), vec!["`1%%`"]),
        ("<rect width='wide' height='3'/>".to_owned(), vec!["`wide`", "no number"]),
        ("<rect width='0' height='3'/>".to_owned(), vec!["shapes have no width, height or radius"]),
        ("<circle/><ellipse rx='3'/>".to_owned(), vec!["shapes have no width, height or radius"]),
        ("<rect width='-1' height='3'/>".to_owned(), vec!["line 2: <rect> has a width, height or"]),
        ("<circle r='-1'/>".to_owned(), vec!["line 2: <circle> has a radius below 0"]),
        ("<text> <tspan/> </text>".to_owned(), vec!["no filled area"]),
        ("<text><tspan>a</tspan></text>".to_owned(), vec!["convert it to paths"]),
        ("<polygon points='0 0 1'/>".to_owned(), vec!["no pairs of numbers"]),
        ("<path d='L0 0'/>".to_owned(), vec!["start with `M`"]),
        ("<path d='M0 0L1'/>".to_owned(), vec!["command `L`"]),
        ("<path d='M0 0x1'/>".to_owned(), vec!["command `x`"]),
        ("<path d='M0 0h1z 5'/>".to_owned(), vec!["start with a command"]),
        (
            "<rect width='1' height='1' transform='turn(3)'/>".to_owned(),
            vec!["transform", "turn(3)"],
        ),
        (many, vec!["more than 10000 corners"]),
        (format!("<path d='{comb}'/>"), vec!["cross more than 30000 times"]),
        (deep, vec!["nested more than 64 deep"]),
        ("<g>".to_owned(), vec!["not an SVG file, or damaged"]),
    ] {
        let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\">\n{elements}\n</svg>");
        let case = Case::new(&[("scene.toml", SCENE), ("a.svg", &svg)]);
        case.refused(&[&["a.svg"], &words[..]].concat());
    }
    let latin = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><title>\xe9</title></svg>";
    let case = Case::new(&[("scene.toml", SCENE)]);
    std::fs::write(case.folder.path().join("a.svg"), latin).unwrap();
    case.refused(&["a.svg: is not UTF-8 text: save it as UTF-8 (named in scene.toml, line"]);
    let case = Case::new(&[("scene.toml", SCENE), ("a.svg", "<html/>")]);
    case.refused(&["a.svg", "<html>, not <svg>"]);
    Case::new(&[("scene.toml", SCENE)]).refused(&["a.svg", "cannot be read"]);
    let outside = SCENE.replace("a.svg", "../a.svg");
    Case::new(&[("scene.toml", &outside)]).refused(&["a.svg"]);
    for (from, to, key) in [
        ("depth = 0.05", "depth = 0", "body[0].shape.svg.depth"),
        ("size = 0.4", "size = -1", "body[0].shape.svg.size"),
        ("\"a.svg\"", "\"\"", "body[0].shape.svg.file"),
        ("depth = 0.05", "spacing = 0.1", "depth"),
    ] {
        Case::new(&[("scene.toml", &SCENE.replace(from, to)), ("a.svg", LETTER)]).refused(&[key]);
    }
}

/// Percentages are of the width, the height, or the diagonal over the root of 2 (SVG 1.1 section 7.10).
#[test]
fn percentages_are_of_the_picture_and_what_has_no_size_is_left_out() {
    let drawn = |attributes: &str, elements: &str| {
        let svg = format!("<svg xmlns='http://www.w3.org/2000/svg' {attributes}>{elements}</svg>");
        let mesh = read_outline(svg.as_bytes()).unwrap();
        mesh.signed_volume() / (0.0254_f64 / 96.0).powi(2)
    };
    for attributes in ["viewBox='0 0 300 400'", "width='300' height='400px'"] {
        let area = drawn(attributes, "<rect x='5%' width='50%' height='25%'/>");
        assert!((area / 15_000.0 - 1.0).abs() < 1e-6, "{attributes}: {area}");
        let extras = "<rect width='9'/><circle/><ellipse ry='9'/><text> </text>";
        let area = drawn(attributes, &format!("{extras}<circle cx='50%' cy='50%' r='10%'/>"));
        let radius = 0.1 * (300.0_f64.hypot(400.0) / 2.0_f64.sqrt());
        let circle = std::f64::consts::PI * radius.powi(2);
        assert!((area / circle - 1.0).abs() < 1e-3, "{attributes}: {area}");
    }
}
