//! What bodies bear: the impulse of a blow that breaks them.

use contact::{Bearing, Blow, Field, Shape};
use fracture::{Impact, Material, Section};
use nalgebra::{Point3, UnitVector3, Vector3};
use serde::{Deserialize, Serialize};

use crate::script::event::Trigger;
use crate::world::contact_events::Touching;
use crate::{BodyId, Report, World};

/// When a collision breaks a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// By its material ([`World::set_substance`]), its shape around the blow and what strikes it; see
    /// [`Impact`].
    Material,
    /// At a fixed impulse, N s, wherever and by whatever it is hit.
    Impulse(f64),
}

/// The hardest blow to a body in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strain {
    /// The body.
    pub body: BodyId,
    /// The impulse that it received, or would have received if it had borne it, N s.
    pub impulse: f64,
    /// The impulse that breaks it there, N s.
    pub borne: f64,
}

impl Strain {
    /// How near the body came to breaking: it broke at 1.
    pub fn ratio(&self) -> f64 {
        self.impulse / self.borne
    }
}

/// What breaks a body, found without a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Breaker {
    /// A fall onto flat stone, turned as it is now, m.
    Fall(f64),
    /// A ball of stone of 1 kg that hits its middle at this speed, m/s; of bodies that anchors hold.
    Stone(f64),
}

/// What a body bears in a pass over the collisions of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// Any blow.
    All,
    /// As its [`Strength`] says.
    Own(Strength),
    /// As its [`Strength`] says, but blows up to this multiple of the strength do not break the body: it did not
    /// come apart at one of that size in this frame.
    Above(Strength, f64),
}

/// Radius of a ball of stone of 1 kg, m.
const STONE_RADIUS: f64 = 0.0446;
/// Restitution of stone on something hard.
const STONE_RESTITUTION: f64 = 0.2;
/// Directions across a blow in which a body is measured, in half a turn.
const DIRECTIONS: usize = 6;
/// Most steps along a ray: of bodies that are hundreds of times as wide as thick no more is measured.
const RAY_STEPS: usize = 256;
/// Most steps to a place inside, or to the middle of a body.
const SEARCH_STEPS: usize = 32;
/// Depth per length below which there is no way deeper, as in the middle of a wall.
const FLAT: f64 = 0.2;
/// Distance across the blow at which a surface is compared with its tangent plane, over the least
/// extent of the body across the blow.
const CURVED_OVER: f64 = 0.25;

impl World {
    /// Says what a body is made of: how stiff it is when it strikes others, and what it bears itself
    /// where [`Strength::Material`] decides. Stone unless said. Its pieces are made of the same.
    /// `false` if there is no such body.
    pub fn set_substance(&mut self, id: BodyId, substance: Material) -> bool {
        let Ok(i) = self.ids.binary_search(&id) else { return false };
        self.substances[i] = substance;
        true
    }

    /// What bodies bear in a pass over collisions: as recorded events say, if there are any, else as they are.
    pub(crate) fn laws(&self, cause: Trigger, last: bool, report: &Report) -> Vec<Law> {
        let own = self.own_laws(last, report);
        self.told_laws(cause, &own).unwrap_or(own)
    }

    /// Bodies without a generation left bear any blow, and so do all bodies in the `last` pass. A body that did not
    /// come apart in this frame bears blows up to that size.
    fn own_laws(&self, last: bool, report: &Report) -> Vec<Law> {
        if last {
            return vec![Law::All; self.len()];
        }
        let of = |breakage: &Option<crate::Breakage>| match breakage {
            Some(breakage) if breakage.generations > 0 => Law::Own(breakage.strength),
            _ => Law::All,
        };
        let mut laws: Vec<Law> = self.breakages.iter().map(of).collect();
        let dented = report.dents.iter().map(|dent| &dent.after);
        for id in report.over_budget.iter().chain(dented) {
            if let Ok(i) = self.ids.binary_search(id) {
                laws[i] = Law::All;
            }
        }
        let of = |id: &BodyId| report.strains.iter().find(|strain| strain.body == *id);
        for strain in report.held.iter().filter_map(of) {
            let Ok(i) = self.ids.binary_search(&strain.body) else { continue };
            if let Law::Own(strength) = laws[i] {
                laws[i] = Law::Above(strength, strain.ratio());
            }
        }
        laws
    }

