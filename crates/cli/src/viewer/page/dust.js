// Dust as points, placed by the graphics card.

import * as THREE from "./three.js";

const VERTEX = `
#include <common>
uniform float time, scale;
uniform vec3 gravity, sun, sunlight, skylight;
attribute vec3 velocity, tint;
attribute vec3 life;
attribute float size;
varying vec3 vLight;
varying float vOpacity;
// the brightness of a small diffuse ball, as in light.rs
float phase(float cosine) {
  float angle = acos(clamp(cosine, -1.0, 1.0));
  return 0.667 * (sin(angle) + (PI - angle) * cosine) / PI;
}
void main() {
  float age = time - life.x;
  vec3 at = position + (velocity + 0.5 * life.z * gravity * age) * age;
  vec4 place = modelViewMatrix * vec4(at, 1.0);
  gl_Position = projectionMatrix * place;
  float wide = scale * size / max(-place.z, 1e-6);
  gl_PointSize = max(wide, 1.0);
  vOpacity = min(wide * wide, 1.0);
  vLight = tint * (skylight + sunlight * phase(dot(sun, normalize(cameraPosition - at))));
  // outside the clip space: not drawn
  if (age < 0.0 || time >= life.y) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

const FRAGMENT = `
varying vec3 vLight;
varying float vOpacity;
void main() {
  if (distance(gl_PointCoord, vec2(0.5)) > 0.5) discard;
  gl_FragColor = vec4(vLight, vOpacity);
  #include <tonemapping_fragment>
  #include <colorspace_fragment>
}`;

/** The points of the dust of a recording in the light of a sun and a sky; the uniform `time` is in seconds. */
export function pointsOf(sun, sky, { gravity, positions, velocities, colours, sizes, lives }) {
  const geometry = new THREE.BufferGeometry();
  const attributes = [["position", positions, 3], ["velocity", velocities, 3], ["tint", colours, 3], ["size", sizes, 1], ["life", lives, 3]];
  for (const [name, values, width] of attributes) {
    geometry.setAttribute(name, new THREE.BufferAttribute(values, width));
  }
  const towards = new THREE.Vector3().subVectors(sun.position, sun.target.position).normalize();
  // radiances of a white surface that faces the sun, and of one between sky and ground
  const sunlight = sun.color.clone().multiplyScalar(sun.intensity / Math.PI);
  const skylight = sky.color.clone().lerp(sky.groundColor, 0.5).multiplyScalar(sky.intensity / Math.PI);
  const values = { time: 0, scale: 1, gravity: new THREE.Vector3(...gravity), sun: towards, sunlight, skylight };
  const uniforms = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
  const material = new THREE.ShaderMaterial({ uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, depthWrite: false });
  const points = new THREE.Points(geometry, material);
  points.frustumCulled = false;
  const size = new THREE.Vector2();
  points.onBeforeRender = (renderer, _, camera) => {
    const { y } = renderer.getDrawingBufferSize(size);
    // pixels of a meter at a distance of a meter
    uniforms.scale.value = y / (2 * Math.tan((camera.fov * Math.PI) / 360));
  };
  return points;
}
