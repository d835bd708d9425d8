//! The bytes of a frame for JavaScript.

use meshfile::page::{Coats, Geometries, appearance, image_head, write_head, write_pose};
use nalgebra::Isometry3;
use serde_json::{Value, json};
use sim::{BodyId, Recorder, Track, Waypoint, World};

/// The bodies and geometries that the page has received.
#[derive(Debug, Default)]
pub(crate) struct SentState {
    bodies: Vec<BodyId>,
    geometries: Geometries,
    coats: Coats,
}

impl SentState {
    /// Bodies added and removed since the last call, and all poses, as little-endian bytes.
    ///
    /// The order is:
    ///
    /// 1. a header ([`write_head`]), `head` extended by the keys below;
    /// 2. new geometries ([`meshfile::page::Packed`]);
    /// 3. the pose ([`write_pose`]) of each body of the key `ids`;
    /// 4. the pose of each new body at the end of the previous frame, as a part of its parent;
    /// 5. for each collision of the key `corners` (indices into `ids`, per body in order of time),
    ///    the fraction of the frame at the collision, `f32`, and the pose at that time;
    /// 6. the file bytes of each new image of the header.
    pub(crate) fn frame(
        &mut self,
        world: &World,
        recorder: &Recorder,
        hidden: Option<BodyId>,
        mut head: Value,
    ) -> Vec<u8> {
        let ids: Vec<BodyId> =
            world.iter().map(|body| body.id).filter(|id| Some(*id) != hidden).collect();
        let is_new = |id: &&BodyId| self.bodies.binary_search(id).is_err();
        let new: Vec<(BodyId, &Track)> =
            ids.iter().filter(is_new).filter_map(|id| Some((*id, recorder.track(*id)?))).collect();
        let (coats, images) = (self.coats.entries.len(), self.coats.images.len());
        let moves =
            |id: BodyId| world.get(id).is_some_and(|body| body.body.mass_properties().is_some());
        let body = |(id, track): (BodyId, &Track)| {
            let mut body = self.body(id, track);
            body["moves"] = moves(id).into();
            body
        };
        let starts: Vec<Isometry3<f64>> =
            new.iter().filter_map(|(id, _)| world.interpolated_pose(*id, 0.0)).collect();
        let new: Vec<Value> = new.into_iter().map(body).collect();
        let is_gone = |id: &&BodyId| ids.binary_search(id).is_err();
        let gone: Vec<u64> = self.bodies.iter().filter(is_gone).map(|id| id.number()).collect();
        head["new"] = new.into();
        head["gone"] = gone.into();
        head["ids"] = ids.iter().map(|id| id.number()).collect();
        let of = |(n, id): (usize, &BodyId)| {
            world.waypoints(*id).iter().map(move |waypoint| (n, waypoint))
        };
        let waypoints: Vec<(usize, &Waypoint)> = ids.iter().enumerate().flat_map(of).collect();
        head["corners"] = waypoints.iter().map(|(n, _)| *n).collect();
        let geometries = self.geometries.take();
        head["first_geometry"] = geometries.first.into();
        head["geometries"] = json!(geometries.sizes);
        let (coats, images) = (&self.coats.entries[coats..], &self.coats.images[images..]);
        head["coats"] = json!(coats);
        head["images"] = images.iter().map(image_head).collect();
        let mut bytes = write_head(&head);
        bytes.extend(geometries.bytes);
        let shown = world.iter().filter(|state| Some(state.id) != hidden);
        shown.for_each(|state| write_pose(state.pose, &mut bytes));
        starts.iter().for_each(|pose| write_pose(pose, &mut bytes));
        for (_, Waypoint { share, pose }) in waypoints {
            bytes.extend((*share as f32).to_le_bytes());
            write_pose(pose, &mut bytes);
        }
        images.iter().for_each(|image| bytes.extend_from_slice(&image.bytes));
        self.bodies = ids;
        bytes
    }

    fn body(&mut self, id: BodyId, track: &Track) -> Value {
        let sides = self.geometries.sides_or_insert(&track.lazy_surface, &track.look.coats);
        let is_infinite_plane = track.surface().is_endless();
        let mut body = appearance(&track.look, &sides, &mut self.coats, is_infinite_plane);
        body["id"] = id.number().into();
        body["name"] = track.name.as_str().into();
        body["piece"] = track.parent.is_some().into();
        body
    }
}