    /// The impulse that one of the bodies of a blow bears, N s: 0 for `a`, 1 for `b`.
    pub(crate) fn breaks_at(&self, laws: &[Law], blow: &Blow, side: usize) -> f64 {
        let own = |strength: Strength| match strength {
            Strength::Impulse(impulse) => impulse,
            Strength::Material => {
                let speed = self.critical_speed(blow, side).unwrap_or(f64::INFINITY);
                blow.impulse.norm() * (speed / blow.approach)
            }
        };
        let body = [blow.a, blow.b][side];
        if blow.struck.is_some_and(|struck| struck != body) {
            return f64::INFINITY;
        }
        match laws[body as usize] {
            Law::All => f64::INFINITY,
            Law::Own(strength) => own(strength),
            Law::Above(strength, ratio) => {
                let borne = own(strength);
                if blow.impulse.norm() / borne > ratio { borne } else { f64::INFINITY }
            }
        }
    }

    /// What breaks a body by [`Strength`] and shape; `None` if it cannot break or nothing of the kind
    /// breaks it.
    pub fn breaker(&self, id: BodyId) -> Option<Breaker> {
        let i = self.ids.binary_search(&id).ok()?;
        let strength = self.breakages[i].as_ref().filter(|b| b.generations > 0)?.strength;
        let down = UnitVector3::try_new(self.settings.gravity, 0.0);
        let (at, inward, mass) = match down.filter(|_| self.anchorages[i].is_none()) {
            Some(down) => {
                let (at, arm) = self.lowest(i, &down)?;
                let mover = self.bodies[i].mass_properties()?;
                let turn = arm.cross(&down);
                let spin = mover.angular_velocity(&self.poses[i].rotation, &turn);
                (at, -down, 1.0 / (1.0 / mover.mass() + turn.dot(&spin)))
            }
            None => {
                let (at, inward) = self.front(i)?;
                (at, inward, 1.0)
            }
        };
        let falls = down.is_some() && self.anchorages[i].is_none();
        let curvature = if falls { 0.0 } else { 1.0 / STONE_RADIUS };
        let speed = match strength {
            Strength::Impulse(impulse) => {
                let restitution = self.materials[i].restitution.min(STONE_RESTITUTION);
                impulse / ((1.0 + restitution) * mass)
            }
            Strength::Material => self.speed_of_stone(i, (&at, &inward), (mass, curvature))?,
        };
        let height = 0.5 * speed * speed / self.settings.gravity.norm();
        let breaker = if falls { Breaker::Fall(height) } else { Breaker::Stone(speed) };
        speed.is_finite().then_some(breaker)
    }

    /// The lowest point of a body, in body coordinates, of those as low the one farthest from their
    /// middle, where a body that lands flat is hit; and the way from its center of mass to this
    /// middle, in world axes.
    fn lowest(&self, i: usize, down: &UnitVector3<f64>) -> Option<(Point3<f64>, Vector3<f64>)> {
        let (shape, turn) = (&self.shapes[i], self.poses[i].rotation);
        let down_in_body = turn.inverse_transform_vector(down);
        let low = |p: &&Point3<f64>| p.coords.dot(&down_in_body);
        let points = self.surface_points(i);
        let lowest = points.iter().map(|p| low(&p)).fold(f64::NEG_INFINITY, f64::max);
        let least = lowest - 1e-3 * shape.radius();
        let all = || points.iter().filter(|p| low(p) >= least);
        let sum: Vector3<f64> = all().map(|p| p.coords).sum();
        let middle = sum / all().count().max(1) as f64;
        let far = |p: &&Point3<f64>| (p.coords - middle).norm_squared();
        let at = all().max_by(|p, q| far(p).total_cmp(&far(q)))?;
        Some((*at, turn * middle))
    }

