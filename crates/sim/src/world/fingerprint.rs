//! Hashes of worlds: of their full state, which determines their future, and of their motion alone.

use std::io::{self, Write};

use contact::{Field, Material, Shape};
use dynamics::{Body, Velocity};
use levelset::{LevelSet, TetMesh};
use nalgebra::{Isometry3, Vector3};

use crate::{
    Breakage, FixedPattern, FractureModel, NextPattern, Placement, Solid, Strength, World,
};

/// Constants of FNV-1a.
const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a (Fowler, Noll and Vo) over words instead of bytes.
struct Digest(u64);

impl Digest {
    fn word(&mut self, word: u64) {
        // a product moves bits up only; the shift moves the high ones down
        let mixed = (self.0 ^ word).wrapping_mul(PRIME);
        self.0 = mixed ^ (mixed >> 29);
    }

    fn numbers<'a>(&mut self, numbers: impl IntoIterator<Item = &'a f64>) {
        numbers.into_iter().for_each(|x| self.word(x.to_bits()));
    }

    fn pose(&mut self, pose: &Isometry3<f64>) {
        self.numbers(pose.translation.vector.iter().chain(pose.rotation.coords.iter()));
    }

    fn text(&mut self, text: &str) {
        // `usize::MAX` means no limit, on 32-bit targets, too
        let text = text.replace(&usize::MAX.to_string(), &u64::MAX.to_string());
        text.bytes().for_each(|byte| self.word(byte.into()));
    }

    fn solid(&mut self, level_set: &LevelSet) {
        let grid = level_set.grid();
        grid.dims().iter().for_each(|&n| self.word(n as u64));
        self.numbers(&[grid.spacing()]);
        self.numbers(grid.bounds().min.iter());
        level_set.as_slice().iter().for_each(|value| self.word(u64::from(value.to_bits())));
    }

    fn shape(&mut self, shape: &Shape) {
        match shape.field() {
            Field::HalfSpace => self.word(0),
            Field::Ball { radius } => self.numbers(&[1.0, *radius]),
            Field::Cuboid { half } => self.numbers(half),
            Field::Round(round) => {
                let [low, high] = round.rims();
                self.numbers(&[3.0, low.height, low.radius, high.height, high.radius]);
                self.numbers(&[round.rounding()]);
            }
            Field::Mesh(triangles) => {
                self.numbers(&[2.0, triangles.thickness()]);
                let mesh = triangles.mesh();
                mesh.vertices.iter().for_each(|p| self.numbers(p.iter()));
                mesh.triangles.iter().flatten().for_each(|&v| self.word(v.into()));
            }
            Field::Hull(hull) => {
                hull.mesh().vertices.iter().for_each(|p| self.numbers(p.iter()));
            }
            Field::Hulls(hulls) => {
                let meshes = hulls.iter().map(levelset::ConvexHull::mesh);
                meshes.flat_map(|mesh| &mesh.vertices).for_each(|p| self.numbers(p.iter()));
            }
            Field::Tets(tets) => {
                let mesh = tets.mesh();
                mesh.vertices.iter().for_each(|p| self.numbers(p.iter()));
                mesh.tets.iter().flatten().for_each(|&v| self.word(v.into()));
            }
            Field::Grid { level_set, material } => {
                self.solid(level_set);
                self.pose(material);
            }
        }
        shape.points().iter().for_each(|p| self.numbers(p.iter()));
    }

    /// The fracture model of a body, without the value of a fixed break impulse.
    fn breakage(&mut self, breakage: &Breakage) {
        if breakage.strength == Strength::Material {
            self.text("by material");
        }
        self.word(u64::from(breakage.generations));
        self.numbers(&[breakage.min_share, breakage.min_size]);
        if let Some(bonds) = &breakage.bonds {
            self.numbers(&[bonds.strength, bonds.duration]);
        }
        match &breakage.model {
            FractureModel::Prescored(pattern, placement) => {
                if *placement == Placement::Snapped {
                    self.text("snapped");
                }
                // writing to a digest cannot fail
                let _ = pattern.write(self);
            }
            FractureModel::Fixed(fixed) => self.fixed(fixed),
            FractureModel::Lattice(latticed) => {
                let model = latticed.model();
                self.text(&format!("{model:?}"));
                // long lists are not printed in full
                let stencils = model.stencil.iter();
                stencils.for_each(|stencil| self.numbers(stencil.factors.iter()));
                latticed.mesh().into_iter().for_each(|mesh| self.tets(mesh));
                let lattice = latticed.lattice();
                lattice.into_iter().for_each(|lattice| self.numbers(lattice.strengths()));
            }
            FractureModel::Stress(elastic) => {
                self.text(&format!("{:?}", elastic.model()));
                elastic.mesh().into_iter().for_each(|mesh| self.tets(mesh));
            }
        }
    }

    fn fixed(&mut self, fixed: &FixedPattern) {
        self.text("fixed");
        let at = fixed.at.transform();
        self.pose(&at.isometry);
        self.numbers(&[at.scaling()]);
        // writing to a digest cannot fail
        let _ = fixed.pattern.write(&mut *self);
        match &fixed.then {
            None => {}
            Some(NextPattern::Centered(next)) => {
                self.numbers(&[next.min_share, f64::from(next.placement as u8)]);
                let _ = next.pattern.write(&mut *self);
            }
            Some(NextPattern::Level(level)) => {
                if level.strength == Strength::Material {
                    self.text("by material");
                }
                self.numbers(&[level.min_share]);
                if let Some(bonds) = &level.bonds {
                    self.numbers(&[bonds.strength, bonds.duration]);
                }
                self.fixed(&level.pattern);
            }
        }
    }

    fn tets(&mut self, mesh: &TetMesh) {
        mesh.vertices.iter().for_each(|p| self.numbers(p.iter()));
        mesh.tets.iter().flatten().for_each(|&v| self.word(v.into()));
    }
}

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|byte| self.word(u64::from(*byte)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl World {
    /// A hash of the full state, without the fixed break impulses of bodies. Worlds with different
    /// futures have different hashes, with high probability.
    pub fn fingerprint(&self) -> u64 {
        let mut digest = Digest(OFFSET_BASIS);
        digest.text(&format!("{:?}{:?}", self.settings, self.script.timeline));
        let mut last: Option<&Shape> = None;
        for state in self.iter() {
            digest.word(state.id.number());
            match state.body {
                Body::Static => digest.word(0),
                Body::Dynamic(mass) => digest.numbers(&[mass.mass()]),
                Body::Kinematic(Velocity { linear, angular }) => {
                    digest.numbers(linear.iter().chain(angular));
                }
            }
            digest.pose(state.pose);
            let momentum: [&Vector3<f64>; 2] = [&state.momentum.linear, &state.momentum.angular];
            momentum.iter().for_each(|v| digest.numbers(v.iter()));
            // copies share their shape and breakage
            if last.is_none_or(|last| !std::ptr::eq(last, &**state.shape)) {
                digest.shape(state.shape);
                if let Some(Solid { geometry, material }) = state.solid {
                    geometry.digest(|word| digest.word(word));
                    digest.pose(material);
                }
                state.breakage.into_iter().for_each(|breakage| digest.breakage(breakage));
            }
            last = Some(state.shape);
        }
        for material in &self.materials {
            let Material { restitution, friction, rolling_friction, spinning_friction, .. } =
                material;
            digest.numbers(&[*restitution, *friction, *rolling_friction, *spinning_friction]);
            for rule in [material.restitution_rule, material.friction_rule] {
                digest.word(rule.map_or(0, |rule| 1 + rule as u64));
            }
        }
        for own in &self.details {
            digest.text(&format!("{:?}", own.solid_material));
        }
        digest.0
    }

    /// FNV-1a hash (Fowler, Noll and Vo) of the bits of all poses and momenta, the same on every
    /// platform.
    pub fn motion_hash(&self) -> u64 {
        let mut hash = OFFSET_BASIS;
        for body in self.iter() {
            let pose = body.pose.translation.vector.iter().chain(body.pose.rotation.coords.iter());
            let momentum = body.momentum.linear.iter().chain(&body.momentum.angular);
            for byte in pose.chain(momentum).flat_map(|x| x.to_bits().to_le_bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
            }
        }
        hash
    }
}
