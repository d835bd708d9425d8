// Light, camera and materials of all pages. The bodies of each kind of material form one batch with one draw call.

import * as THREE from "./three.js";
import { paint, wrap } from "./texture.js";

/** EquirectangularReflectionMapping of three.js. */
const EQUIRECTANGULAR = 303;

const SUN = new THREE.Vector3(-0.5, 1, 0.45).normalize();

export class Stage {
  /** `view` is the camera in the format of `viewer/playback.rs`. */
  constructor(canvas, view) {
    this.view = view;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !drawsInSoftware() });
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
    this.batches = [];
    this.textures = new Map();
    // colors other than that of the material have no texture
    this.plain = { value: 0 };
    this.light();
    this.home();
    this.theme();
  }

  /** Sets the sky to the color of the page. */
  theme() {
    const sky = new THREE.Color(getComputedStyle(document.documentElement).getPropertyValue("--sky").trim());
    const { radius } = this.view;
    this.scene.background = sky;
    this.scene.fog = new THREE.Fog(sky, this.reach + 0.6 * radius, this.reach + 7 * radius);
    this.stale = true;
  }

  light() {
    const { centre, radius } = this.view;
    const middle = new THREE.Vector3(...centre);
    this.sky = new THREE.HemisphereLight(0xdfeaff, 0x8b8278, 1.6);
    this.sun = new THREE.DirectionalLight(0xfff3e2, 3.1);
    this.sun.position.copy(middle).addScaledVector(SUN, 6 * radius);
    this.sun.target.position.copy(middle);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.0015 * radius;
    const reach = 2 * radius;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: radius, far: 12 * radius });
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  /** An empty batch for bodies of one kind of material, with capacity for the given number of instances of a geometry,
   * or of instances, vertices and indices. */
  batchOf(body, room) {
    const material = materialOf(body);
    this.mirror(material);
    paint(material, body.texture, this.plain);
    return this.batch(material, room);
  }

  /** The texture of a coat, one for each wrapping mode of an image, or nothing. */
  textureFor({ image, wrap }, images) {
    if (image === null) return null;
    const key = `${image} ${wrap}`;
    if (!this.textures.has(key)) this.textures.set(key, textureOf(images[image], wrap, () => (this.stale = true)));
    return this.textures.get(key);
  }

  /** The material of a part with a coat; `texture` is its image, if any. */
  batchOfCoat(coat, texture, room) {
    const { roughness, metallic: metalness, alpha, blend: transparent, cutoff } = coat;
    const material = new THREE.MeshStandardMaterial({ roughness, metalness, transparent, map: texture });
    this.mirror(material);
    if (transparent) material.opacity = alpha;
    // only the image defines cutouts
    if (cutoff !== null && alpha > 0) material.alphaTest = Math.min(cutoff / alpha, 1);
    if (texture) wrap(material, this.plain);
    return this.batch(material, room);
  }

  /** Adds the environment map of metals: without reflections they would be black except for the sun. */
  mirror(material) {
    if (material.metalness > 0) material.envMap = this.surroundings ??= surroundings();
  }

  batch(material, { geometry, instances, vertices, indices }) {
    const batch = geometry ? new THREE.InstancedMesh(geometry, material, instances)
      : new THREE.BatchedMesh(instances, vertices, indices, material);
    const casts = !material.transmission && !material.transparent;
    Object.assign(batch, { castShadow: casts, receiveShadow: true, frustumCulled: false, perObjectFrustumCulled: false, sortObjects: false, owners: [] });
    this.batches.push(batch);
    this.scene.add(batch);
    return batch;
  }

  home() {
    const { centre, arm, field } = this.view;
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

  /** Factor on the camera distance of the recording for pages narrower than pictures. */
  away() {
    const { clientWidth, clientHeight } = this.renderer.domElement;
    return Math.max(1, ((16 / 9) * clientHeight) / Math.max(clientWidth, 1));
  }

  /** Maximum ratio of drawn pixels to page pixels along a side. */
  sharpness(most) {
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, most));
    this.size = undefined;
  }

  shadows(wanted) {
    this.sun.castShadow = wanted;
    this.stale = true;
  }

  /** The ray caster for points of the screen. */
  caster(x, y) {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(at, this.camera);
    return caster;
  }

  /** The body and its surface point under a point of the screen. */
  pick(x, y) {
    const hit = this.caster(x, y).intersectObjects(this.batches)[0];
    return hit ? { body: hit.object.owners[hit.batchId ?? hit.instanceId], point: hit.point } : null;
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
      // panels cover the bottom of the picture
      const covered = innerHeight - document.getElementById("time").getBoundingClientRect().top;
      this.camera.setViewOffset(width, height, 0, Math.min(covered / 2, height / 4), width, height);
      this.stale = true;
    }
    if (!this.stale) return false;
    this.stale = false;
    this.renderer.render(this.scene, this.camera);
    // statistics of the graphics card for inspection
    document.documentElement.dataset.calls = this.renderer.info.render.calls;
    return true;
  }
}

