//! Building patterns from scenes.

use std::sync::Arc;

use fracture::{Alignment, Bricks, Geometry, Noise, Pattern, Radial, Slices, Voronoi};
use levelset::Aabb;
use nalgebra::{Point3, Unit, Vector3};

use crate::scene::{self, Scene};
use crate::{
    Bonds, BuildError, Cause, CenteredPattern, FixedPattern, FractureModel, Level, NextPattern,
    Placement, Strength,
};

/// The pattern of `spec`. A number of pieces is that of `body`. Without a body it is the number of
/// regions of space, lengths in m are in pattern units, and the box of the body is `[-1, 1]^3`.
///
/// # Errors
/// [`Cause`] if a parameter is out of range, or a file of the pattern is missing.
pub fn pattern(
    spec: &scene::Pattern,
    seed: u64,
    body: Option<&Geometry>,
) -> Result<Pattern, Cause> {
    coarse(spec, 0, seed, body)
}

/// [`pattern`] without its `finer` finest parts, with the same roughness.
fn coarse(
    spec: &scene::Pattern,
    finer: usize,
    seed: u64,
    body: Option<&Geometry>,
) -> Result<Pattern, Cause> {
    let plain = spec.without_finest(finer);
    let pattern = smooth(plain.as_ref().unwrap_or(spec), seed, body)?;
    let Some(scene::CutNoise { amplitude, frequency, rims }) = spec.noise() else {
        return Ok(pattern);
    };
    let noise = Noise { amplitude, frequency, octaves: 3, seed };
    if rims == scene::Rims::Straight {
        return Ok(pattern.with_drawn_noise(&noise)?);
    }
    let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
    // as fine as the samples of most bodies, whose diagonal is a unit
    Ok(pattern.with_sampled_noise(&bounds, 0.016, &noise)?)
}

/// [`pattern`] before noise displaces its cuts.
fn smooth(spec: &scene::Pattern, seed: u64, body: Option<&Geometry>) -> Result<Pattern, Cause> {
    let frame = Frame::of(body);
    Ok(match spec {
        scene::Pattern::Voronoi(v) => {
            let sites = sites(v, seed);
            let sites = body.map_or(sites, |body| sites.with_pieces(v.pieces, body));
            Pattern::voronoi(&sites)?
        }
        scene::Pattern::File(named) => {
            let missing = || Cause::NoPattern { file: named.file.clone() };
            Pattern::clone(named.read.as_ref().ok_or_else(missing)?)
        }
        scene::Pattern::Radial(r) => {
            let spec = Radial { jitter: r.jitter, ..Radial::new(r.sectors, r.rings, seed) };
            let radial = Pattern::radial(&spec)?;
            let whole = r.splinters == 1;
            let splinters = || Pattern::voronoi(&Voronoi::new(r.splinters, seed));
            if whole { radial } else { radial.nested(&splinters()?)? }
        }
        scene::Pattern::Bricks(bricks) => Pattern::bricks(&frame.bricks(bricks, seed))?,
        scene::Pattern::Slices(s) => {
            let axis = s.axis.map(|axis| Unit::new_normalize(Vector3::from(axis)));
            let scene::Slices { planes, spread, tilt, .. } = *s;
            Pattern::slices(&Slices { planes, spread, axis, tilt, seed })?
        }
        scene::Pattern::Points(points) => {
            let scatter = points.scatter / frame.at.scale;
            Pattern::scattered(&frame.sites(points), scatter, seed)?
        }
        scene::Pattern::Painted(painted) => {
            let missing = || Cause::NoPicture { file: painted.picture.clone() };
            let picture = painted.read.as_ref().ok_or_else(missing)?;
            Pattern::painted(picture, &frame.half, painted.pieces, seed)?
        }
        scene::Pattern::Nested(nested) => {
            let outer = smooth(&nested.outer, seed, body)?;
            // a number of pieces is that of each region
            outer.nested(&smooth(&nested.inner, seed.wrapping_add(1), None)?)?
        }
        scene::Pattern::Preset(preset) => smooth(&preset.spec(), seed, body)?,
    })
}

/// The sites of a pattern, one per piece.
pub(crate) fn sites(spec: &scene::Voronoi, seed: u64) -> Voronoi {
    // with a clustering of 1 the density of sites falls with the square of the distance
    let clustering = 1.0 + 2.0 * spec.clustering;
    Voronoi { clustering, stretch: spec.stretch.into(), ..Voronoi::new(spec.pieces, seed) }
}

