// What is seen: the bodies of each kind of material in one batch, drawn by one call however many they are.

import * as THREE from "./three.js";
import { lives, speed, stress } from "./playback.js";
import { paint } from "./texture.js";

const RAMP = [0x4a63c8, 0x2a9d8f, 0xe9c46a, 0xf0824a, 0xe5383b].map((c) => new THREE.Color(c));
const SUN = new THREE.Vector3(-0.5, 1, 0.45).normalize();

export class Stage {
  constructor(canvas, recording) {
    this.recording = recording;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 0.8;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera();
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.enableDamping = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener("change", () => (this.stale = true));
    this.controls.addEventListener("start", () => (this.free = true));
    this.look = { colour: "material", apart: 0, inner: true };
    this.light();
    this.fill();
    this.home();
    this.theme();
  }

  /** The sky takes the colour of the page. */
  theme() {
    const sky = new THREE.Color(getComputedStyle(document.documentElement).getPropertyValue("--sky").trim());
    const { radius } = this.recording.view;
    this.scene.background = sky;
    this.scene.fog = new THREE.Fog(sky, this.reach + 0.6 * radius, this.reach + 7 * radius);
    this.stale = true;
  }

  light() {
    const { centre, radius } = this.recording.view;
    const middle = new THREE.Vector3(...centre);
    this.scene.add(new THREE.HemisphereLight(0xdfeaff, 0x8b8278, 1.6));
    this.sun = new THREE.DirectionalLight(0xfff3e2, 3.1);
    this.sun.position.copy(middle).addScaledVector(SUN, 6 * radius);
    this.sun.target.position.copy(middle);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.0015 * radius;
    const reach = 2 * radius;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: radius, far: 12 * radius });
    this.scene.add(this.sun, this.sun.target);
  }

  /** Every body is an instance of its outer surface, and one of its cuts, in the batch of its material. */
  fill() {
    const { geometries, bodies } = this.recording;
    this.shown = bodies.filter((body) => body.frames > 0 && (body.outer !== null || body.inner !== null));
    if (!this.shown.length) throw new Error("it holds nothing that can be seen");
    // colours other than that of the material have no texture
    this.plain = { value: 0 };
    const kinds = new Map();
    for (const body of this.shown) {
      const { texture, transmission, ior, alpha, roughness } = body;
      const kind = JSON.stringify([texture, transmission, ior, alpha, transmission ? roughness : 0]);
      if (!kinds.has(kind)) kinds.set(kind, []);
      kinds.get(kind).push(body);
    }
    this.batches = [...kinds.values()].map((of) => this.gather(of, geometries));
    this.fastest = this.swiftness();
    const tensions = bodies.flatMap((body) => body.stress.map(([, principal]) => principal));
    this.tensest = tensions.reduce((most, tension) => Math.max(most, tension), 0);
    this.generations = bodies.reduce((most, body) => Math.max(most, body.generation), 2);
  }

  /** A batch of bodies of one kind of material. */
  gather(bodies, geometries) {
    const used = new Map();
    const count = bodies.reduce((n, b) => n + (b.outer !== null) + (b.inner !== null), 0);
    for (const body of bodies) for (const n of [body.outer, body.inner]) if (n !== null) used.set(n, null);
    const sum = (of) => [...used.keys()].reduce((total, n) => total + of(geometries[n]), 0);
    const material = materialOf(bodies[0]);
    paint(material, bodies[0].texture, this.plain);
    const batch = new THREE.BatchedMesh(count, sum((g) => g.positions.length / 3), sum((g) => g.indices.length), material);
    const casts = !material.transmission && !material.transparent;
    Object.assign(batch, { castShadow: casts, receiveShadow: true, frustumCulled: false, perObjectFrustumCulled: false, sortObjects: false, owners: [] });
    for (const n of used.keys()) {
      const { positions, normals, rest, indices } = geometries[n];
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
      geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
      geometry.setAttribute("rest", new THREE.BufferAttribute(rest, 3));
      geometry.setIndex(new THREE.BufferAttribute(indices, 1));
      used.set(n, batch.addGeometry(geometry));
    }
    const instance = (body, geometry) => {
      if (geometry === null) return null;
      const id = batch.addInstance(used.get(geometry));
      batch.owners[id] = body;
      return id;
    };
    for (const body of bodies) {
      body.batch = batch;
      body.instances = [instance(body, body.outer), instance(body, body.inner)];
    }
    this.scene.add(batch);
    return batch;
  }

  /** What only one body in fifty passes, m/s. */
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

  home() {
    const { centre, arm, field } = this.recording.view;
    this.free = false;
    const away = this.away();
    this.reach = away * Math.hypot(...arm);
    this.camera.fov = (field * 180) / Math.PI;
    this.camera.near = this.reach / 200;
    this.camera.far = this.reach * 60;
    this.controls.target.set(...centre);
    this.camera.position.set(...centre).addScaledVector(new THREE.Vector3(...arm), away);
    this.controls.update();
    this.stale = true;
  }

  /** How much farther than the recording says the camera is where the page is narrower than pictures. */
  away() {
    const { clientWidth, clientHeight } = this.renderer.domElement;
    return Math.max(1, ((16 / 9) * clientHeight) / Math.max(clientWidth, 1));
  }

  shadows(wanted) {
    this.sun.castShadow = wanted;
    this.stale = true;
  }

  colourOf(body, side, frame) {
    const colour = new THREE.Color();
    const strained = this.look.colour === "stress" && stress(body, frame);
    if (strained) return ramp(colour, Math.max(strained.principal, 0) / this.tensest);
    const how = body.moves ? this.look.colour : "material";
    if (how === "body") return colour.setHSL((body.number * 0.618034) % 1, 0.55, side ? 0.68 : 0.55);
    if (how === "generation") return ramp(colour, body.generation / this.generations);
    if (how === "speed") return ramp(colour, speed(body, frame, this.recording.fps) / this.fastest);
    return colour.setRGB(...(side ? body.inner_colour : body.colour));
  }

  /** Puts every body where it is at a moment, counted in frames: between two of them as evenly as may be. */
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
        const at = 7 * (frame - body.birth);
        place.fromArray(body.poses, at);
        turn.fromArray(body.poses, at + 3);
        if (share && lives(body, frame + 1)) {
          place.lerp(next.place.fromArray(body.poses, at + 7), share);
          turn.slerp(next.turn.fromArray(body.poses, at + 10), share);
        }
        const middle = middles?.get(body.root);
        if (middle) place.addScaledVector(middle.to.subVectors(place, middle.at), this.look.apart);
        const shrinking = frame - body.birth - body.frames + body.sizes.length;
        matrix.compose(place, turn, scale.setScalar(body.sizes[shrinking] ?? 1));
      }
      body.instances.forEach((id, side) => {
        if (id === null) return;
        const visible = is && (side === 0 || this.look.inner);
        body.batch.setVisibleAt(id, visible);
        if (!visible) return;
        body.batch.setMatrixAt(id, matrix);
        body.batch.setColorAt(id, this.colourOf(body, side, frame));
      });
    }
    // without the faces of cuts one looks into pieces
    for (const { material } of this.batches) {
      material.side = this.look.inner ? THREE.FrontSide : THREE.DoubleSide;
    }
    this.ride(moment);
    this.stale = true;
  }

  /** Moves the camera as the scene says, until somebody else does. */
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

  /** The middle of the pieces of each whole body. */
  middles(frame) {
    const middles = new Map();
    for (const body of this.shown) {
      if (body.generation === 0 || !lives(body, frame)) continue;
      const known = middles.get(body.root) ?? { at: new THREE.Vector3(), to: new THREE.Vector3(), count: 0 };
      const at = 7 * (frame - body.birth);
      known.at.add(known.to.fromArray(body.poses, at));
      known.count += 1;
      middles.set(body.root, known);
    }
    for (const middle of middles.values()) middle.at.divideScalar(middle.count);
    return middles;
  }

  /** The body and the point under a place of the screen. */
  pick(x, y) {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    const hit = ray.intersectObjects(this.batches)[0];
    return hit ? { body: hit.object.owners[hit.batchId], point: hit.point } : null;
  }

  lookAt(point) {
    this.free = true;
    this.controls.target.copy(point);
    this.controls.update();
    this.stale = true;
  }

  /** Draws if anything changed; true if it did. */
  draw() {
    this.controls.update();
    const canvas = this.renderer.domElement;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (this.size?.[0] !== width || this.size?.[1] !== height) {
      this.size = [width, height];
      this.renderer.setSize(width, height, false);
      this.camera.aspect = width / height;
      // panels cover the foot of the picture
      const covered = innerHeight - document.getElementById("time").getBoundingClientRect().top;
      this.camera.setViewOffset(width, height, 0, Math.min(covered / 2, height / 4), width, height);
      this.stale = true;
    }
    if (!this.stale) return false;
    this.stale = false;
    this.renderer.render(this.scene, this.camera);
    // how much it asks of the graphics card, for those who wonder
    document.documentElement.dataset.calls = this.renderer.info.render.calls;
    return true;
  }
}

/** What the bodies of a batch are made of; colours are those of instances. */
function materialOf({ transmission, ior, alpha, roughness }) {
  if (transmission > 0) {
    // a ray is taken to leave after a centimetre, as in files
    return new THREE.MeshPhysicalMaterial({ roughness, transmission, ior, thickness: 0.01 });
  }
  const transparent = alpha < 1;
  return new THREE.MeshStandardMaterial({ roughness: 0.82, transparent, opacity: alpha });
}

function ramp(colour, share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  return colour.lerpColors(RAMP[low], RAMP[low + 1], at - low);
}
