//! Reader of recordings from files of [`write_glb`](super::write_glb).

use std::collections::BTreeMap;
use std::sync::Arc;

use gltf::animation::Channel;
use gltf::animation::util::ReadOutputs;
use gltf::mesh::Mode;
use gltf::{Document, Mesh, Node, Scene};
use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion};
use serde::Deserialize;
use sim::{
    Camera, CameraKey, Coat, Energy, LazySurface, Look, Recording, Stress, Surface, Texture,
    TimedWaypoint, Trace, Track,
};
use thiserror::Error;

use meshfile::glb_file::{GlbError, check_animations, open};
use meshfile::{GlbCoats, ImageError, MeshFileError};

/// Maximum number of frames of a recording, and of poses of all its bodies.
const MAX_FRAMES: usize = 1_000_000;
const MAX_POSES: usize = 1 << 26;
/// Maximum number of poses: a constant plus a multiple of the file size. A resting body needs no
/// keys, so that a few kilobytes could imply millions of poses; a key takes at least 16 bytes.
const FREE_POSES: usize = 1 << 22;
const POSES_PER_BYTE: usize = 4;
/// Largest coordinate whose square fits in 32-bit floats, as renderers require, m.
const FARTHEST: f32 = 1e18;

/// Why a file is not a readable recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GlbReadError {
    /// The file is not readable GLB.
    #[error(transparent)]
    Format(#[from] GlbError),
    /// One of its images is damaged or too large.
    #[error("the image `{name}` {source}")]
    Image {
        /// Its name.
        name: String,
        /// The problem.
        source: ImageError,
    },
    /// It is a rig, whose mesh cannot be split into bodies.
    #[error("has a skinned mesh, which is for other programs: write it without --rig")]
    Rigged,
    /// It contains dust.
    #[error(
        "has points and no bodies, as `--dust` writes for particle systems: give the recording \
         that the same run wrote with -o"
    )]
    Points,
    /// It is GLB, but not written by brisance.
    #[error(
        "was not written by brisance ({lacks}): give a recording of `brisance run` or `fracture`"
    )]
    Foreign {
        /// The missing data.
        lacks: &'static str,
    },
}

#[derive(Deserialize)]
struct SceneExtras {
    fps: f64,
    frames: usize,
    #[serde(default)]
    kinetic: Vec<f64>,
    #[serde(default)]
    potential: Vec<f64>,
    #[serde(default)]
    dissipated: Vec<f64>,
    camera: Option<CameraExtras>,
}

impl SceneExtras {
    /// One value per frame, or none; `None` if the data are malformed.
    fn energies(&self) -> Option<Vec<Energy>> {
        let Self { kinetic, potential, dissipated, frames, .. } = self;
        let lengths = [kinetic.len(), potential.len(), dissipated.len()];
        let rows = kinetic.iter().zip(potential).zip(dissipated);
        let energies = rows.map(|((&kinetic, &potential), &dissipated)| Energy {
            kinetic,
            potential,
            dissipated,
        });
        (lengths == [0; 3] || lengths == [*frames; 3]).then(|| energies.collect())
    }
}

#[derive(Deserialize)]
struct NodeExtras {
    birth: usize,
    end: usize,
    parent: Option<usize>,
    shrinks: Option<usize>,
    #[serde(default)]
    stress: Vec<(usize, f32, f32)>,
}

#[derive(Deserialize)]
struct MeshExtras {
    painted: bool,
}

#[derive(Deserialize)]
struct MaterialExtras {
    material: String,
    #[serde(rename = "colour")]
    color: [f32; 3],
    #[serde(rename = "inner_colour")]
    inner_color: [f32; 3],
    inner: bool,
    #[serde(default)]
    texture: Texture,
    #[serde(default)]
    metallic: f32,
    #[serde(default)]
    transmission: f32,
    #[serde(default = "glass")]
    ior: f32,
    #[serde(default = "opaque")]
    alpha: f32,
    /// Only for materials of a mesh file.
    coat: Option<CoatExtras>,
}