/// The alignment of a body in a pattern that stands upright in it.
struct Frame {
    at: Alignment,
    /// Half extents of the box of the body along the axes of the pattern, pattern units.
    half: Vector3<f64>,
}

impl Frame {
    fn of(body: Option<&Geometry>) -> Self {
        let bounds = body.map(Geometry::bounds);
        let all = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
        let at = FixedPattern::alignment(bounds.as_ref().unwrap_or(&all));
        let scale = if bounds.is_some() { at.scale } else { 1.0 };
        let extents = bounds.unwrap_or(all).extents() / (2.0 * scale);
        Self { at: Alignment { scale, ..at }, half: to_pattern_axes(extents) }
    }

    /// Bricks laid from the lower left corner of the front of the box.
    fn bricks(&self, spec: &scene::Bricks, seed: u64) -> Bricks {
        let scale = self.at.scale;
        let mortar = spec.mortar / scale;
        let pitch = match (spec.size, spec.count) {
            (Some(size), _) => {
                to_pattern_axes(Vector3::from(size)) / scale + Vector3::repeat(mortar)
            }
            (None, count) => {
                let count = count.unwrap_or([1; 3]).map(|n| n as f64);
                (2.0 * self.half).component_div(&to_pattern_axes(count.into()))
            }
        };
        // the first course ends at the box; the z axis of a pattern points down
        let courses = (2.0 * self.half.z / pitch.z - 1e-9).ceil();
        let top = self.half.z - courses * pitch.z;
        // courses are numbered from the corner, and the lowest is not shifted
        let shift = (courses - 1.0) * spec.bond;
        let corner = Vector3::new(-self.half.x - shift * pitch.x, -self.half.y, top);
        // bricks keep a positive size however wide the mortar is
        let size = (pitch - Vector3::repeat(mortar)).map(|x| x.max(1e-6));
        Bricks {
            extents: self.half,
            bond: spec.bond,
            corner,
            jitter: spec.jitter,
            mortar,
            seed,
            ..Bricks::new(size)
        }
    }

    /// Points as given and along curves.
    fn sites(&self, spec: &scene::Points) -> Vec<Point3<f64>> {
        let to_pattern = self.at.transform().inverse();
        let along = spec.curves.iter().flat_map(|curve| along(curve, spec.spacing));
        // one more than the limit, which the pattern rejects
        let most = Pattern::MAX_REGIONS + 1;
        let given = spec.points.iter().map(|p| Point3::from(*p)).chain(along).take(most);
        given.map(|p| to_pattern * p).collect()
    }
}

/// Lengths along the axes of a shape, along those of a pattern that stands upright in it.
fn to_pattern_axes(v: Vector3<f64>) -> Vector3<f64> {
    Vector3::new(v.x, v.z, v.y)
}

/// Points along a curve, evenly and at most `spacing` apart, including both ends.
fn along(curve: &[[f64; 3]], spacing: Option<f64>) -> Vec<Point3<f64>> {
    let points: Vec<Point3<f64>> = curve.iter().map(|p| Point3::from(*p)).collect();
    let length: f64 = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
    let steps = (length / spacing.unwrap_or(length)).ceil().clamp(1.0, Pattern::MAX_REGIONS as f64);
    let mut left = points.windows(2).map(|pair| (pair[0], pair[1] - pair[0])).peekable();
    let mut passed = 0.0;
    let place = |n: usize| {
        let target = length * n as f64 / steps;
        while let Some((start, step)) = left.peek().copied() {
            let part = (target - passed) / step.norm();
            if part <= 1.0 || part.is_nan() {
                return if part.is_finite() { start + step * part.max(0.0) } else { start };
            }
            passed += step.norm();
            left.next();
        }
        points.last().copied().unwrap_or_default()
    };
    (0..=steps as usize).map(place).collect()
}

/// The patterns of a scene. A pattern's number of pieces is that of the body it breaks, so that
/// there is one pattern for each pair of a name and a distinct shape.
pub(super) struct Patterns<'a> {
    pub(super) scene: &'a Scene,
    made: Vec<(Named<'a>, &'a scene::Shape, Arc<Pattern>)>,
}

/// A pattern of a scene without its finest parts.
#[derive(Clone, Copy, PartialEq)]
struct Named<'a> {
    name: &'a str,
    /// Number of missing parts.
    finer: usize,
}

