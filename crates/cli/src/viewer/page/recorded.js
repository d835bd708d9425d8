// The bodies of a recording with their poses at any time.

import * as THREE from "./three.js";
import { pointsOf } from "./dust.js";
import { POSE, segment } from "./packed.js";
import { lives, speed, stress } from "./playback.js";
import { Stage, geometryOf, kindOf } from "./stage.js";

const RAMP = [0x4a63c8, 0x2a9d8f, 0xe9c46a, 0xf0824a, 0xe5383b].map((c) => new THREE.Color(c));

export class RecordedStage extends Stage {
  constructor(canvas, recording) {
    super(canvas, recording.view);
    this.recording = recording;
    this.look = { colour: "material", apart: 0, inner: true, dust: true };
    this.fill();
  }

  /** Every body has an instance of its outer surface, each of its coats, and its cuts, in the batch of the material. */
  fill() {
    const { bodies } = this.recording;
    for (const body of bodies) body.parts = partsOf(body);
    this.shown = bodies.filter((body) => body.frames > 0 && body.parts.length);
    if (!this.shown.length) throw new Error("it holds nothing that can be seen");
    const kinds = new Map();
    for (const part of this.shown.flatMap((body) => body.parts)) {
      const kind = part.coat === null ? kindOf(part.body) : `coat ${part.coat}`;
      if (!kinds.has(kind)) kinds.set(kind, []);
      kinds.get(kind).push(part);
    }
    for (const of of kinds.values()) this.gather(of);
    if (this.recording.dust?.count) {
      this.dust = pointsOf(this.sun, this.sky, this.recording.dust);
      this.scene.add(this.dust);
    }
    this.fastest = this.swiftness();
    const tensions = bodies.flatMap((body) => body.stress.map(([, principal]) => principal));
    this.tensest = tensions.reduce((most, tension) => Math.max(most, tension), 0);
    this.generations = bodies.reduce((most, body) => Math.max(most, body.generation), 2);
  }

  /** A batch of parts with one kind of material. */
  gather(parts) {
    const { geometries, coats, images } = this.recording;
    const used = new Map(parts.map((part) => [part.geometry, null]));
    const sum = (of) => [...used.keys()].reduce((total, n) => total + of(geometries[n]), 0);
    const room = { instances: parts.length, vertices: sum((g) => g.positions.length / 3), indices: sum((g) => g.indices.length) };
    const { body, coat } = parts[0];
    const batch = coat === null ? this.batchOf(body, room)
      : this.batchOfCoat(coats[coat], this.textureFor(coats[coat], images), room);
    for (const n of used.keys()) used.set(n, batch.addGeometry(geometryOf(geometries[n])));
    for (const part of parts) {
      part.batch = batch;
      part.id = batch.addInstance(used.get(part.geometry));
      batch.owners[part.id] = part.body;
    }
  }

  /** The 98th percentile of speeds, m/s. */
  swiftness() {
    const { frames, fps } = this.recording;
    const speeds = [];
    const stride = Math.max(1, Math.floor(frames / 60));
    for (let frame = 0; frame < frames; frame += stride) {
      for (const body of this.shown) {
        if (body.moves && lives(body, frame)) speeds.push(speed(body, frame, fps));
      }
    }
    speeds.sort((a, b) => a - b);
    return Math.max(speeds[Math.floor(0.98 * (speeds.length - 1))] ?? 0, 1e-3);
  }

  colourOf({ body, side, coat }, frame) {
    const colour = new THREE.Color();
    const strained = this.look.colour === "stress" && stress(body, frame);
    if (strained) return ramp(colour, Math.max(strained.principal, 0) / this.tensest);
    const how = body.moves ? this.look.colour : "material";
    if (how === "body") return colour.setHSL((body.number * 0.618034) % 1, 0.55, side ? 0.68 : 0.55);
    if (how === "generation") return ramp(colour, body.generation / this.generations);
    if (how === "speed") return ramp(colour, speed(body, frame, this.recording.fps) / this.fastest);
    if (coat !== null) return colour.setRGB(...this.recording.coats[coat].colour);
    return colour.setRGB(...(side ? body.inner_colour : body.colour));
  }

