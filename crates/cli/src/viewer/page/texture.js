// Solid textures, equal to those of `texture.rs` in `meshfile`: factors of colors at a point of the whole
// body.

const NUMBERS = { plain: 0, marble: 1, clay: 2, wood: 3, concrete: 4, stone: 5 };

const FUNCTIONS = `
varying vec3 vRest;
uint solidHash(uvec3 v) {
  v = v * 1664525u + 1013904223u;
  v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
  v ^= v >> 16u;
  v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
  return v.x;
}
float solidCorner(ivec3 cell) {
  return float(solidHash(uvec3(cell)) >> 8u) / 16777216.0;
}
float solidNoise(vec3 place, float rate, float width) {
  vec3 p = place * rate, cell = floor(p), t = p - cell;
  t = t * t * (3.0 - 2.0 * t);
  ivec3 c = ivec3(cell);
  float value = mix(
    mix(mix(solidCorner(c), solidCorner(c + ivec3(1, 0, 0)), t.x),
        mix(solidCorner(c + ivec3(0, 1, 0)), solidCorner(c + ivec3(1, 1, 0)), t.x), t.y),
    mix(mix(solidCorner(c + ivec3(0, 0, 1)), solidCorner(c + ivec3(1, 0, 1)), t.x),
        mix(solidCorner(c + ivec3(0, 1, 1)), solidCorner(c + ivec3(1, 1, 1)), t.x), t.y), t.z);
  return 0.5 + (value - 0.5) * clamp(1.5 - rate * width, 0.0, 1.0);
}
float solidClouds(vec3 p, float rate, float width) {
  return (4.0 * solidNoise(p, rate, width) + 2.0 * solidNoise(p, 2.03 * rate, width)
    + solidNoise(p, 4.1 * rate, width)) / 7.0;
}
vec3 solidTexture(vec3 p, float w) {
#if SOLID == 1
  float vein = abs(2.0 * solidClouds(p, 5.0, w) - 1.0);
  float fine = abs(2.0 * solidClouds(p, 13.0, w) - 1.0);
  float clear = smoothstep(0.0, 0.16, vein) * (0.75 + 0.25 * smoothstep(0.0, 0.1, fine));
  return mix(vec3(0.3, 0.32, 0.36), vec3(1.0), clear) * (0.9 + 0.1 * solidNoise(p, 3.0, w));
#elif SOLID == 2
  return vec3(0.74 + 0.2 * solidClouds(p, 12.0, w) + 0.06 * solidNoise(p, 210.0, w));
#elif SOLID == 3
  float bent = 0.5 * solidNoise(p, 3.0, w) + 0.1 * solidNoise(p, 11.0, w);
  float ring = fract(length(p.xz) * 24.0 + bent * 2.0);
  float early = smoothstep(0.0, 0.6, ring) * (1.0 - smoothstep(0.85, 1.0, ring));
  float fibres = 0.85 + 0.15 * solidNoise(p * vec3(1.0, 0.05, 1.0), 170.0, w);
  return mix(vec3(1.0), vec3(0.58, 0.47, 0.38), early) * fibres;
#elif SOLID == 4
  float pore = 1.0 - 0.5 * smoothstep(0.76, 0.84, solidNoise(p, 38.0, w));
  return vec3((0.68 + 0.22 * solidClouds(p, 5.0, w) + 0.1 * solidNoise(p, 170.0, w)) * pore);
#else
  float dark = smoothstep(0.6, 0.7, solidNoise(p, 55.0, w));
  float warm = smoothstep(0.55, 0.7, solidNoise(p, 31.0, w));
  float ground = 0.74 + 0.26 * solidClouds(p, 6.0, w);
  return ground * mix(vec3(1.0), vec3(1.0, 0.9, 0.82), warm) * (1.0 - 0.35 * dark);
#endif
}
`;

/** Omits the image of a material where colors differ from its own. */
export function wrap(material, plain) {
  material.customProgramCacheKey = () => "image";
  material.onBeforeCompile = (shader) => {
    shader.uniforms.solidOff = plain;
    shader.fragmentShader = `uniform float solidOff;\n${shader.fragmentShader}`
      .replace("#include <map_fragment>", `#ifdef USE_MAP
        diffuseColor *= mix(texture2D(map, vMapUv), vec4(1.0), solidOff);
        #endif`);
  };
}

/** Adds a solid texture to a material; its geometry has the attribute `rest`, m. */
export function paint(material, texture, plain) {
  const number = NUMBERS[texture] ?? 0;
  if (!number) return;
  material.customProgramCacheKey = () => texture;
  material.onBeforeCompile = (shader) => {
    shader.uniforms.solidOff = plain;
    shader.vertexShader = `attribute vec3 rest;\nvarying vec3 vRest;\n${shader.vertexShader}`
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvRest = rest;");
    shader.fragmentShader = `#define SOLID ${number}\nuniform float solidOff;\n${FUNCTIONS}${shader.fragmentShader}`
      .replace("#include <color_fragment>", `#include <color_fragment>
        diffuseColor.rgb *= mix(solidTexture(vRest, length(fwidth(vRest))), vec3(1.0), solidOff);`);
  };
}
