//! Materials as `UsdPreviewSurface`, and images beside the file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sim::{Coat, Image, Look, Opacity, Recording, Track, Wrap};

use super::Names;
use crate::output::write_whole;

/// The looks of a recording and the names of their materials.
pub(crate) struct Looks<'r> {
    looks: Vec<&'r Look>,
    names: Vec<MaterialNames>,
    /// Each once, with the name of its file.
    images: Vec<(&'r Image, String)>,
    /// The folder of the images, beside the file.
    folder: String,
}

/// The names of the prims of the materials of a look.
pub(crate) struct MaterialNames {
    pub(super) outer: String,
    pub(super) inner: String,
    pub(super) coats: Vec<String>,
}

/// The folder of the images of a file.
fn folder_of_images(path: &Path) -> PathBuf {
    // an address of USD ends at the sign that begins it
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().replace('@', "_");
    path.with_file_name(format!("{stem}_textures"))
}

impl<'r> Looks<'r> {
    /// Those of a recording in a file that is to be at `path`.
    pub(crate) fn of(recording: &'r Recording, path: &Path) -> Self {
        let mut looks: Vec<&Look> = vec![];
        for track in &recording.tracks {
            if !looks.contains(&&*track.look) {
                looks.push(&track.look);
            }
        }
        let mut names = Names::default();
        let mut all = |look: &&Look| {
            let Look { material, coats, .. } = look;
            MaterialNames {
                outer: names.of(material),
                inner: names.of(&format!("{material} inside")),
                coats: coats.iter().map(|coat| names.of(&coat.name)).collect(),
            }
        };
        let names = looks.iter().map(&mut all).collect();
        let mut images: Vec<(&Image, String)> = vec![];
        let mut files = Names::default();
        let coats = looks.iter().flat_map(|look| look.coats.iter());
        for image in coats.filter_map(|coat| coat.image.as_ref()) {
            if !images.iter().any(|(known, _)| *known == image) {
                let file = format!("{}.{}", files.of(&image.name), image.kind.extension());
                images.push((image, file));
            }
        }
        let folder = folder_of_images(path);
        let folder = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { looks, names, images, folder }
    }

    pub(crate) fn names(&self, track: &Track) -> &MaterialNames {
        let look = self.looks.iter().position(|look| **look == *track.look).unwrap_or(0);
        &self.names[look]
    }

    /// A material for the surface, one for each coat and one for cuts of each look.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "    def Scope \"Looks\"\n    {{")?;
        for (look, names) in self.looks.iter().zip(&self.names) {
            for (path, color) in [(&names.outer, look.color), (&names.inner, look.inner_color)] {
                start(path, &look.material, out)?;
                let [r, g, b] = color;
                writeln!(out, "                color3f inputs:diffuseColor = ({r}, {g}, {b})")?;
                writeln!(out, "                float inputs:roughness = {}", look.roughness)?;
                writeln!(out, "                token outputs:surface")?;
                writeln!(out, "            }}\n        }}")?;
            }
            for (path, coat) in names.coats.iter().zip(&*look.coats) {
                self.write_coat(path, coat, look, out)?;
            }
        }
        writeln!(out, "    }}")
    }

    fn write_coat(
        &self,
        path: &str,
        coat: &Coat,
        look: &Look,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Coat { name, color: [r, g, b, alpha], metallic, opacity, .. } = coat;
        let image = coat.image.as_ref();
        let file = image.and_then(|image| self.images.iter().find(|(known, _)| *known == image));
        let texture = format!("</World/Looks/{path}/Image.outputs");
        start(path, name, out)?;
        match file {
            Some(_) => {
                writeln!(
                    out,
                    "                color3f inputs:diffuseColor.connect = {texture}:rgb>"
                )?;
            }
            None => writeln!(out, "                color3f inputs:diffuseColor = ({r}, {g}, {b})")?,
        }
        if *opacity != Opacity::Opaque {
            match file {
                Some(_) => {
                    writeln!(out, "                float inputs:opacity.connect = {texture}:a>")?;
                }
                None => writeln!(out, "                float inputs:opacity = {alpha}")?,
            }
        }
        if let Opacity::Mask(cutoff) = opacity {
            writeln!(out, "                float inputs:opacityThreshold = {cutoff}")?;
        }
        let roughness = coat.roughness.unwrap_or(look.roughness);
        writeln!(out, "                float inputs:roughness = {roughness}")?;
        writeln!(out, "                float inputs:metallic = {metallic}")?;
        writeln!(out, "                token outputs:surface")?;
        writeln!(out, "            }}")?;
        if let Some((_, file)) = file {
            texture_shaders(path, (&self.folder, file), coat, out)?;
        }
        writeln!(out, "        }}")
    }

    /// Writes the images beside the file at `path`, each whole or not at all.
    pub(crate) fn write_images(&self, path: &Path) -> io::Result<()> {
        let folder = folder_of_images(path);
        if !self.images.is_empty() {
            std::fs::create_dir_all(&folder)?;
        }
        for (image, file) in &self.images {
            write_whole(&folder.join(file), |out| out.write_all(&image.bytes))?;
        }
        Ok(())
    }
}

/// A material up to the inputs of its shader.
fn start(path: &str, name: &str, out: &mut impl Write) -> io::Result<()> {
    let name = serde_json::Value::from(name);
    writeln!(out, "        def Material \"{path}\" (\n            displayName = {name}")?;
    writeln!(out, "        )\n        {{")?;
    let output = format!("</World/Looks/{path}/Shader.outputs:surface>");
    writeln!(out, "            token outputs:surface.connect = {output}")?;
    writeln!(out, "            def Shader \"Shader\"\n            {{")?;
    writeln!(out, "                uniform token info:id = \"UsdPreviewSurface\"")
}

/// What reads the texture coordinates, and the image there times the color of the coat.
fn texture_shaders(
    path: &str,
    (folder, file): (&str, &str),
    coat: &Coat,
    out: &mut impl Write,
) -> io::Result<()> {
    let [r, g, b, a] = coat.color;
    let [s, t] = coat.wrap.map(|wrap| match wrap {
        Wrap::Repeat => "repeat",
        Wrap::Mirror => "mirror",
        Wrap::Clamp => "clamp",
    });
    writeln!(out, "            def Shader \"Image\"\n            {{")?;
    writeln!(out, "                uniform token info:id = \"UsdUVTexture\"")?;
    writeln!(out, "                asset inputs:file = @./{folder}/{file}@")?;
    writeln!(out, "                token inputs:sourceColorSpace = \"sRGB\"")?;
    writeln!(out, "                token inputs:wrapS = \"{s}\"")?;
    writeln!(out, "                token inputs:wrapT = \"{t}\"")?;
    writeln!(out, "                float4 inputs:scale = ({r}, {g}, {b}, {a})")?;
    let coordinates = format!("</World/Looks/{path}/Coordinates.outputs:result>");
    writeln!(out, "                float2 inputs:st.connect = {coordinates}")?;
    writeln!(out, "                float3 outputs:rgb\n                float outputs:a")?;
    writeln!(out, "            }}")?;
    writeln!(out, "            def Shader \"Coordinates\"\n            {{")?;
    writeln!(out, "                uniform token info:id = \"UsdPrimvarReader_float2\"")?;
    writeln!(out, "                string inputs:varname = \"st\"")?;
    writeln!(out, "                float2 outputs:result\n            }}")
}