#[derive(Deserialize)]
struct CoatExtras {
    /// Roughness of the body, not of the coat.
    roughness: f32,
}

fn glass() -> f32 {
    1.5
}

fn opaque() -> f32 {
    1.0
}

impl MaterialExtras {
    /// The look; `None` if a value is out of range.
    fn look(self, roughness: f32, coats: Arc<[Coat]>) -> Option<Look> {
        let roughness = self.coat.map_or(roughness, |coat| coat.roughness);
        let Self { material, color, inner_color, texture, ior, .. } = self;
        let Self { metallic, transmission, alpha, .. } = self;
        let shares = [color, inner_color].concat();
        let is_share = |x: &f32| (0.0..=1.0).contains(x);
        let holds = shares.iter().chain([&metallic, &transmission, &alpha]).all(is_share);
        let look = Look {
            material,
            color,
            inner_color,
            roughness,
            metallic,
            texture,
            transmission,
            ior,
            alpha,
            small_pieces: None,
            coats,
        };
        (holds && (1.0..=3.0).contains(&ior)).then_some(look)
    }
}

#[derive(Deserialize)]
struct CameraExtras {
    field: f64,
    follow: Option<usize>,
    /// Time, target and position.
    keys: Vec<[f64; 7]>,
}

impl CameraExtras {
    /// The camera; `None` if a value is out of range.
    fn camera(self, tracks: usize) -> Option<Camera> {
        let Self { field, follow, keys } = self;
        let key = |&[time, x, y, z, a, b, c]: &[f64; 7]| {
            let (at, from) = (Point3::new(x, y, z), Point3::new(a, b, c));
            let holds = [time, x, y, z, a, b, c].iter().all(|x| x.abs() <= 1e9);
            let is_apart = follow.is_some() || (at - from).norm() >= 1e-6;
            (holds && is_apart).then_some(CameraKey { time, at, from })
        };
        let keys: Vec<CameraKey> = keys.iter().map(key).collect::<Option<_>>()?;
        let ascends = keys.is_sorted_by(|a, b| a.time < b.time);
        let holds = (0.01..=2.2).contains(&field) && follow.is_none_or(|track| track < tracks);
        (ascends && holds).then_some(Camera { field, follow, keys })
    }
}

/// The scene of a file that is no rig and no dust.
fn scene_of(file: &Document) -> Result<Scene<'_>, GlbReadError> {
    if file.skins().next().is_some() {
        return Err(GlbReadError::Rigged);
    }
    let scene = file.scenes().next().ok_or(GlbReadError::Foreign { lacks: "it has no scene" })?;
    let mut primitives = file.meshes().flat_map(|mesh| mesh.primitives());
    if scene.extras().is_none() && primitives.any(|part| part.mode() == Mode::Points) {
        return Err(GlbReadError::Points);
    }
    Ok(scene)
}

