// Shows the bodies of the frames of the module, interpolated between the last two frames.

import * as THREE from "./three.js";
import { POSE, unpack, segment } from "./packed.js";
import { Stage, geometryOf, kindOf } from "./stage.js";

/** A frame in the format of `crates/web/src/output.rs`. */
export function read(buffer) {
  const { head, geometries, floats, bytes: next } = unpack(buffer);
  const poses = floats(POSE * head.ids.length);
  const starts = floats(POSE * head.new.length);
  const waypoints = head.corners.map((body) => ({ body, fraction: floats(1)[0], pose: floats(POSE) }));
  const images = head.images.map(({ type, bytes }) => new Blob([next(bytes)], { type }));
  return { ...head, geometries, poses, starts, waypoints, images };
}

/** A batch that grows, and frees removed instances. */
class Growing {
  /** `make` returns an empty mesh of the given capacity. */
  constructor(make) {
    this.room = { instances: 64, vertices: 1 << 14, indices: 1 << 15 };
    this.used = { instances: 0, vertices: 0, indices: 0 };
    this.known = new Map();
    this.mesh = make(this.room);
  }

  /** Reserves additional capacity. */
  reserve(more) {
    const { mesh, room, used } = this;
    const lacks = (what) => used[what] + more[what] > room[what];
    if (lacks("vertices") || lacks("indices")) {
      mesh.optimize();
      // deleted space is free again
      used.vertices = room.vertices - mesh.unusedVertexCount;
      used.indices = room.indices - mesh.unusedIndexCount;
    }
    const grow = (what) => {
      while (lacks(what)) room[what] *= 2;
    };
    if (lacks("vertices") || lacks("indices")) {
      grow("vertices");
      grow("indices");
      mesh.setGeometrySize(room.vertices, room.indices);
    }
    if (lacks("instances")) {
      grow("instances");
      mesh.setInstanceCount(room.instances);
    }
  }

  /** An instance of a geometry. Adds the geometry if it is missing. */
  add(number, geometry, owner, colour) {
    const vertices = geometry.positions.length / 3, indices = geometry.indices.length;
    let entry = this.known.get(number);
    this.reserve({ instances: 1, vertices: entry ? 0 : vertices, indices: entry ? 0 : indices });
    if (!entry) {
      entry = { id: this.mesh.addGeometry(geometryOf(geometry)), count: 0 };
      this.used.vertices += vertices;
      this.used.indices += indices;
      this.known.set(number, entry);
    }
    entry.count += 1;
    this.used.instances += 1;
    const id = this.mesh.addInstance(entry.id);
    this.mesh.setColorAt(id, colour);
    this.mesh.owners[id] = owner;
    return { batch: this, number, id };
  }

  move(id, matrix) {
    this.mesh.setMatrixAt(id, matrix);
  }

  remove({ number, id }) {
    const entry = this.known.get(number);
    this.mesh.deleteInstance(id);
    this.used.instances -= 1;
    entry.count -= 1;
    if (entry.count === 0) {
      this.mesh.deleteGeometry(entry.id);
      this.known.delete(number);
    }
  }
}

/** Minimum number of bodies with a common geometry for one draw call for all of them. */
const MANY = 16;

/** Instances of one geometry, drawn by one call. */
class Swarm {
  /** `make` returns a mesh of the geometry with capacity for the given number of instances. */
  constructor(make, geometry, instances) {
    this.mesh = make({ geometry: geometryOf(geometry), instances });
    this.mesh.count = 0;
    this.room = instances;
    this.parts = [];
  }

  get full() {
    return this.parts.length === this.room;
  }

  add(number, geometry, owner, colour) {
    const part = { batch: this, number, id: this.parts.length };
    this.parts.push(part);
    this.mesh.count = this.parts.length;
    this.dye(part.id, colour);
    this.mesh.owners[part.id] = owner;
    return part;
  }

  dye(id, colour) {
    this.mesh.setColorAt(id, colour);
    this.mesh.instanceColor.needsUpdate = true;
  }

  move(id, matrix) {
    this.mesh.setMatrixAt(id, matrix);
    this.mesh.instanceMatrix.needsUpdate = true;
    // ray casts test the common bounds first
    this.mesh.boundingSphere = null;
  }

  /** Replaces a removed instance by the last one. */
  remove(part) {
    const { mesh, parts } = this;
    const last = parts.pop();
    mesh.count = parts.length;
    if (last === part) return;
    const matrix = new THREE.Matrix4(), colour = new THREE.Color();
    mesh.getMatrixAt(last.id, matrix);
    mesh.getColorAt(last.id, colour);
    mesh.owners[part.id] = mesh.owners[last.id];
    last.id = part.id;
    parts[part.id] = last;
    this.move(last.id, matrix);
    this.dye(last.id, colour);
  }
}

/** Number of bodies of each geometry. */
function usersOf(bodies) {
  const users = new Map();
  for (const { outer, inner, coats } of bodies) {
    for (const number of [outer, inner, ...coats.map(([number]) => number)]) users.set(number, (users.get(number) ?? 0) + 1);
  }
  return users;
}

