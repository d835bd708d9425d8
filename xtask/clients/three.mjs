// Loads a GLB file with three.js, plays it, and compares it with the JSON lines of the same run.
//
// usage: node three.mjs FILE.glb FILE.jsonl

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const home = pathToFileURL(`${process.env.THREE ?? 'target/vendor/node_modules/three'}/`);
const THREE = await import(new URL('build/three.module.js', home));
const { GLTFLoader } = await import(new URL('examples/jsm/loaders/GLTFLoader.js', home));

const [glb, truth] = process.argv.slice(2);
const [head, ...frames] = (await readFile(truth, 'utf8')).trim().split('\n').map((line) => JSON.parse(line));
const bytes = await readFile(glb);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const gltf = await new GLTFLoader().parseAsync(buffer, '');

assert.equal(gltf.animations.length, 1);
const mixer = new THREE.AnimationMixer(gltf.scene);
const action = mixer.clipAction(gltf.animations[0]);
action.setLoop(THREE.LoopOnce);
action.clampWhenFinished = true;
action.play();

// the loader removes blanks and dots from names, and keeps the original names in userData
const nodes = new Map(gltf.scene.children.map((node) => [node.userData.name ?? node.name, node]));
const nodeOf = (body) => nodes.get(body.name) ?? assert.fail(`no node for ${body.name}`);
let farthest = 0;
for (let frame = 0; frame < head.frames; frame++) {
  // key times are rounded to f32, so a step may occur slightly after its frame
  mixer.setTime(Math.min((frame + 1e-3) / head.fps, gltf.animations[0].duration));
  gltf.scene.updateMatrixWorld(true);
  const shown = head.bodies.flatMap((body, n) => (nodeOf(body).scale.length() > 0.5 ? [n] : []));
  assert.deepEqual(shown, [...frames[frame].bodies].sort((a, b) => a - b), `bodies of frame ${frame}`);
  frames[frame].bodies.forEach((n, at) => {
    const [x, y, z] = frames[frame].poses[at];
    farthest = Math.max(farthest, nodeOf(head.bodies[n]).position.distanceTo(new THREE.Vector3(x, y, z)));
  });
}
// a thousandth of a frame at 7 m/s
assert.ok(farthest < 5e-4, `a body is ${farthest} m off`);
console.log(`three.js ${THREE.REVISION}: ${nodes.size} bodies, born and gone in the right frames; within ${farthest.toExponential(1)} m`);