impl<'a> Patterns<'a> {
    pub(super) fn new(scene: &'a Scene) -> Self {
        Self { scene, made: Vec::new() }
    }

    /// The model of a body with the pattern of that name; `None` if the scene has none.
    pub(super) fn model(
        &mut self,
        name: &'a str,
        fracture: &'a scene::Fracture,
        body: &'a scene::Body,
        geometry: &Geometry,
    ) -> Result<Option<FractureModel>, BuildError> {
        let next = fracture.then.as_ref();
        let next = next.map(|name| self.next(name, body, geometry)).transpose()?.flatten();
        let at = FixedPattern::alignment(&geometry.bounds());
        let mut then = next.map(NextPattern::Centered);
        // the finest first, which the coarser ones contain
        for (finer, level) in fracture.levels.iter().rev().enumerate() {
            let of = match &level.pattern {
                Some(name) => Named { name, finer: 0 },
                None => Named { name, finer },
            };
            let Some(pattern) = self.of(of, &body.shape, geometry)? else { return Ok(None) };
            let spec = self.scene.patterns.get(of.name).and_then(|p| p.without_finest(of.finer));
            let own = || spec.map_or(scene::Pattern::MIN_SHARE, |spec| spec.min_share());
            then = Some(NextPattern::Level(Arc::new(Level {
                pattern: Arc::new(FixedPattern { pattern, at, then }),
                strength: level.break_impulse.map_or(Strength::Material, Strength::Impulse),
                min_share: level.min_share.unwrap_or_else(own),
                bonds: bonds(level.bonds, body),
            })));
        }
        let own = Named { name, finer: fracture.finer_parts() };
        let pattern = self.of(own, &body.shape, geometry)?;
        let placement = self.placement(fracture);
        Ok(pattern.map(|pattern| match placement {
            Placement::Fixed => FractureModel::Fixed(Arc::new(FixedPattern { pattern, at, then })),
            placement => FractureModel::Prescored(pattern, placement),
        }))
    }

    /// The placement of a body's pattern; all levels of a hierarchy stand upright in the body.
    fn placement(&self, fracture: &scene::Fracture) -> Placement {
        if !fracture.levels.is_empty() {
            return Placement::Fixed;
        }
        let spec = fracture.pattern.as_ref().and_then(|name| self.scene.patterns.get(name));
        let own = spec.map_or_else(Placement::default, scene::Pattern::placement);
        fracture.placement.unwrap_or(own)
    }

    /// The pattern of that name for pieces of a body.
    fn next(
        &mut self,
        name: &'a str,
        body: &'a scene::Body,
        geometry: &Geometry,
    ) -> Result<Option<CenteredPattern>, BuildError> {
        let Some(spec) = self.scene.patterns.get(name) else { return Ok(None) };
        let pattern = self.of(Named { name, finer: 0 }, &body.shape, geometry)?;
        let (placement, min_share) = (spec.placement(), spec.min_share());
        Ok(pattern.map(|pattern| CenteredPattern { pattern, placement, min_share }))
    }

    /// A pattern for a body; `None` if the scene has none of its name.
    fn of(
        &mut self,
        named: Named<'a>,
        shape: &'a scene::Shape,
        body: &Geometry,
    ) -> Result<Option<Arc<Pattern>>, BuildError> {
        let known = self.made.iter().find(|(other, s, _)| *other == named && *s == shape);
        if let Some((_, _, pattern)) = known {
            return Ok(Some(Arc::clone(pattern)));
        }
        let Named { name, finer } = named;
        let mut numbered = (0..).zip(&self.scene.patterns);
        let Some((n, (_, spec))) = numbered.find(|(_, (other, _))| *other == name) else {
            return Ok(None);
        };
        let seed = self.scene.simulation.seed.wrapping_add(n);
        let failed = |cause| BuildError { part: format!("pattern {name:?}"), cause };
        let made = Arc::new(coarse(spec, finer, seed, Some(body)).map_err(failed)?);
        self.made.push((named, shape, Arc::clone(&made)));
        Ok(Some(made))
    }
}

/// The bonds between the pieces of a body.
pub(super) fn bonds(given: Option<scene::Bonds>, body: &scene::Body) -> Option<Bonds> {
    let scene::Bonds { strength, duration } = given?;
    let by_material = || body.solid().map(|solid| solid.tensile_strength);
    Some(Bonds { strength: strength.or_else(by_material)?, duration })
}