/// Reads a recording; poses have `f32` precision.
///
/// # Errors
/// [`GlbReadError`] if the file is malformed or lacks data that [`write_glb`](super::write_glb)
/// writes.
pub fn read_glb(bytes: &[u8]) -> Result<Recording, GlbReadError> {
    let file = open(bytes)?;
    check_animations(&file)?;
    let blob = file.blob.as_deref().unwrap_or_default();
    let scene = scene_of(&file)?;
    let extras: SceneExtras = parse(scene.extras())?;
    let SceneExtras { fps, frames, .. } = extras;
    // reject files that would take all memory
    let is_possible = (1..=MAX_FRAMES).contains(&frames) && fps > 0.0 && fps <= 1e9;
    if !is_possible {
        return Err(GlbReadError::Foreign { lacks: "it has no possible number or rate of frames" });
    }
    let energies = extras
        .energies()
        .ok_or(GlbReadError::Foreign { lacks: "it has energies of some frames" })?;
    let mut channels: BTreeMap<usize, Vec<Channel>> = BTreeMap::new();
    for channel in file.animations().flat_map(|a| a.channels()) {
        channels.entry(channel.target().node().index()).or_default().push(channel);
    }
    let (coats, coat_of) = coats(&file)?;
    let mut cache = ReadCache { coats, coat_of, ..ReadCache::default() };
    let mut tracks = vec![];
    let mut lived = 0;
    // nodes outside the scene and children are colliders of a physics scene
    for node in scene.nodes() {
        if node.index() != tracks.len() {
            return Err(GlbReadError::Foreign { lacks: "its scene has nodes out of order" });
        }
        let NodeExtras { birth, end, parent, shrinks, stress } = parse(node.extras())?;
        let wrong_shrinking = shrinks.is_some_and(|s| s <= birth || s > end);
        let wrong_parent = parent.is_some_and(|p| p >= node.index());
        if end < birth || end > frames || wrong_parent || wrong_shrinking {
            return Err(GlbReadError::Foreign { lacks: "a node has impossible frames or parent" });
        }
        let stresses = stresses(&stress, birth..end)
            .ok_or(GlbReadError::Foreign { lacks: "a node has impossible stress" })?;
        lived += end - birth;
        let most = FREE_POSES.saturating_add(POSES_PER_BYTE.saturating_mul(bytes.len()));
        if lived > most.min(MAX_POSES) {
            return Err(GlbReadError::Foreign {
                lacks: "it has more poses than its keys can tell",
            });
        }
        let (lazy_surface, look) = match node.mesh() {
            Some(mesh) => surface_and_look(&mesh, blob, &mut cache)?,
            None => (LazySurface::default(), Arc::default()),
        };
        let own = channels.get(&node.index()).map_or(&[][..], Vec::as_slice);
        let Trace { poses, waypoints } = trace(&node, own, blob, (birth..end, fps))?;
        let name = node.name().unwrap_or_default().to_owned();
        tracks.push(Track {
            name,
            lazy_surface,
            look,
            parent,
            birth,
            taken: 0,
            poses,
            waypoints,
            shrinks,
            stresses,
        });
    }
    let camera = extras.camera.map(|camera| camera.camera(tracks.len()));
    if let Some(None) = camera {
        return Err(GlbReadError::Foreign { lacks: "its camera has impossible numbers" });
    }
    Ok(Recording { fps, frames, tracks, energies, crumbs: Vec::new(), camera: camera.flatten() })
}

fn parse<'a, T: Deserialize<'a>>(extras: &'a gltf::json::Extras) -> Result<T, GlbReadError> {
    let text = extras.as_ref().map(|raw| raw.get()).unwrap_or_default();
    serde_json::from_str(text)
        .map_err(|_| GlbReadError::Foreign { lacks: "its extras lack frames, birth or end" })
}

/// The objects read so far.
#[derive(Default)]
struct ReadCache {
    /// Surfaces by their accessor of positions.
    surfaces: BTreeMap<usize, LazySurface>,
    /// Looks by material.
    looks: BTreeMap<usize, Arc<Look>>,
    /// All coats of the file.
    coats: Arc<[Coat]>,
    /// Coat indices by material.
    coat_of: BTreeMap<usize, u32>,
}

/// Coats, and their indices by material.
type Coats = (Arc<[Coat]>, BTreeMap<usize, u32>);

/// The coats of all meshes of a file, and their indices by material.
fn coats(file: &gltf::Gltf) -> Result<Coats, GlbReadError> {
    let mut alone = |_: &str| Err("a recording holds its images".to_owned());
    let mut coats = GlbCoats::new(file, &mut alone);
    let mut numbers = BTreeMap::new();
    for primitive in file.meshes().flat_map(|mesh| mesh.primitives()) {
        let material = primitive.material();
        let is_coat = extras_of(&material).is_some_and(|extras| extras.coat.is_some());
        let Some(index) = material.index().filter(|_| is_coat) else { continue };
        let number = coats.coat(&material).map_err(|error| match error {
            MeshFileError::Glb(error) => error.into(),
            MeshFileError::Image { name, source } => GlbReadError::Image { name, source },
            _ => GlbReadError::Foreign { lacks: "a material has no possible image" },
        })?;
        numbers.insert(index, number);
    }
    Ok((coats.coats.into(), numbers))
}

