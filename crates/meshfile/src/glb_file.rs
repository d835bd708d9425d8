//! GLB files with validation: the library that reads them trusts accessors.

use gltf::accessor::{DataType, Dimensions};
use gltf::json::Root;
use gltf::json::accessor::Accessor;
use gltf::json::validation::Checked;
use gltf::{Document, Gltf, Semantic, binary};
use thiserror::Error;

/// Why bytes are not a readable GLB file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GlbError {
    /// They are not a GLB file, or a truncated one.
    #[error("is not a GLB file, or damaged ({0}): export it again")]
    Damaged(String),
    /// A part of the file violates the format.
    #[error("{part} {problem}: export the file again")]
    Part {
        /// The part.
        part: String,
        /// A description of the problem.
        problem: String,
    },
    /// There are more vertices or indices than the limit.
    #[error(
        "makes too many vertices or indices: simplify its meshes, or let fewer nodes draw them"
    )]
    TooLarge,
}

/// Maximum number of vertices, and of indices, of all primitives together.
pub const MAX_ELEMENTS: usize = 1 << 26;

/// The extension that draws a mesh many times.
pub const INSTANCING: &str = "EXT_mesh_gpu_instancing";

/// Extensions without which only images are lost; these are reported where they are used.
const IMAGES: [&str; 4] =
    ["EXT_texture_avif", "EXT_texture_webp", "KHR_texture_basisu", "MSFT_texture_dds"];

impl From<gltf::Error> for GlbError {
    fn from(error: gltf::Error) -> Self {
        // the lines after the first list further errors
        let text = match error {
            gltf::Error::Validation(faults) => {
                let fault = faults.first();
                fault.map_or_else(String::new, |(path, fault)| {
                    format!("{path}: {}", fault.to_string().to_lowercase())
                })
            }
            gltf::Error::Binary(
                binary::Error::Length { .. }
                | binary::Error::ChunkLength { .. }
                | binary::Error::Io(_),
            ) => "it ends too early".to_owned(),
            other => other.to_string(),
        };
        Self::Damaged(text.lines().next().unwrap_or_default().to_owned())
    }
}

/// Whether bytes start like a GLB file.
pub fn is_glb(bytes: &[u8]) -> bool {
    bytes.starts_with(b"glTF")
}

/// Opens a GLB file and validates its meshes: accessors have types that the format allows, lie
/// within the file and have one entry per vertex, and indices refer to existing vertices.
///
/// # Errors
/// [`GlbError`] if validation fails.
pub fn open(bytes: &[u8]) -> Result<Gltf, GlbError> {
    // the library would parse other bytes as JSON
    if !is_glb(bytes) {
        return Err(GlbError::Damaged("it does not start with `glTF`".to_owned()));
    }
    // the library subtracts the header from this length
    let length = bytes.get(8..12).and_then(|length| length.try_into().ok());
    if length.is_none_or(|length| u32::from_le_bytes(length) < 12) {
        return Err(GlbError::Damaged("its header is cut off".to_owned()));
    }
    let Gltf { document, blob } = Gltf::from_slice_without_validation(bytes)?;
    let mut root = document.into_json();
    root.extensions_required.retain(|name| !IMAGES.contains(&name.as_str()));
    // the library's own validation looks these up
    let count = root.accessors.len();
    for (number, mesh) in root.meshes.iter().enumerate() {
        let named = mesh.primitives.iter().flat_map(|p| p.attributes.values());
        if named.into_iter().any(|accessor| accessor.value() >= count) {
            return Err(wrong(format!("mesh {number}"), "names an accessor that is not there"));
        }
    }
    let file = Gltf { document: Document::from_json(root)?, blob };
    Checker::of(&file).meshes(&file)?;
    Ok(file)
}

/// Rejects animations that cannot be read.
///
/// # Errors
/// [`GlbError`] if a channel targets a missing node or has keys of a wrong type.
pub fn check_animations(file: &Gltf) -> Result<(), GlbError> {
    use DataType::{F32, I8, I16, U8, U16};
    use Dimensions::{Scalar, Vec3, Vec4};
    use gltf::animation::Property;
    let checker = Checker::of(file);
    let root = checker.root;
    for (number, animation) in root.animations.iter().enumerate() {
        for channel in &animation.channels {
            let part = |what: &str| format!("{what} of animation {number}");
            let Checked::Valid(path) = channel.target.path else {
                return Err(wrong(part("a channel"), "moves what the format does not know"));
            };
            if channel.target.node.value() >= root.nodes.len() {
                return Err(wrong(part("a channel"), "moves a node that is not there"));
            }
            let Some(sampler) = animation.samplers.get(channel.sampler.value()) else {
                return Err(wrong(part("a channel"), "names a sampler that is not there"));
            };
            let (dimensions, types): (&[Dimensions], &[DataType]) = match path {
                Property::Translation | Property::Scale => (&[Vec3], &[F32]),
                Property::Rotation => (&[Vec4], &[F32, I8, U8, I16, U16]),
                Property::MorphTargetWeights => (&[Scalar], &[F32, I8, U8, I16, U16]),
            };
            checker.accessor(&part("times"), sampler.input.value(), &[Scalar], &[F32])?;
            checker.accessor(&part("keys"), sampler.output.value(), dimensions, types)?;
        }
    }
    Ok(())
}

