//! Options of commands that sample a mesh.

use std::ops::RangeInclusive;
use std::path::Path;

use clap::Args;
use sim::scene::{Collide, MAX_NODES, MIN_NODES, Mesh, MeshSign};

use super::value::positive;

/// Number of nodes of a level set.
const NODES: RangeInclusive<i64> = MIN_NODES as i64..=MAX_NODES as i64;

/// Sampling of a mesh.
#[derive(Args, Clone, Debug)]
pub struct Sampling {
    /// Distance between nodes of the level set, in the mesh's units [default: 100,000 nodes, or up to
    /// 2,000,000 for thin walls]
    #[arg(long, value_name = "SIZE", value_parser = positive, conflicts_with = "nodes")]
    #[arg(allow_hyphen_values = true)]
    pub spacing: Option<f64>,
    /// Maximum number of nodes of the level set
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(NODES))]
    pub nodes: Option<u32>,
    /// Definition of the inside of the mesh: auto, strict (closed meshes only) or winding (winding
    /// numbers) [default: auto]
    #[arg(long, value_name = "SIGN", value_parser = sign)]
    pub sign: Option<MeshSign>,
}

impl Sampling {
    /// The `mesh` shape of a scene with these options, for the file at `path`.
    pub fn spec(&self, path: &Path) -> Mesh {
        Mesh {
            file: path.display().to_string(),
            size: None,
            spacing: self.spacing,
            nodes: self.nodes.map(|nodes| nodes as usize),
            sign: self.sign.unwrap_or_default(),
            mirror: None,
            collide: Collide::Samples,
        }
    }

    /// The first given option.
    pub fn given(&self) -> Option<&'static str> {
        let Self { spacing, nodes, sign } = self;
        let options = [
            ("--spacing", spacing.is_some()),
            ("--nodes", nodes.is_some()),
            ("--sign", sign.is_some()),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

fn sign(text: &str) -> Result<MeshSign, String> {
    match text {
        "auto" => Ok(MeshSign::Auto),
        "strict" => Ok(MeshSign::Strict),
        "winding" => Ok(MeshSign::Winding),
        _ => Err("give auto, strict or winding".to_owned()),
    }
}