/// The surface and look of a mesh of up to two primitives; equal accessors give one surface.
fn surface_and_look(
    mesh: &Mesh,
    blob: &[u8],
    ReadCache { surfaces, looks, coats, coat_of }: &mut ReadCache,
) -> Result<(LazySurface, Arc<Look>), GlbReadError> {
    const LACKS: GlbReadError =
        GlbReadError::Foreign { lacks: "a mesh lacks positions, normals, _REST or indices" };
    let primitive = mesh.primitives().next().ok_or(LACKS)?;
    let material = primitive.material();
    let roughness = material.pbr_metallic_roughness().roughness_factor();
    let look = extras_of(&material).ok_or(LACKS)?.look(roughness, Arc::clone(coats));
    let look = look.ok_or(GlbReadError::Foreign { lacks: "a material has impossible numbers" })?;
    // written by `write_glb` for programs without support for solid textures
    let extras = mesh.extras().as_ref();
    let is_painted = extras
        .and_then(|raw| serde_json::from_str::<MeshExtras>(raw.get()).ok())
        .is_some_and(|extras| extras.painted);
    let look = looks.entry(material.index().unwrap_or(0)).or_insert_with(|| Arc::new(look));
    let key = primitive.get(&gltf::Semantic::Positions).ok_or(LACKS)?.index();
    if let Some(known) = surfaces.get(&key) {
        return Ok((known.clone(), look.clone()));
    }
    let reader = primitive.reader(|_| Some(blob));
    let vertices: Vec<_> = reader.read_positions().ok_or(LACKS)?.collect();
    let normals: Vec<_> = reader.read_normals().ok_or(LACKS)?.collect();
    let rest = primitive.get(&gltf::Semantic::Extras("REST".to_owned())).ok_or(LACKS)?;
    let rest = gltf::accessor::Iter::<[f32; 3]>::new(rest, |_| Some(blob)).ok_or(LACKS)?;
    let uvs = reader.read_tex_coords(0).into_iter().flat_map(|uvs| uvs.into_f32());
    let colors = reader.read_colors(0).into_iter().flat_map(|colors| colors.into_rgba_f32());
    let mut surface = Surface {
        vertices,
        normals,
        rest: rest.collect(),
        uvs: uvs.map(|[u, v]| [u, 1.0 - v]).collect(),
        colors: colors.filter(|_| !is_painted).collect(),
        ..Surface::default()
    };
    for primitive in mesh.primitives() {
        // later primitives share the vertices of the first
        let of = primitive.get(&gltf::Semantic::Positions).map(|accessor| accessor.index());
        if of != Some(key) {
            return Err(GlbReadError::Foreign { lacks: "the parts of a mesh share no vertices" });
        }
        let is_inner = extras_of(&primitive.material()).ok_or(LACKS)?.inner;
        let indices = primitive.reader(|_| Some(blob)).read_indices().ok_or(LACKS)?;
        let indices: Vec<u32> = indices.into_u32().collect();
        let side = if is_inner { &mut surface.inner } else { &mut surface.outer };
        side.extend_from_slice(indices.as_chunks::<3>().0);
        let coat = primitive.material().index().and_then(|index| coat_of.get(&index));
        surface.coats.resize(surface.outer.len(), coat.copied().unwrap_or(u32::MAX));
    }
    if surface.coats.iter().all(|&coat| coat == u32::MAX) {
        surface.coats.clear();
    }
    let Surface { vertices, normals, rest, uvs, colors, .. } = &surface;
    let paint = uvs.as_flattened().iter().chain(colors.as_flattened());
    let places = vertices.iter().chain(normals).chain(rest).flatten();
    if !places.chain(paint).all(|x| x.abs() <= FARTHEST) {
        return Err(GlbReadError::Foreign { lacks: "a vertex is not finite or beyond 1e18 m" });
    }
    let lazy_surface = LazySurface::from(surface);
    surfaces.insert(key, lazy_surface.clone());
    Ok((lazy_surface, look.clone()))
}

