//! Reader of dust and crumbs from files of [`meshfile::write_dust_glb`].

use std::collections::BTreeMap;

use gltf::animation::Channel;
use gltf::animation::util::ReadOutputs;
use gltf::mesh::Mode;
use gltf::{Gltf, Node, Primitive, Semantic};
use meshfile::glb_file::{
    GlbError, INSTANCING, check_animations, check_instances, check_points, open,
};
use nalgebra::Vector3;
use thiserror::Error;

/// Largest coordinate, m, speed, m/s, and acceleration, m/s^2: positions of specks stay within
/// 32-bit floats.
const MAX_COORDINATE: f32 = 1e9;
/// Largest time, s.
const MAX_TIME: f32 = 1e9;

/// Why a file is not readable dust.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DustReadError {
    /// The file is not readable GLB.
    #[error(transparent)]
    Format(#[from] GlbError),
    /// It is GLB, but not of dust.
    #[error(
        "is no dust ({lacks}): give the .glb file that `brisance run` wrote with --dust or --crumbs"
    )]
    Foreign {
        /// The missing data.
        lacks: &'static str,
    },
}

const fn foreign(lacks: &'static str) -> DustReadError {
    DustReadError::Foreign { lacks }
}

/// Dust of a recording.
#[derive(Clone, Debug, Default)]
pub struct DustCloud {
    /// The acceleration of all specks, m/s^2.
    pub gravity: Vector3<f32>,
    /// The specks.
    pub groups: Vec<DustGroup>,
}

/// Specks of one color that exist during the same time.
#[derive(Clone, Debug)]
pub struct DustGroup {
    /// Start of the time in which they exist, s.
    pub birth: f32,
    /// End of that time, s; infinite if they exist to the end of the recording.
    pub end: f32,
    /// Linear color.
    pub color: [f32; 3],
    /// Whether they fall, as all but crumbs at rest.
    pub falls: bool,
    /// The specks.
    pub grains: Vec<Grain>,
}

/// A speck at its birth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// Position, m.
    pub position: Vector3<f32>,
    /// Velocity, m/s.
    pub velocity: Vector3<f32>,
    /// Diameter, m.
    pub size: f32,
}

/// A speck at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisibleSpeck {
    /// Position, m.
    pub position: Vector3<f32>,
    /// Diameter, m.
    pub size: f32,
    /// Linear color.
    pub color: [f32; 3],
}

impl DustCloud {
    /// The specks that exist at a time, s.
    pub fn at(&self, time: f32) -> impl Iterator<Item = VisibleSpeck> {
        let existing =
            self.groups.iter().filter(move |group| group.birth <= time && time < group.end);
        existing.flat_map(move |group| {
            let age = time - group.birth;
            let fall =
                if group.falls { self.gravity * (0.5 * age * age) } else { Vector3::zeros() };
            group.grains.iter().map(move |grain| VisibleSpeck {
                position: grain.position + grain.velocity * age + fall,
                size: grain.size,
                color: group.color,
            })
        })
    }
}

/// Reads dust.
///
/// # Errors
/// [`DustReadError`] if the file is malformed or not of [`meshfile::write_dust_glb`].
pub fn read_dust(bytes: &[u8]) -> Result<DustCloud, DustReadError> {
    let file = open(bytes)?;
    check_animations(&file)?;
    check_points(&file)?;
    check_instances(&file)?;
    if !is_ours(&file) {
        return Err(foreign("brisance wrote no dust into it"));
    }
    let mut keys: BTreeMap<usize, Keys> = BTreeMap::new();
    for channel in file.animations().flat_map(|animation| animation.channels()) {
        let blob = file.blob.as_deref().unwrap_or_default();
        keys.entry(channel.target().node().index()).or_default().read(&channel, blob)?;
    }
    // the longest flight has the most precise gravity
    let longest = keys.values().map(Keys::gravity).max_by(|(t, _), (u, _)| t.total_cmp(u));
    let gravity = longest.map_or_else(Vector3::zeros, |(_, gravity)| gravity);
    let group = |node| group(&file, &node, &keys.remove(&node.index()).unwrap_or_default());
    // without specks the only node has no mesh
    let nodes = file.nodes().filter(|node| node.mesh().is_some());
    let groups = nodes.map(group).collect::<Result<Vec<_>, _>>()?;
    let is_small = |x: &f32| x.abs() <= MAX_COORDINATE;
    let is_usable = |grain: &Grain| {
        grain.position.iter().chain(&grain.velocity).all(is_small)
            && (0.0..=MAX_COORDINATE).contains(&grain.size)
    };
    let mut grains = groups.iter().flat_map(|group| &group.grains);
    if !gravity.iter().all(is_small) || !grains.all(is_usable) {
        return Err(foreign("a speck has impossible numbers"));
    }
    Ok(DustCloud { gravity, groups })
}

/// Keys of a node.
#[derive(Default)]
struct Keys {
    scales: Vec<(f32, f32)>,
    falls: Vec<(f32, Vector3<f32>)>,
    /// Times of the weights: the first and the last frame.
    weighted: Vec<f32>,
}