/** Whether the renderer is software: antialiasing would take a third of its time per picture. */
function drawsInSoftware() {
  const context = document.createElement("canvas").getContext("webgl2");
  const info = context?.getExtension("WEBGL_debug_renderer_info");
  const renderer = info ? context.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /SwiftShader|llvmpipe|Basic Render/.test(renderer);
}

/** A name for the kind of material of a body. Bodies of one kind share a batch. */
export function kindOf({ texture, transmission, ior, alpha, metallic, roughness }) {
  return JSON.stringify([texture, transmission, ior, alpha, metallic, transmission || metallic ? roughness : 0]);
}

/** The material of a batch; instances have colors. */
function materialOf({ transmission, ior, alpha, metallic, roughness }) {
  if (transmission > 0) {
    // the assumed thickness is one centimeter, as in files
    return new THREE.MeshPhysicalMaterial({ roughness, transmission, ior, thickness: 0.01 });
  }
  const transparent = alpha < 1;
  return new THREE.MeshStandardMaterial({ roughness: metallic ? roughness : 0.82, metalness: metallic, transparent, opacity: alpha });
}

/** A sky over ground as an equirectangular picture. */
function surroundings() {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [256, 128];
  const context = canvas.getContext("2d");
  const down = context.createLinearGradient(0, 0, 0, canvas.height);
  const colours = [[0, "#a9b8d0"], [0.35, "#c6cfdb"], [0.49, "#e4e6e8"], [0.51, "#b9b2a8"], [1, "#8b8278"]];
  for (const [at, colour] of colours) down.addColorStop(at, colour);
  context.fillStyle = down;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const texture = new THREE.Texture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.mapping = EQUIRECTANGULAR;
  texture.needsUpdate = true;
  return texture;
}

/** The texture of an image (a blob) with wrapping along both axes. Calls `done` when the texture is ready. */
function textureOf(blob, [wrapS, wrapT], done) {
  const texture = new THREE.Texture();
  texture.colorSpace = THREE.SRGBColorSpace;
  Object.assign(texture, { wrapS, wrapT });
  texture.flipY = false;
  // texture coordinates start at the bottom
  const how = { imageOrientation: "flipY", premultiplyAlpha: "none", colorSpaceConversion: "none" };
  createImageBitmap(blob, how).then((image) => {
    texture.image = image;
    texture.needsUpdate = true;
    done();
  }, () => console.warn("an image of a material is damaged"));
  return texture;
}

/** A geometry from arrays, for a batch. */
export function geometryOf({ positions, normals, rest, uvs, indices }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
  geometry.setAttribute("rest", new THREE.BufferAttribute(rest, 3));
  if (uvs) geometry.setAttribute("uv", new THREE.BufferAttribute(uvs, 2));
  geometry.setIndex(new THREE.BufferAttribute(indices, 1));
  return geometry;
}
