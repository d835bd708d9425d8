// Loads a GLB file and the rig of the same run with three.js, and compares the positions of the corners of
// triangles.
//
// usage: node rig.mjs FILE.glb RIG.glb FILE.jsonl

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const home = pathToFileURL(`${process.env.THREE ?? 'target/vendor/node_modules/three'}/`);
const THREE = await import(new URL('build/three.module.js', home));
const { GLTFLoader } = await import(new URL('examples/jsm/loaders/GLTFLoader.js', home));

const [plain, rig, truth] = process.argv.slice(2);
const { fps, frames } = JSON.parse((await readFile(truth, 'utf8')).split('\n', 1)[0]);

async function load(path) {
  const bytes = await readFile(path);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const gltf = await new GLTFLoader().parseAsync(buffer, '');
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const action = mixer.clipAction(gltf.animations[0]);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  return { scene: gltf.scene, mixer, duration: gltf.animations[0].duration };
}

/// The corners of all triangles in a frame, by the number of the body and the name of the material.
function drawn({ scene, mixer, duration }, frame) {
  // key times are rounded to f32, so a step may occur slightly after its frame
  mixer.setTime(Math.min((frame + 1e-3) / fps, duration));
  scene.updateMatrixWorld(true);
  const corners = new Map();
  let calls = 0;
  scene.traverse((mesh) => {
    if (!mesh.isMesh) return;
    calls += 1;
    // a mesh of several materials is a group
    const body = mesh.parent === scene || mesh.parent.isScene ? mesh : mesh.parent;
    const { index, attributes } = mesh.geometry;
    for (let i = 0; i < index.count; i++) {
      const v = index.getX(i);
      const name = mesh.isSkinnedMesh ? mesh.skeleton.bones[attributes.skinIndex.getX(v)].name : body.name;
      const key = `${name}/${mesh.material.name}`;
      if (!corners.has(key)) corners.set(key, []);
      // applies the bones of a skinned mesh
      corners.get(key).push(mesh.getVertexPosition(v, new THREE.Vector3()).applyMatrix4(mesh.matrixWorld));
    }
  });
  return { corners, calls };
}

const [a, b] = [await load(plain), await load(rig)];
let farthest = 0;
let calls = [];
for (let frame = 0; frame < frames; frame += 3) {
  const [one, other] = [drawn(a, frame), drawn(b, frame)];
  calls = [one.calls, other.calls];
  assert.deepEqual([...one.corners.keys()].sort(), [...other.corners.keys()].sort());
  for (const [key, corners] of one.corners) {
    const skinned = other.corners.get(key);
    assert.equal(corners.length, skinned.length, key);
    corners.forEach((corner, n) => { farthest = Math.max(farthest, corner.distanceTo(skinned[n])); });
  }
}
// the corners of the floor are 71 m away
assert.ok(farthest < 5e-5, `a corner is ${farthest} m off`);
console.log(`three.js ${THREE.REVISION}: a rig of ${calls[1]} meshes for ${calls[0]}; corners within ${farthest.toExponential(1)} m`);