/// Rejects points whose diameters or displacements cannot be read.
///
/// # Errors
/// [`GlbError`] if the attribute `_SIZE` or a morph target of a mesh has a wrong type, or another
/// number of entries than its vertices.
pub fn check_points(file: &Gltf) -> Result<(), GlbError> {
    let checker = Checker::of(file);
    let size = Checked::Valid(Semantic::Extras("SIZE".to_owned()));
    for (number, mesh) in checker.root.meshes.iter().enumerate() {
        for primitive in &mesh.primitives {
            let positions = primitive.attributes.get(&Checked::Valid(Semantic::Positions));
            let vertices = positions.and_then(|at| checker.root.accessors.get(at.value()));
            let sizes = primitive.attributes.get(&size).map(|at| (at, Dimensions::Scalar, "sizes"));
            let targets = primitive.targets.iter().flatten();
            let targets = targets.filter_map(|target| target.positions.as_ref());
            let targets = targets.map(|at| (at, Dimensions::Vec3, "a morph target"));
            for (at, kind, what) in sizes.into_iter().chain(targets) {
                let part = format!("{what} of mesh {number}");
                let count = checker.accessor(&part, at.value(), &[kind], &[DataType::F32])?;
                if vertices.is_none_or(|vertices| vertices.count.0 != count as u64) {
                    return Err(wrong(part, "has not as many entries as there are vertices"));
                }
            }
        }
    }
    Ok(())
}

/// Rejects instances of meshes whose places or scales cannot be read.
///
/// # Errors
/// [`GlbError`] if a node with the extension [`INSTANCING`] has attributes of a wrong type.
pub fn check_instances(file: &Gltf) -> Result<(), GlbError> {
    let checker = Checker::of(file);
    for node in file.nodes() {
        let Some(attributes) = node.extension_value(INSTANCING).and_then(|of| of.get("attributes"))
        else {
            continue;
        };
        for name in ["TRANSLATION", "SCALE"] {
            let Some(number) = attributes.get(name) else { continue };
            let part = format!("{name} of the instances of node {}", node.index());
            let number = number.as_u64().and_then(|number| usize::try_from(number).ok());
            let number =
                number.ok_or_else(|| wrong(part.clone(), "is not the number of an accessor"))?;
            checker.accessor(&part, number, &[Dimensions::Vec3], &[DataType::F32])?;
        }
    }
    Ok(())
}

/// The bytes of a view, if they are in the file itself.
pub fn view_bytes<'a>(root: &Root, blob: &'a [u8], view: usize) -> Option<&'a [u8]> {
    let view = root.buffer_views.get(view)?;
    let buffer = root.buffers.get(view.buffer.value())?;
    // only the first buffer can be in the file itself
    if buffer.uri.is_some() || view.buffer.value() > 0 {
        return None;
    }
    let start = usize::try_from(view.byte_offset.unwrap_or_default().0).ok()?;
    let end = start.checked_add(usize::try_from(view.byte_length.0).ok()?)?;
    blob.get(start..end)
}

fn wrong(part: String, problem: impl Into<String>) -> GlbError {
    GlbError::Part { part, problem: problem.into() }
}

/// The data that accessors are validated against.
struct Checker<'a> {
    root: &'a Root,
    /// The bytes in the file.
    blob: &'a [u8],
}

impl<'a> Checker<'a> {
    fn of(file: &'a Gltf) -> Self {
        Self { root: file.as_json(), blob: file.blob.as_deref().unwrap_or_default() }
    }

    fn meshes(&self, file: &Gltf) -> Result<(), GlbError> {
        let mut sizes = [0_usize; 2];
        for (number, mesh) in file.meshes().enumerate() {
            for primitive in mesh.primitives() {
                let vertices = self.attributes(number, &primitive)?;
                let indices = self.indices(number, &primitive, vertices)?;
                for (size, more) in sizes.iter_mut().zip([vertices, indices]) {
                    *size = size.saturating_add(more);
                }
            }
        }
        if sizes.iter().any(|&size| size > MAX_ELEMENTS) { Err(GlbError::TooLarge) } else { Ok(()) }
    }