impl Keys {
    fn read(&mut self, channel: &Channel<'_>, blob: &[u8]) -> Result<(), DustReadError> {
        const LACKS: DustReadError = foreign("an animation lacks its keys");
        let reader = channel.reader(|_| Some(blob));
        let times: Vec<f32> = reader.read_inputs().ok_or(LACKS)?.collect();
        if !times.iter().all(|time| (0.0..=MAX_TIME).contains(time)) {
            return Err(foreign("an animation has impossible times"));
        }
        match reader.read_outputs().ok_or(LACKS)? {
            ReadOutputs::Scales(values) => {
                self.scales = times.into_iter().zip(values.map(|scale| scale[0])).collect();
            }
            ReadOutputs::Translations(values) => {
                self.falls = times.into_iter().zip(values.map(Vector3::from)).collect();
            }
            ReadOutputs::MorphTargetWeights(_) => self.weighted = times,
            ReadOutputs::Rotations(_) => {}
        }
        Ok(())
    }

    /// Duration of the fall, s, and its acceleration, m/s^2.
    fn gravity(&self) -> (f32, Vector3<f32>) {
        match self.falls[..] {
            [(first, _), .., (last, fall)] if last > first => {
                (last - first, fall * (2.0 / (last - first).powi(2)))
            }
            _ => (0.0, Vector3::zeros()),
        }
    }
}

fn group(file: &Gltf, node: &Node<'_>, keys: &Keys) -> Result<DustGroup, DustReadError> {
    const LACKS: DustReadError = foreign("a node lacks points with sizes and displacements");
    let blob = file.blob.as_deref().unwrap_or_default();
    let mesh = node.mesh().ok_or(LACKS)?;
    // a node without a key of its appearance exists from the start
    let birth = keys.scales.iter().find(|(_, scale)| *scale > 0.0).map_or(0.0, |(time, _)| *time);
    let end = keys.scales.iter().find(|(time, scale)| *time > birth && *scale == 0.0);
    let end = end.map_or(f32::INFINITY, |(time, _)| *time);
    if let Some(grains) = landed(file, node) {
        let part = mesh.primitives().next().ok_or(LACKS)?;
        return Ok(DustGroup { birth, end, color: color(&part), falls: false, grains: grains? });
    }
    let points = mesh.primitives().find(|part| part.mode() == Mode::Points).ok_or(LACKS)?;
    let flight = match keys.weighted[..] {
        [first, .., last] if last > first => last - first,
        _ => 0.0,
    };
    let reader = points.reader(|_| Some(blob));
    let positions = reader.read_positions().ok_or(LACKS)?;
    let sizes = points.get(&Semantic::Extras("SIZE".to_owned())).ok_or(LACKS)?;
    let sizes = gltf::accessor::Iter::<f32>::new(sizes, |_| Some(blob)).ok_or(LACKS)?;
    let mut targets = reader.read_morph_targets();
    let flown = targets.next().and_then(|(positions, ..)| positions).ok_or(LACKS)?;
    let grain = |((position, flown), size): (([f32; 3], [f32; 3]), f32)| {
        let (position, flown) = (Vector3::from(position), Vector3::from(flown));
        let velocity = if flight > 0.0 { flown / flight } else { Vector3::zeros() };
        Grain { position, velocity, size }
    };
    let grains = positions.zip(flown).zip(sizes).map(grain).collect();
    Ok(DustGroup { birth, end, color: color(&points), falls: true, grains })
}

/// The linear color of a primitive.
fn color(part: &Primitive<'_>) -> [f32; 3] {
    let [r, g, b, _] = part.material().pbr_metallic_roughness().base_color_factor();
    [r, g, b]
}

/// The crumbs of a node of instances; `None` for other nodes.
fn landed(file: &Gltf, node: &Node<'_>) -> Option<Result<Vec<Grain>, DustReadError>> {
    const LACKS: DustReadError = foreign("a node of instances lacks places and sizes");
    let attributes = node.extension_value(INSTANCING)?.get("attributes");
    let values = |name: &str| {
        let number = attributes?.get(name)?.as_u64()?;
        let accessor = file.accessors().nth(usize::try_from(number).ok()?)?;
        gltf::accessor::Iter::<[f32; 3]>::new(accessor, |_| file.blob.as_deref())
    };
    let Some((places, scales)) = values("TRANSLATION").zip(values("SCALE")) else {
        return Some(Err(LACKS));
    };
    let grain = |(place, scale): ([f32; 3], [f32; 3])| Grain {
        position: place.into(),
        velocity: Vector3::zeros(),
        // the edge of a cube of the same volume
        size: libm::cbrtf(scale.iter().product()),
    };
    Some(Ok(places.zip(scales).map(grain).collect()))
}

/// Whether a file is of [`meshfile::write_dust_glb`].
pub(super) fn is_ours(file: &Gltf) -> bool {
    let is_named = file.as_json().asset.generator.as_deref() == Some("brisance");
    let is_recording = file.scenes().any(|scene| scene.extras().is_some());
    let is_points = |node: Node<'_>| {
        let mut parts = node.mesh().into_iter().flat_map(|mesh| mesh.primitives());
        parts.all(|part| part.mode() == Mode::Points)
    };
    let is_dust = |node: Node<'_>| node.extension_value(INSTANCING).is_some() || is_points(node);
    is_named && !is_recording && file.nodes().all(is_dust)
}

pub(super) fn primitives(file: &Gltf) -> impl Iterator<Item = Primitive<'_>> {
    file.meshes().flat_map(|mesh| mesh.primitives())
}