fn extras_of(material: &gltf::Material) -> Option<MaterialExtras> {
    serde_json::from_str(material.extras().as_ref()?.get()).ok()
}

/// The pose of a node in each of `frames`, and at keys between them.
fn trace(
    node: &Node,
    channels: &[Channel],
    blob: &[u8],
    (frames, fps): (std::ops::Range<usize>, f64),
) -> Result<Trace, GlbReadError> {
    const LACKS: GlbReadError = GlbReadError::Foreign { lacks: "an animation lacks its keys" };
    let (translation, rotation, _) = node.transform().decomposed();
    let mut translations = (vec![], vec![translation]);
    let mut rotations = (vec![], vec![rotation]);
    for channel in channels {
        let reader = channel.reader(|_| Some(blob));
        let times: Vec<f32> = reader.read_inputs().ok_or(LACKS)?.collect();
        match reader.read_outputs().ok_or(LACKS)? {
            ReadOutputs::Translations(values) => translations = (times, values.collect()),
            ReadOutputs::Rotations(values) => rotations = (times, values.into_f32().collect()),
            _ => {}
        }
    }
    // rounded like the times that the writer computes
    let time_of = |frame: usize| (frame as f64 / fps) as f32;
    let pose = |time: f32| {
        // poses are constant between keys: use the last key at or before the time, or the first
        let [x, y, z] = *held(&translations, time)?;
        let [i, j, k, w] = held(&rotations, time)?.map(f64::from);
        let rotation = UnitQuaternion::try_new(Quaternion::new(w, i, j, k), 0.0)?;
        let is_finite = x.is_finite() && y.is_finite() && z.is_finite();
        let pose = Isometry3::from_parts(Translation3::new(x, y, z).cast(), rotation);
        (is_finite && rotation.coords.iter().all(|x| x.is_finite())).then_some(pose)
    };
    let waypoint = |time: f32| {
        let frame = f64::from(time) * fps;
        // the time in frames of an impact near a frame may round to the frame
        let before = (frame.floor() as usize).clamp(frames.start, frames.end);
        let last = (before.saturating_sub(1)..=before + 1).rev().find(|&n| time_of(n) <= time)?;
        let is_between = (frames.start..frames.end.saturating_sub(1)).contains(&last);
        (is_between && time > time_of(last)).then_some((time, frame))
    };
    let mut times: Vec<(f32, f64)> =
        translations.0.iter().chain(&rotations.0).filter_map(|&time| waypoint(time)).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    times.dedup();
    let waypoints = times
        .into_iter()
        .map(|(time, frame)| Some(TimedWaypoint { time: frame, pose: pose(time)? }))
        .collect::<Option<_>>()
        .ok_or(LACKS)?;
    let poses = frames.map(|frame| pose(time_of(frame))).collect::<Option<_>>().ok_or(LACKS)?;
    Ok(Trace { poses, waypoints })
}

/// The stress of a body in frames of its life, if the frames ascend and the values are finite.
fn stresses(stress: &[(usize, f32, f32)], life: std::ops::Range<usize>) -> Option<Vec<Stress>> {
    let ascend = stress.is_sorted_by(|a, b| a.0 < b.0);
    let entry = |&(frame, principal, von_mises): &(usize, f32, f32)| {
        let holds = life.contains(&frame) && principal.is_finite() && von_mises.is_finite();
        holds.then_some(Stress { frame, principal, von_mises, field: None })
    };
    stress.iter().map(entry).collect::<Option<_>>().filter(|_| ascend)
}

fn held<T>((times, values): &(Vec<f32>, Vec<T>), time: f32) -> Option<&T> {
    values.get(times.partition_point(|&t| t <= time).saturating_sub(1))
}
