//! The page of a comparison.

use std::fmt::{self, Write};

use super::{Model, ModelResult, Report, Run};
use crate::wording::number;

/// Start of the page. Its security policy allows images beside the page only, and no scripts.
const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file: data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<style>
body { margin: 2rem auto; max-width: 90rem; padding: 0 1rem; color: #1b2027; font: 16px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; }
th, td { padding: 0.25rem 0.9rem; border-bottom: 1px solid #d5d9de; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
.row { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 0.5rem; }
img { max-width: 100%; height: auto; }
figure { margin: 0 0 1rem; }
</style>
"#;

/// The page in HTML. `plots` are titles and files of the plots: the size distribution, and
/// convergence if there are runs with other resolutions or time steps.
pub fn page(report: &Report, plots: &[(&str, &str)]) -> String {
    let mut html = HEAD.to_owned();
    // writing into a string cannot fail
    let _ = write_page(&mut html, report, plots);
    html
}

/// Text with HTML escapes.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if c.is_control() => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

fn write_page(html: &mut String, report: &Report, plots: &[(&str, &str)]) -> fmt::Result {
    let scene = Escaped(&report.scene);
    writeln!(html, "<title>{scene}: fracture models</title>\n</head>\n<body>")?;
    writeln!(html, "<h1>Fracture models: {scene}</h1>")?;
    let version = Escaped(&report.program_version);
    writeln!(html, "<p>brisance {version}, seed {}. {}</p>", report.seed, first_impact(report))?;
    writeln!(html, "<h2>Pictures</h2>")?;
    write_pictures(html, &report.models)?;
    writeln!(html, "<h2>Results</h2>")?;
    write_table(html, &report.models)?;
    for (title, file) in plots {
        writeln!(html, "<h2>{}</h2>", Escaped(title))?;
        writeln!(
            html,
            "<figure><img src=\"{}\" alt=\"{}\"></figure>",
            Escaped(file),
            Escaped(title)
        )?;
    }
    write_runs(html, "Runs at other resolutions", &report.resolutions)?;
    write_runs(html, "Runs with other time steps", &report.time_steps)?;
    writeln!(html, "<p>The numbers are in <a href=\"report.json\">report.json</a>.</p>")?;
    writeln!(html, "</body>\n</html>")
}

/// A sentence about the first impact.
fn first_impact(report: &Report) -> String {
    let first = report.models.iter().find_map(|result| result.run.measured.first_impact.as_ref());
    let Some(impact) = first else {
        return "No impact exceeded the strength of a body.".to_owned();
    };
    let strength = impact
        .strength
        .map_or_else(String::new, |s| format!(", which withstands {} N s", number(s)));
    let same = if report.same_first_impact {
        "This impact is the same in all models, bit by bit."
    } else {
        "<strong>This impact differs between the models.</strong>"
    };
    format!(
        "The first impact that breaks a body hits \u{201c}{}\u{201d}{strength}, with {} N s at {} s. {same}",
        Escaped(&impact.body),
        number(impact.impulse),
        number(impact.time)
    )
}

fn write_pictures(html: &mut String, models: &[ModelResult]) -> fmt::Result {
    for result in models {
        let name = result.run.model.name();
        writeln!(html, "<h3>{name}</h3>\n<div class=\"row\">")?;
        for picture in &result.pictures {
            writeln!(html, "<img src=\"{}\" alt=\"{name}\">", Escaped(picture))?;
        }
        writeln!(html, "</div>")?;
    }
    Ok(())
}

/// A table row: title, and content of the cell of a model.
type Row = (&'static str, fn(&ModelResult) -> String);

const ROWS: [Row; 16] = [
    ("broken bodies", |result| result.run.measured.breaks.to_string()),
    ("pieces at the end", |result| result.run.measured.pieces.to_string()),
    ("volume of the largest piece, share of all pieces", |result| {
        let volumes = &result.run.measured.volumes;
        let sum: f64 = volumes.iter().sum();
        volumes.first().map_or_else(dash, |most| number(most / sum))
    }),
    ("exponent of the power law", |result| {
        result
            .power_law
            .map_or_else(dash, |law| format!("{} ± {}", number(law.exponent), number(law.error)))
    }),
    ("number of fitted pieces", |result| {
        result.power_law.map_or_else(dash, |law| law.count.to_string())
    }),
    ("Kolmogorov-Smirnov distance of the fit", |result| {
        result.power_law.map_or_else(dash, |law| number(law.distance))
    }),
    ("area of all cracks, m²", |result| number(result.run.measured.crack_area)),
    ("lower bound of the crack energy, J", |result| {
        result.run.measured.energy.cracks.map_or_else(dash, number)
    }),
    ("energy dissipated by fracture, J", |result| number(result.run.measured.energy.fracture)),
    ("total dissipated energy, J", |result| number(result.run.measured.energy.lost())),
    ("largest energy gain in a frame, J", |result| number(result.run.measured.energy.largest_gain)),
    ("relative error of mass", |result| number(result.run.measured.mass_error)),
    ("relative error of momentum in a fracture", |result| {
        number(result.run.measured.momentum_error)
    }),
    ("relative error of angular momentum in a fracture", |result| {
        number(result.run.measured.angular_momentum_error)
    }),
    ("time to build, s", |result| number(result.run.measured.seconds_build)),
    ("time to simulate, s", |result| number(result.run.measured.seconds_simulate)),
];

fn dash() -> String {
    "\u{2013}".to_owned()
}

fn write_table(html: &mut String, models: &[ModelResult]) -> fmt::Result {
    write!(html, "<table>\n<tr><th></th>")?;
    for result in models {
        write!(html, "<th>{}</th>", result.run.model.name())?;
    }
    writeln!(html, "</tr>")?;
    for (title, cell) in ROWS {
        write!(html, "<tr><td>{title}</td>")?;
        for result in models {
            write!(html, "<td>{}</td>", cell(result))?;
        }
        writeln!(html, "</tr>")?;
    }
    writeln!(html, "</table>")
}

fn write_runs(html: &mut String, title: &str, runs: &[Run]) -> fmt::Result {
    if runs.is_empty() {
        return Ok(());
    }
    writeln!(html, "<h2>{title}</h2>\n<table>")?;
    writeln!(
        html,
        "<tr><th>model</th><th>relative spacing</th><th>time step, s</th><th>pieces</th>\
         <th>cracks, m²</th><th>dissipated energy, J</th><th>time, s</th></tr>"
    )?;
    for Run { model, spacing_factor, time_step, measured } in runs {
        let name = Model::name(*model);
        write!(html, "<tr><td>{name}</td><td>{}</td>", number(*spacing_factor))?;
        write!(html, "<td>{}</td><td>{}</td>", number(*time_step), measured.pieces)?;
        let [area, energy] = [measured.crack_area, measured.energy.lost()].map(number);
        let time = number(measured.seconds_simulate);
        writeln!(html, "<td>{area}</td><td>{energy}</td><td>{time}</td></tr>")?;
    }
    writeln!(html, "</table>")
}
