// Packed data for pages from the program and the module of the playground: a JSON header and arrays of 32-bit
// numbers.

/** Numbers of a pose: position and unit quaternion. */
export const POSE = 7;

/** The header of packed bytes, the geometries after it, and functions that read a number of `f32` or bytes. */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let at = Math.ceil((4 + length) / 4) * 4;
  const take = (kind, count) => {
    const array = new kind(buffer, at, count);
    at += 4 * count;
    return array;
  };
  const geometries = head.geometries.map(([vertices, triangles, uvs]) => ({
    positions: take(Float32Array, 3 * vertices),
    normals: take(Float32Array, 3 * vertices),
    rest: take(Float32Array, 3 * vertices),
    uvs: uvs ? take(Float32Array, 2 * uvs) : null,
    indices: take(Uint32Array, 3 * triangles),
  }));
  const bytes = (count) => {
    at += count;
    return new Uint8Array(buffer, at - count, count);
  };
  return { head, geometries, floats: (count) => take(Float32Array, count), bytes };
}

/** The two poses around a fraction of a frame, including waypoints at impacts, and the fraction between them. */
export function segment(before, after, waypoints, fraction) {
  let from = before, start = 0;
  for (const waypoint of waypoints) {
    if (fraction < waypoint.fraction) return { from, to: waypoint.pose, along: (fraction - start) / (waypoint.fraction - start) };
    [from, start] = [waypoint.pose, waypoint.fraction];
  }
  return { from, to: after, along: (fraction - start) / Math.max(1 - start, 1e-6) };
}