    /// The point of a body's surface nearest to its center of mass, in body coordinates, and the way
    /// into the body there, in world axes.
    fn front(&self, i: usize) -> Option<(Point3<f64>, UnitVector3<f64>)> {
        let shape = &self.shapes[i];
        let far = |p: &&Point3<f64>| p.coords.norm_squared();
        let points = self.surface_points(i);
        let at = points.iter().min_by(|p, q| far(p).total_cmp(&far(q)))?;
        let inward = self.poses[i].rotation * -shape.field().normal(at);
        Some((*at, UnitVector3::try_new(inward, 0.0)?))
    }

    /// The impulse of a blast on a body that breaks it, N s, as if stone struck it at a point, in body
    /// coordinates, along a direction in world axes and stopped all of its mass; `None` if nothing
    /// breaks it.
    pub(crate) fn bears_blast(
        &self,
        i: usize,
        (at, inward): (&Point3<f64>, &UnitVector3<f64>),
    ) -> Option<f64> {
        let breakage = self.breakages[i].as_ref().filter(|breakage| breakage.generations > 0)?;
        if let Strength::Impulse(impulse) = breakage.strength {
            return Some(impulse);
        }
        let mass = self.mass_of(i)?.mass();
        Some(mass * self.speed_of_stone(i, (at, inward), (mass, 0.0))?)
    }

    /// The speed at which a stone of some curvature, 1/m, breaks a body, m/s, if the effective mass of
    /// both is `mass`, kg.
    fn speed_of_stone(
        &self,
        i: usize,
        (at, inward): (&Point3<f64>, &UnitVector3<f64>),
        (mass, curvature): (f64, f64),
    ) -> Option<f64> {
        let inward = self.poses[i].rotation.inverse_transform_unit_vector(inward);
        let section = self.section(i, at, &inward)?;
        let own = self.curvature(i, (at, &inward), section.width);
        let impact = Impact {
            body: &self.substances[i],
            striker: &Material::STONE,
            section,
            curvature: (own + curvature).max(2.0 / section.width),
            mass,
        };
        Some(impact.critical_speed())
    }

    /// The collision pass: changes paths. Reports the hardest blow to each body that may break.
    pub(crate) fn collide(
        &self,
        frame: contact::Frame<'_>,
        contacts: &contact::Contacts,
        paths: &mut contact::Paths,
        max_strayed: usize,
        (laws, report, told): (&[Law], &mut Report, &mut Vec<Touching>),
    ) -> contact::Collisions {
        let waking = self.waking_impulses();
        let is_told = self.log.is_some();
        let may_break: Vec<bool> = laws
            .iter()
            .zip(&waking)
            .map(|(law, w)| *law != Law::All || w.is_finite() || is_told)
            .collect();
        let borne = &mut |blow: &Blow, _| {
            let borne = self.borne_by_pair(laws, blow, report);
            let borne =
                [borne[0].min(waking[blow.a as usize]), borne[1].min(waking[blow.b as usize])];
            if is_told {
                told.push(self.touching_in(blow, borne));
            }
            borne
        };
        frame.collide(contacts, paths, Bearing { may_break: &may_break, borne, max_strayed })
    }

    /// What bodies give each other through others once the collision pass is over, see
    /// [`contact::Frame::transmit`]: changes momenta, and returns the blows that break bodies.
    pub(crate) fn transmit(
        &self,
        frame: contact::Frame<'_>,
        search: &contact::Search,
        momenta: &mut [dynamics::Momentum],
        (laws, report): (&[Law], &mut Report),
    ) -> Vec<Blow> {
        let may_break: Vec<bool> = laws.iter().map(|law| *law != Law::All).collect();
        let borne = &mut |blow: &Blow, is_met| {
            if is_met {
                self.borne_by_pair(laws, blow, report)
            } else {
                [0, 1].map(|side| self.breaks_at(laws, blow, side))
            }
        };
        frame.transmit(
            search,
            momenta,
            &mut Bearing { may_break: &may_break, borne, max_strayed: usize::MAX },
        )
    }