    /// The number of vertices.
    fn attributes(&self, mesh: usize, primitive: &gltf::Primitive) -> Result<usize, GlbError> {
        use DataType::{F32, U8, U16};
        use Dimensions::{Vec2, Vec3, Vec4};
        let mut vertices = None;
        for (semantic, accessor) in primitive.attributes() {
            let (dimensions, types): (&[Dimensions], &[DataType]) = match &semantic {
                Semantic::Positions | Semantic::Normals => (&[Vec3], &[F32]),
                Semantic::TexCoords(_) => (&[Vec2], &[F32, U8, U16]),
                Semantic::Colors(0) => (&[Vec3, Vec4], &[F32, U8, U16]),
                Semantic::Extras(name) if name == "REST" => (&[Vec3], &[F32]),
                // other attributes are not read
                _ => continue,
            };
            let part = format!("{} of mesh {mesh}", semantic.to_string());
            let count = self.accessor(&part, accessor.index(), dimensions, types)?;
            if *vertices.get_or_insert(count) != count {
                return Err(wrong(part, "has not as many entries as there are vertices"));
            }
        }
        Ok(vertices.unwrap_or(0))
    }

    /// The number of indices.
    fn indices(
        &self,
        mesh: usize,
        primitive: &gltf::Primitive,
        vertices: usize,
    ) -> Result<usize, GlbError> {
        use DataType::{U8, U16, U32};
        let Some(accessor) = primitive.indices() else { return Ok(vertices) };
        let part = format!("the indices of mesh {mesh}");
        let types = [U8, U16, U32];
        let count = self.accessor(&part, accessor.index(), &[Dimensions::Scalar], &types)?;
        let read = primitive.reader(|_| Some(self.blob)).read_indices();
        let mut indices = read.into_iter().flat_map(|indices| indices.into_u32());
        match indices.find(|&v| v as usize >= vertices) {
            Some(v) => Err(wrong(part, format!("name vertex {v}, but there are only {vertices}"))),
            None => Ok(count),
        }
    }

    /// The number of entries of an accessor that lies within the file and has one of the given
    /// types.
    fn accessor(
        &self,
        part: &str,
        number: usize,
        dimensions: &[Dimensions],
        types: &[DataType],
    ) -> Result<usize, GlbError> {
        let fault = |problem: &str| wrong(format!("accessor {number}, {part},"), problem);
        let accessor = self.root.accessors.get(number).ok_or_else(|| fault("is not there"))?;
        let (Checked::Valid(kind), Checked::Valid(component)) =
            (accessor.type_, accessor.component_type)
        else {
            return Err(fault("is of a type that the format does not know"));
        };
        if !dimensions.contains(&kind) || !types.contains(&component.0) {
            return Err(fault("is of a type that it must not be of"));
        }
        let size = kind.multiplicity() * component.0.size();
        if self.lies_within(accessor, size).is_none() {
            return Err(fault("is empty or does not lie within the file"));
        }
        usize::try_from(accessor.count.0).map_err(|_| fault("is too long"))
    }

    /// `Some` if all values of an accessor, of the given size in bytes, are present.
    fn lies_within(&self, accessor: &Accessor, size: usize) -> Option<()> {
        let offset = accessor.byte_offset.unwrap_or_default().0;
        // sparse accessors store the few nonzero values, and may have any count
        self.stretch(accessor.buffer_view?.value(), offset, accessor.count.0, size)?;
        let Some(sparse) = &accessor.sparse else { return Some(()) };
        let (indices, values) = (&sparse.indices, &sparse.values);
        let Checked::Valid(component) = indices.component_type else { return None };
        let (count, index) = (sparse.count.0, component.0.size());
        self.stretch(indices.buffer_view.value(), indices.byte_offset.0, count, index)?;
        self.stretch(values.buffer_view.value(), values.byte_offset.0, count, size)
    }

    /// `Some` if a view lies within the file and holds the given number of values of the given size
    /// in bytes.
    fn stretch(&self, view: usize, offset: u64, count: u64, size: usize) -> Option<()> {
        let view = self.root.buffer_views.get(view)?;
        let buffer = self.root.buffers.get(view.buffer.value())?;
        // only the first buffer can be in the file itself
        if buffer.uri.is_some() || view.buffer.value() > 0 {
            return None;
        }
        let size = size as u64;
        let stride = view.byte_stride.map_or(size, |stride| stride.0 as u64);
        let last = count.checked_sub(1)?.checked_mul(stride)?.checked_add(size)?;
        let end = offset.checked_add(last)?;
        let view_end = view.byte_offset.unwrap_or_default().0.checked_add(view.byte_length.0)?;
        let fits =
            stride >= size && end <= view.byte_length.0 && view_end <= self.blob.len() as u64;
        fits.then_some(())
    }
}
