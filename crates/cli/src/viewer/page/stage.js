// What is seen: all bodies in one batch, drawn by one call however many they are.

import * as THREE from "./three.js";
import { lives, speed, stress } from "./playback.js";

const RAMP = [0x4a63c8, 0x2a9d8f, 0xe9c46a, 0xf0824a, 0xe5383b].map((c) => new THREE.Color(c));
const SUN = new THREE.Vector3(-0.5, 1, 0.45).normalize();

export class Stage {
  constructor(canvas, recording) {
    this.recording = recording;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera();
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.enableDamping = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener("change", () => (this.stale = true));
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
    this.scene.add(new THREE.HemisphereLight(0xdfeaff, 0x6b625a, 1.1));
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

  /** Every body is an instance of its outer surface, and one of its cuts, in the batch. */
  fill() {
    const { geometries, bodies } = this.recording;
    this.shown = bodies.filter((body) => body.frames > 0 && (body.outer !== null || body.inner !== null));
    if (!this.shown.length) throw new Error("it holds nothing that can be seen");
    const sum = (of) => geometries.reduce((total, g) => total + of(g), 0);
    const count = this.shown.reduce((n, b) => n + (b.outer !== null) + (b.inner !== null), 0);
    const material = new THREE.MeshStandardMaterial({ roughness: 0.82 });
    this.batch = new THREE.BatchedMesh(count, sum((g) => g.positions.length / 3), sum((g) => g.indices.length), material);
    Object.assign(this.batch, { castShadow: true, receiveShadow: true, frustumCulled: false, perObjectFrustumCulled: false, sortObjects: false });
    const numbers = geometries.map(({ positions, normals, indices }) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
      geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
      geometry.setIndex(new THREE.BufferAttribute(indices, 1));
      return this.batch.addGeometry(geometry);
    });
    this.owners = [];
    const instance = (body, geometry) => {
      if (geometry === null) return null;
      const id = this.batch.addInstance(numbers[geometry]);
      this.owners[id] = body;
      return id;
    };
    for (const body of this.shown) {
      body.instances = [instance(body, body.outer), instance(body, body.inner)];
    }
    this.scene.add(this.batch);
    this.fastest = this.swiftness();
    const tensions = bodies.flatMap((body) => body.stress.map(([, principal]) => principal));
    this.tensest = tensions.reduce((most, tension) => Math.max(most, tension), 0);
    this.generations = bodies.reduce((most, body) => Math.max(most, body.generation), 2);
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
    this.reach = Math.hypot(...arm);
    this.camera.fov = (field * 180) / Math.PI;
    this.camera.near = this.reach / 200;
    this.camera.far = this.reach * 60;
    this.controls.target.set(...centre);
    this.camera.position.set(...centre).add(new THREE.Vector3(...arm));
    this.controls.update();
    this.stale = true;
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

  /** Puts every body where it is in a frame. */
  show(frame) {
    const place = new THREE.Vector3(), turn = new THREE.Quaternion(), matrix = new THREE.Matrix4();
    const scale = new THREE.Vector3();
    const middles = this.look.apart > 0 ? this.middles(frame) : null;
    for (const body of this.shown) {
      const is = lives(body, frame);
      if (is) {
        const at = 7 * (frame - body.birth);
        place.fromArray(body.poses, at);
        turn.fromArray(body.poses, at + 3);
        const middle = middles?.get(body.root);
        if (middle) place.addScaledVector(middle.to.subVectors(place, middle.at), this.look.apart);
        const shrinking = frame - body.birth - body.frames + body.sizes.length;
        matrix.compose(place, turn, scale.setScalar(body.sizes[shrinking] ?? 1));
      }
      body.instances.forEach((id, side) => {
        if (id === null) return;
        const visible = is && (side === 0 || this.look.inner);
        this.batch.setVisibleAt(id, visible);
        if (!visible) return;
        this.batch.setMatrixAt(id, matrix);
        this.batch.setColorAt(id, this.colourOf(body, side, frame));
      });
    }
    // without the faces of cuts one looks into pieces
    this.batch.material.side = this.look.inner ? THREE.FrontSide : THREE.DoubleSide;
    this.stale = true;
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
    const hit = ray.intersectObject(this.batch)[0];
    return hit ? { body: this.owners[hit.batchId], point: hit.point } : null;
  }

  lookAt(point) {
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
      // the panel of times covers the foot of the picture
      this.camera.setViewOffset(width, height, 0, Math.min(70, height / 8), width, height);
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

function ramp(colour, share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  return colour.lerpColors(RAMP[low], RAMP[low + 1], at - low);
}