  /** Sets all poses at a time in frames, piecewise linear between frames and impacts. */
  show(moment) {
    const frame = Math.floor(moment), share = moment - frame;
    const place = new THREE.Vector3(), turn = new THREE.Quaternion(), matrix = new THREE.Matrix4();
    const next = { place: new THREE.Vector3(), turn: new THREE.Quaternion() };
    const scale = new THREE.Vector3();
    const middles = this.look.apart > 0 ? this.middles(frame) : null;
    this.plain.value = this.look.colour === "material" ? 0 : 1;
    for (const body of this.shown) {
      const is = lives(body, frame);
      if (is) {
        const at = POSE * (frame - body.birth);
        place.fromArray(body.poses, at);
        turn.fromArray(body.poses, at + 3);
        if (share && lives(body, frame + 1)) {
          const ends = [at, at + POSE].map((from) => body.poses.subarray(from, from + POSE));
          const { from, to, along } = segment(...ends, body.waypoints.get(frame) ?? [], share);
          place.fromArray(from).lerp(next.place.fromArray(to), along);
          turn.fromArray(from, 3).slerp(next.turn.fromArray(to, 3), along);
        }
        const middle = middles?.get(body.root);
        if (middle) place.addScaledVector(middle.to.subVectors(place, middle.at), this.look.apart);
        const shrinking = frame - body.birth - body.frames + body.sizes.length;
        matrix.compose(place, turn, scale.setScalar(body.sizes[shrinking] ?? 1));
      }
      for (const part of body.parts) {
        const { batch, id, side } = part;
        const visible = is && (side === 0 || this.look.inner);
        batch.setVisibleAt(id, visible);
        if (!visible) continue;
        batch.setMatrixAt(id, matrix);
        batch.setColorAt(id, this.colourOf(part, frame));
      }
    }
    // pieces without cut faces are open
    for (const { material } of this.batches) {
      material.side = this.look.inner ? THREE.FrontSide : THREE.DoubleSide;
    }
    if (this.dust) {
      this.dust.material.uniforms.time.value = moment / this.recording.fps;
      // specks have no body to be pulled apart with
      this.dust.visible = this.look.dust && !this.look.apart;
    }
    this.ride(moment);
    this.stale = true;
  }

  /** Moves the camera of the scene until the user moves it. */
  ride(moment) {
    const { path } = this.recording.view;
    if (!path || this.free) return;
    const [from, to] = [path[Math.floor(moment)], path[Math.min(Math.floor(moment) + 1, path.length - 1)]];
    const [x, y, z, a, b, c] = from.map((value, n) => value + (to[n] - value) * (moment % 1));
    this.controls.target.set(x, y, z);
    const away = this.away();
    this.camera.position.set(x + away * a, y + away * b, z + away * c);
    this.controls.update();
  }

  /** The center of the pieces of each whole body. */
  middles(frame) {
    const middles = new Map();
    for (const body of this.shown) {
      if (body.generation === 0 || !lives(body, frame)) continue;
      const known = middles.get(body.root) ?? { at: new THREE.Vector3(), to: new THREE.Vector3(), count: 0 };
      const at = POSE * (frame - body.birth);
      known.at.add(known.to.fromArray(body.poses, at));
      known.count += 1;
      middles.set(body.root, known);
    }
    for (const middle of middles.values()) middle.at.divideScalar(middle.count);
    return middles;
  }
}

/** The drawn parts of a body: geometries of the surface (0) or of cuts (1), with the number of their coat, if any. */
function partsOf(body) {
  const sides = [[body.outer, 0], [body.inner, 1]].filter(([geometry]) => geometry !== null);
  const plain = sides.map(([geometry, side]) => ({ body, geometry, side, coat: null }));
  return [...plain, ...body.coats.map(([geometry, coat]) => ({ body, geometry, side: 0, coat }))];
}

function ramp(colour, share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  return colour.lerpColors(RAMP[low], RAMP[low + 1], at - low);
}
