//! Combined solids.

use std::sync::Arc;

use levelset::{Aabb, Solid, TriMesh};
use nalgebra::{Isometry3, Point3, Unit, UnitVector3, Vector3};

use super::check::{at, bounded, count, direction, extent, require};
use super::outline::Outline;
use super::pose::placed;
use super::{Combined, InvalidValue, Op, Part, PictureFile, Shape, Svg};

/// Maximum number of parts of a combined solid: sampling evaluates each at every node.
const MAX_PARTS: usize = 1000;
/// Maximum nesting depth of combined solids, a bound on recursion.
const MAX_DEPTH: usize = 8;

impl Part {
    fn pose(&self) -> Isometry3<f64> {
        placed(self.position, self.rotation)
    }
}

impl Combined {
    /// A bound of the signed distance before its edges are rounded and it becomes hollow, m: exact
    /// sign, and exact distance near its faces.
    pub(crate) fn distance(&self, p: &Point3<f64>) -> f64 {
        self.parts.iter().fold(f64::INFINITY, |whole, part| {
            let own = distance(&part.shape, &part.pose().inverse_transform_point(p));
            match part.op {
                Op::Union => whole.min(own),
                Op::Difference => whole.max(-own),
                Op::Intersection => whole.max(own),
            }
        })
    }

    /// Its bounding box; `None` if it is unbounded, like a half-space.
    pub(crate) fn bounds(&self) -> Option<Aabb> {
        let mut whole: Option<Aabb> = None;
        for part in &self.parts {
            let own = match &part.shape {
                Shape::Svg(svg) => svg.bounds(),
                shape => shape.bounds(),
            };
            let own = own.map(|own| {
                let pose = part.pose();
                Aabb::around(&own.corners().map(|p| pose * p))
            });
            whole = match (part.op, whole, own.flatten()) {
                (Op::Difference, whole, _) => whole,
                (Op::Union, None, own) => own,
                (Op::Union, Some(whole), own) => {
                    let own = own?;
                    let (min, max) = (whole.min.inf(&own.min), whole.max.sup(&own.max));
                    Some(Aabb { min, max })
                }
                (Op::Intersection, whole, None) => whole,
                (Op::Intersection, whole, Some(own)) => {
                    let whole = whole?;
                    let (min, max) = (whole.min.sup(&own.min), whole.max.inf(&own.max));
                    (min < max).then_some(Aabb { min, max })
                }
            };
        }
        whole
    }

    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(self.depth() <= MAX_DEPTH, key, || {
            format!("is nested more than {MAX_DEPTH} deep")
        })?;
        count(&at(key, "parts"), self.parts.len(), 1, MAX_PARTS)?;
        for (n, part) in self.parts.iter().enumerate() {
            let key = format!("{key}.parts[{n}]");
            bounded(&at(&key, "position"), &part.position, "m")?;
            direction(&at(&key, "rotation.axis"), &part.rotation.axis)?;
            bounded(&at(&key, "rotation.degrees"), &[part.rotation.degrees], "degrees")?;
            require(
                !matches!(
                    part.shape,
                    Shape::Mesh(_) | Shape::Tets(_) | Shape::Trimesh(_) | Shape::Pieces(_)
                ),
                &at(&key, "shape"),
                || "is a mesh: combine primitives, planes, pictures, SVG files and combined solids",
            )?;
            if let Shape::Svg(svg) = &part.shape {
                require(
                    svg.size.is_some(),
                    &at(&key, "shape.svg.size"),
                    || "must be given in a combined shape: the longest edge of the outline, in m",
                )?;
            }
            require(
                n > 0 || (part.op == Op::Union && !matches!(part.shape, Shape::Plane(_))),
                &at(&key, "op"),
                || "must be \"union\" for the first part, and its shape no plane",
            )?;
            require(
                part.op != Op::Union || !matches!(part.shape, Shape::Plane(_)),
                &at(&key, "op"),
                || "must be \"difference\" or \"intersection\" for a plane, which has no end",
            )?;
            if let Shape::Combined(inner) = &part.shape {
                require(
                    inner.rounding == 0.0,
                    &at(&key, "shape.combined.rounding"),
                    || "must be removed: give it to the whole",
                )?;
            }
            // samples are those of the whole
            part.shape.check(&at(&key, "shape"), false)?;
        }
        require(
            self.bounds().is_some(),
            &at(key, "parts"),
            || "leave nothing: parts of an intersection must meet",
        )?;
        if let Some(wall) = self.wall {
            extent(&at(key, "wall"), wall)?;
        }
        if self.rounding != 0.0 {
            extent(&at(key, "rounding"), self.rounding)?;
        }
        Ok(())
    }

    /// Nesting depth of combined solids in it.
    fn depth(&self) -> usize {
        let of = |shape: &Shape| match shape {
            Shape::Combined(inner) => inner.depth(),
            _ => 0,
        };
        1 + self.parts.iter().map(|part| of(&part.shape)).max().unwrap_or(0)
    }
}