    /// The impulses that the bodies of a blow bear, N s, each of which is reported with the blow.
    pub(crate) fn borne_by_pair(&self, laws: &[Law], blow: &Blow, report: &mut Report) -> [f64; 2] {
        [(0, blow.a), (1, blow.b)].map(|(side, body)| {
            let borne = self.breaks_at(laws, blow, side);
            if borne.is_finite() {
                let (body, impulse) = (self.ids[body as usize], blow.impulse.norm());
                report.strain(Strain { body, impulse, borne });
            }
            borne
        })
    }

    /// The speed of approach at which a blow breaks one of its bodies, m/s; `None` if the body has no
    /// solid or the blow misses it.
    fn critical_speed(&self, blow: &Blow, side: usize) -> Option<f64> {
        self.meeting(blow, side, |impact| impact.critical_speed())
    }

    /// How long a blow lasts, s; `None` as [`World::critical_speed`].
    pub(crate) fn contact_time(&self, blow: &Blow, side: usize) -> Option<f64> {
        self.meeting(blow, side, |impact| impact.duration(blow.approach))
    }

    /// A quantity of a blow to one of its bodies; `None` if the body has no solid or the blow misses it.
    fn meeting(&self, blow: &Blow, side: usize, of: impl FnOnce(Impact<'_>) -> f64) -> Option<f64> {
        let [i, other] = [[blow.a, blow.b][side], [blow.a, blow.b][1 - side]].map(|i| i as usize);
        // the normal points out of `b`, into `a`
        let inward = if side == 0 { blow.normal } else { -blow.normal };
        let in_body = |side: usize, way: Vector3<f64>| {
            UnitVector3::try_new(blow.rotations[side].inverse_transform_vector(&way), 0.0)
        };
        let own_inward = in_body(side, inward)?;
        let section = self.section(i, &blow.at[side], &own_inward)?;
        let own = self.curvature(i, (&blow.at[side], &own_inward), section.width);
        let across = self.shapes[other].bounds().extents().min();
        let others_inward = in_body(1 - side, -inward)?;
        let others = self.curvature(other, (&blow.at[1 - side], &others_inward), across);
        let impact = Impact {
            body: &self.substances[i],
            striker: &self.substances[other],
            section,
            // surfaces that fit touch no farther than the body reaches
            curvature: (own + others).max(2.0 / section.width),
            mass: blow.mass,
        };
        Some(of(impact))
    }

    /// The extents of a body around a blow at a point and along a direction in body coordinates, through
    /// the middle of what is there along the blow.
    fn section(&self, i: usize, at: &Point3<f64>, inward: &UnitVector3<f64>) -> Option<Section> {
        let geometry = &self.solids[i].as_ref()?.geometry;
        let solid = Measured { shape: &self.shapes[i], cell: geometry.grid().spacing() };
        let below = solid.below(&(at + inward.scale(solid.cell)))?;
        let way = inward.into_inner();
        let (behind, ahead) = (solid.exit(&below, &-way), solid.exit(&below, &way));
        let middle = solid.middle(below + way * (0.5 * (ahead - behind)));
        let extent = |way: Vector3<f64>| solid.exit(&middle, &way) + solid.exit(&middle, &-way);
        let (mut width, mut length) = (f64::INFINITY, 0.0_f64);
        for extent in around(inward).map(extent) {
            (width, length) = (width.min(extent), length.max(extent));
        }
        Some(Section { thickness: extent(way), width, length })
    }

    /// Mean curvature of the surface of a body around a blow, in body coordinates, 1/m: that of the sphere which falls off
    /// as much from the tangent plane, at a share of the extent `across` the blow.
    fn curvature(
        &self,
        i: usize,
        (at, inward): (&Point3<f64>, &UnitVector3<f64>),
        across: f64,
    ) -> f64 {
        let field = self.shapes[i].field();
        let least = match field {
            Field::HalfSpace | Field::Mesh(_) => return 0.0,
            Field::Ball { radius } => return 1.0 / radius,
            Field::Cuboid { .. }
            | Field::Round(_)
            | Field::Hull(_)
            | Field::Hulls(_)
            | Field::Tets(_) => 0.0,
            Field::Grid { level_set, .. } => 2.0 * level_set.grid().spacing(),
        };
        let step = (CURVED_OVER * across).max(least);
        let surface = field.distance(at);
        let drops = around(inward).take(DIRECTIONS).flat_map(|way| [way, -way]);
        let drop = drops.map(|way| field.distance(&(at + way * step)) - surface).sum::<f64>()
            / (2 * DIRECTIONS) as f64;
        // never more than a half ball of that size
        let drop = drop.clamp(-0.4 * step, 0.4 * step);
        2.0 * drop / (step * step - drop * drop)
    }
}

/// A body that is measured.
struct Measured<'a> {
    shape: &'a Shape,
    /// Spacing of the samples, m.
    cell: f64,
}