export class LiveStage extends Stage {
  constructor(canvas, frame) {
    super(canvas, frame.view);
    // the camera stays above the floor
    this.controls.maxPolarAngle = 0.5 * Math.PI;
    this.clear();
    this.advance(frame);
  }

  /** Starts another scene. */
  restart(frame) {
    for (const mesh of this.batches) {
      this.scene.remove(mesh);
      mesh.dispose();
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.batches.length = 0;
    this.scene.remove(this.sun, this.sun.target);
    this.scene.children.filter((child) => child.isLight).forEach((light) => this.scene.remove(light));
    this.sun.dispose();
    const same = JSON.stringify(this.view) === JSON.stringify(frame.view);
    this.view = frame.view;
    this.light();
    this.clear();
    if (!same) this.home();
    this.theme();
    this.advance(frame);
  }

  clear() {
    this.kinds = new Map();
    /** Batches of shared geometries, by number and kind. */
    this.swarms = new Map();
    this.bodies = new Map();
    this.geometries = new Map();
    [this.coats, this.images] = [[], []];
    this.textures.forEach((texture) => texture.dispose());
    this.textures.clear();
    this.last = undefined;
  }

  /** Applies a new frame: added bodies, removed bodies, and all poses at its end. */
  advance(frame) {
    frame.geometries.forEach((geometry, n) => this.geometries.set(frame.first_geometry + n, geometry));
    this.coats.push(...frame.coats);
    this.images.push(...frame.images);
    for (const id of frame.gone) {
      const body = this.bodies.get(id);
      body?.parts.forEach((part) => part.batch.remove(part));
      this.bodies.delete(id);
    }
    const users = usersOf(frame.new);
    frame.new.forEach((body, n) => {
      body.after = frame.starts.subarray(POSE * n, POSE * (n + 1));
      this.enter(body, users);
    });
    frame.ids.forEach((id, n) => {
      const body = this.bodies.get(id);
      if (!body) return;
      const pose = frame.poses.subarray(POSE * n, POSE * (n + 1));
      body.before = body.after;
      body.after = pose;
      body.waypoints = [];
      body.still = body.placed && body.before.every((x, k) => x === pose[k]);
    });
    for (const { body: n, fraction, pose } of frame.waypoints) {
      const body = this.bodies.get(frame.ids[n]);
      if (!body) continue;
      body.waypoints.push({ fraction, pose });
      body.still = false;
    }
    this.last = frame;
    this.show(0);
  }

  enter(body, users) {
    body.parts = [];
    const add = (number, colour, kind, make) => {
      if (number === null) return;
      const batch = this.batchFor(number, users.get(number), kind, make);
      body.parts.push(batch.add(number, this.geometries.get(number), body, new THREE.Color().setRGB(...colour)));
    };
    const plain = (room) => this.batchOf(body, room);
    add(body.outer, body.colour, kindOf(body), plain);
    add(body.inner, body.inner_colour, kindOf(body), plain);
    for (const [number, of] of body.coats) {
      const coat = this.coats[of];
      const coated = (room) => this.batchOfCoat(coat, this.textureFor(coat, this.images), room);
      add(number, coat.colour, `coat ${of}`, coated);
    }
    this.bodies.set(body.id, body);
  }

  /** The batch for one more instance of a geometry with the given number of new bodies. */
  batchFor(number, users, kind, make) {
    const name = `${number} ${kind}`;
    if (users >= MANY && !this.swarms.has(name)) {
      this.swarms.set(name, new Swarm(make, this.geometries.get(number), users));
    }
    const swarm = this.swarms.get(name);
    if (swarm && !swarm.full) return swarm;
    if (!this.kinds.has(kind)) this.kinds.set(kind, new Growing(make));
    return this.kinds.get(kind);
  }

  /** Sets poses at a fraction of the last frame, piecewise linear with corners at blows. */
  show(share) {
    const place = new THREE.Vector3(), turn = new THREE.Quaternion(), matrix = new THREE.Matrix4();
    const next = new THREE.Vector3(), twist = new THREE.Quaternion(), one = new THREE.Vector3(1, 1, 1);
    for (const body of this.bodies.values()) {
      if (body.still || !body.after) continue;
      const { from, to, along } = segment(body.before, body.after, body.waypoints, share);
      place.fromArray(from).lerp(next.fromArray(to), along);
      turn.fromArray(from, 3).slerp(twist.fromArray(to, 3), along);
      matrix.compose(place, turn, one);
      for (const part of body.parts) part.batch.move(part.id, matrix);
      body.placed = share === 1;
      this.stale = true;
    }
  }

  /** Origin and unit direction of a ray through a point of the screen. */
  ray(x, y) {
    const caster = this.caster(x, y);
    return { from: caster.ray.origin.clone(), along: caster.ray.direction.clone() };
  }

  /** Intersection of a ray with the plane through a point that faces the camera. */
  facing(ray, point) {
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    const share = point.clone().sub(ray.from).dot(normal) / ray.along.dot(normal);
    return ray.from.clone().addScaledVector(ray.along, share);
  }
}