fn distance(shape: &Shape, p: &Point3<f64>) -> f64 {
    if let Shape::Combined(combined) = shape {
        let own = combined.distance(p);
        return combined.wall.map_or(own, |wall| own.max(-own - wall));
    }
    shape.value(p)
}

impl Shape {
    /// Negative inside and positive outside, m; level sets sample it.
    pub(crate) fn value(&self, p: &Point3<f64>) -> f64 {
        match self {
            Self::Combined(combined) => combined.distance(p),
            Self::Polygon(polygon) => polygon.value(p),
            Self::Extruded(extruded) => extruded.value(p),
            Self::Heightfield(field) => field.value(p),
            Self::Svg(svg) => svg.value(p),
            other => other.solid().map_or(f64::INFINITY, |solid| solid.distance(p)),
        }
    }

    /// The bounding box in its own coordinates; `None` if the scene does not give it.
    pub fn bounds(&self) -> Option<Aabb> {
        let around = |min: [f64; 3], max: [f64; 3]| Aabb { min: min.into(), max: max.into() };
        match self {
            Self::Combined(combined) => combined.bounds(),
            Self::Polygon(polygon) => Some(polygon.bounds()),
            Self::Heightfield(field) => {
                let half = field.size.map(|length| length / 2.0);
                let low = [-half[0], -field.base, -half[1]];
                Some(around(low, [half[0], field.height, half[1]]))
            }
            other => {
                let half = other.extents()?.map(|length| length / 2.0);
                Some(around(half.map(|x| -x), half))
            }
        }
    }

    /// The images that define it or its parts.
    pub(crate) fn pictures_mut(&mut self) -> Vec<&mut PictureFile> {
        match self {
            Self::Extruded(extruded) => vec![&mut extruded.picture],
            Self::Heightfield(field) => vec![&mut field.picture],
            Self::Combined(combined) => {
                combined.parts.iter_mut().flat_map(|part| part.shape.pictures_mut()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The solid of a primitive or a plane about the origin.
    pub(crate) fn solid(&self) -> Option<Solid> {
        Some(match self {
            Self::Mesh(_) | Self::Tets(_) | Self::Trimesh(_) | Self::Pieces(_) => return None,
            Self::Combined(_) | Self::Extruded(_) | Self::Heightfield(_) => return None,
            Self::Polygon(_) | Self::Svg(_) => return None,
            Self::Sphere(s) => Solid::Sphere { radius: s.radius },
            Self::Box(b) => Solid::Box { half_extents: b.half_extents.into() },
            Self::Cylinder(c) => Solid::Cylinder { half_height: c.half_height, radius: c.radius },
            Self::Capsule(c) => Solid::Capsule { half_height: c.half_height, radius: c.radius },
            Self::Cone(c) => Solid::Cone { half_height: c.half_height, radius: c.radius },
            Self::Torus(t) => Solid::Torus { major: t.major, minor: t.minor },
            Self::Plane(plane) => {
                let normal: UnitVector3<f64> = Unit::new_normalize(Vector3::from(plane.normal));
                Solid::HalfSpace { normal, offset: plane.offset }
            }
        })
    }
}

impl Shape {
    /// The outlines of it and its parts.
    pub(crate) fn outlines(&self) -> Vec<&Svg> {
        match self {
            Self::Svg(svg) => vec![svg],
            Self::Combined(combined) => {
                combined.parts.iter().flat_map(|part| part.shape.outlines()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// [`Self::outlines`], mutable.
    pub(super) fn outlines_mut(&mut self) -> Vec<&mut Svg> {
        match self {
            Self::Svg(svg) => vec![svg],
            Self::Combined(combined) => {
                combined.parts.iter_mut().flat_map(|part| part.shape.outlines_mut()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The same shape with the contents of its outline files as solids of unit thickness: `solid`
    /// returns that of a file.
    ///
    /// # Errors
    /// The first error of `solid`.
    pub(crate) fn with_outlines<'m, E>(
        &self,
        solid: impl Fn(&str) -> Result<&'m TriMesh, E>,
    ) -> Result<Self, E> {
        let mut shape = self.clone();
        for svg in shape.outlines_mut() {
            svg.read = Outline::of(solid(&svg.file)?).map(Arc::new);
        }
        Ok(shape)
    }
}