impl Measured<'_> {
    /// Depth below the surface, m; outside an upper bound of the negative distance.
    fn depth(&self, at: &Point3<f64>) -> f64 {
        -self.shape.field().lower_bound(at)
    }

    fn deepens(&self, at: &Point3<f64>) -> Vector3<f64> {
        Vector3::from_fn(|axis, _| {
            let mut step = Vector3::zeros();
            step[axis] = self.cell;
            (self.depth(&(at + step)) - self.depth(&(at - step))) / (2.0 * self.cell)
        })
    }

    /// A place inside near one that may be at an edge or a little outside; `None` if there is none.
    fn below(&self, at: &Point3<f64>) -> Option<Point3<f64>> {
        let mut place = *at;
        for _ in 0..SEARCH_STEPS {
            let lacks = self.cell - self.depth(&place);
            if lacks <= 0.0 {
                break;
            }
            place += self.deepens(&place) * lacks;
        }
        (self.depth(&place) > 0.0).then_some(place)
    }

    /// The deepest place that going deeper leads to.
    fn middle(&self, from: Point3<f64>) -> Point3<f64> {
        let (mut place, mut depth) = (from, self.depth(&from));
        let mut step = depth.max(self.cell);
        for _ in 0..SEARCH_STEPS {
            let Some(way) = self.deepens(&place).try_normalize(FLAT) else { break };
            let next = place + way * step;
            let deeper = self.depth(&next);
            if deeper > depth {
                (place, depth) = (next, deeper);
            } else {
                step *= 0.5;
            }
            if step < 0.1 * self.cell {
                break;
            }
        }
        place
    }

    /// How far it is from an inner point to the surface, m, as far as rays go.
    fn exit(&self, from: &Point3<f64>, way: &Vector3<f64>) -> f64 {
        if let Field::Hull(hull) = self.shape.field() {
            return hull.exit(from, way);
        }
        let (mut t, mut depth) = (0.0, self.depth(from));
        for _ in 0..RAY_STEPS {
            if depth <= 0.0 {
                break;
            }
            let step = depth.max(0.25 * self.cell);
            let next = self.depth(&(from + way * (t + step)));
            if next <= 0.0 {
                return t + step * depth / (depth - next);
            }
            (t, depth) = (t + step, next);
        }
        t
    }
}

/// Directions at right angles to a unit vector, evenly over half a turn.
fn around(axis: &Vector3<f64>) -> impl Iterator<Item = Vector3<f64>> {
    // cos and sin of 0, 30, ... 150 degrees
    const S: f64 = 0.866_025_403_784_438_6;
    const TURNS: [[f64; 2]; DIRECTIONS] =
        [[1.0, 0.0], [S, 0.5], [0.5, S], [0.0, 1.0], [-0.5, S], [-S, 0.5]];
    let mut other = Vector3::zeros();
    other[axis.iamin()] = 1.0;
    let first = axis.cross(&other).normalize();
    let second = axis.cross(&first);
    TURNS.into_iter().map(move |[x, y]| first * x + second * y)
}
