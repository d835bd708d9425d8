// Loads crumbs as GLB with three.js, and compares position and size of each in every frame with the PLY files of the
// same run.
//
// usage: node crumbs.mjs FILE.glb FOLDER FILE.jsonl

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const home = pathToFileURL(`${process.env.THREE ?? 'target/vendor/node_modules/three'}/`);
const THREE = await import(new URL('build/three.module.js', home));
const { GLTFLoader } = await import(new URL('examples/jsm/loaders/GLTFLoader.js', home));
const { PLYLoader } = await import(new URL('examples/jsm/loaders/PLYLoader.js', home));

const [path, folder, run] = process.argv.slice(2);
const { fps } = JSON.parse((await readFile(run, 'utf8')).split('\n', 1)[0]);

async function buffer(path) {
  const bytes = await readFile(path);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

const { scene, animations } = await new GLTFLoader().parseAsync(await buffer(path), '');
const mixer = new THREE.AnimationMixer(scene);
const action = mixer.clipAction(animations[0]);
action.setLoop(THREE.LoopOnce);
action.clampWhenFinished = true;

/// Position and size of each visible crumb in a frame.
function shown(frame) {
  // a finished action is paused
  action.reset().play();
  // key times are rounded to f32, so a step may occur slightly after its frame
  mixer.setTime(Math.min((frame + 1e-3) / fps, animations[0].duration));
  scene.updateMatrixWorld(true);
  const crumbs = [];
  const scale = new THREE.Vector3();
  scene.traverse((node) => {
    scale.setFromMatrixScale(node.matrixWorld);
    if (scale.x < 0.5) return;
    if (node.isPoints) {
      const { position, _size } = node.geometry.attributes;
      const flown = node.geometry.morphAttributes.position[0];
      const weight = node.morphTargetInfluences[0];
      for (let n = 0; n < position.count; n++) {
        const place = new THREE.Vector3().fromBufferAttribute(flown, n).multiplyScalar(weight);
        place.add(new THREE.Vector3().fromBufferAttribute(position, n)).applyMatrix4(node.matrixWorld);
        crumbs.push({ place, size: _size.getX(n) });
      }
    } else if (node.isInstancedMesh) {
      for (let n = 0; n < node.count; n++) {
        const matrix = new THREE.Matrix4();
        node.getMatrixAt(n, matrix);
        matrix.premultiply(node.matrixWorld);
        // the edge of a cube of the same volume
        const size = Math.cbrt(Math.abs(matrix.determinant()));
        crumbs.push({ place: new THREE.Vector3().setFromMatrixPosition(matrix), size });
      }
    }
  });
  return crumbs;
}

const loader = new PLYLoader();
loader.setCustomPropertyNameMapping({ size: ['size'] });
let [farthest, most] = [0, 0];
for (const [frame, name] of (await readdir(folder)).sort().entries()) {
  const { attributes } = loader.parse(await buffer(`${folder}/${name}`));
  const count = attributes.position?.count ?? 0;
  const crumbs = shown(frame);
  assert.equal(crumbs.length, count, `frame ${frame}`);
  for (let n = 0; n < count; n++) {
    const size = attributes.size.getX(n);
    const place = new THREE.Vector3().fromBufferAttribute(attributes.position, n);
    const same = crumbs.filter((crumb) => Math.abs(crumb.size / size - 1) < 1e-5);
    assert.ok(same.length > 0, `frame ${frame}: a crumb of ${size} m`);
    farthest = Math.max(farthest, Math.min(...same.map((crumb) => place.distanceTo(crumb.place))));
  }
  most = Math.max(most, count);
}
assert.ok(most > 0);
console.log(`three.js: up to ${most} crumbs, off by at most ${farthest} m`);
// the distance that a crumb of 30 m/s flies in a thousandth of a frame
assert.ok(farthest < 1e-3);
