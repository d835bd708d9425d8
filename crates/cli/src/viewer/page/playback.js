// The recording from the program, in the format of `viewer/playback.rs`.

import { POSE, unpack } from "./packed.js";

export async function load(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the program answered ${answer.status}`);
  return read(await answer.arrayBuffer());
}

/** A recording embedded in the page. */
export function decode(base64) {
  return read(Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0)).buffer);
}

function read(bytes) {
  const { head, geometries, floats, bytes: next } = unpack(bytes);
  const bodies = head.bodies.map((body, number) => ({
    ...body,
    number,
    end: body.birth + body.frames,
    poses: floats(POSE * body.frames),
    waypoints: waypointsOf(Array.from({ length: body.corners }, () => floats(1 + POSE))),
  }));
  for (const body of bodies) {
    const parent = bodies[body.parent];
    body.root = parent ? parent.root : body.number;
    body.generation = parent ? parent.generation + 1 : 0;
    body.moves = parent !== undefined || hasMoved(body.poses);
  }
  const dust = head.dust && dustOf(head.dust, floats);
  const images = head.images.map(({ type, bytes }) => new Blob([next(bytes)], { type }));
  return { ...head, geometries, images, bodies, dust, breaks: breaks(bodies), blows: blows(bodies), alive: alive(bodies, head.frames) };
}

function dustOf({ count, gravity }, floats) {
  const [positions, velocities, colours, sizes, lives] = [3, 3, 3, 1, 3].map((width) => floats(width * count));
  return { count, gravity, positions, velocities, colours, sizes, lives };
}

/** By the previous frame, with the elapsed fraction of the frame. */
function waypointsOf(entries) {
  const waypoints = new Map();
  for (const [time, ...pose] of entries) {
    const frame = Math.floor(time);
    if (!waypoints.has(frame)) waypoints.set(frame, []);
    waypoints.get(frame).push({ fraction: time - frame, pose });
  }
  return waypoints;
}

export function lives(body, frame) {
  return body.birth <= frame && frame < body.end;
}

/** Speed since the previous frame, m/s; in the first frame, until the next. */
export function speed(body, frame, fps) {
  const to = Math.min(Math.max(frame - body.birth, 1), body.frames - 1);
  if (to < 1) return 0;
  const p = body.poses, a = POSE * (to - 1), b = POSE * to;
  return fps * Math.hypot(p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]);
}

/** The largest stress in a body, Pa, at its last blow, if known. */
export function stress(body, frame) {
  const entry = body.stress.findLast(([first]) => first <= frame);
  return entry && { principal: entry[1], vonMises: entry[2] };
}

function hasMoved(poses) {
  for (let i = POSE; i < poses.length; i++) if (poses[i] !== poses[i - POSE]) return true;
  return false;
}

/** The frames with fractures, ascending. */
function breaks(bodies) {
  const births = bodies.filter((body) => body.parent !== null).map((body) => body.birth);
  return [...new Set(births)].sort((a, b) => a - b);
}

/** The frames in which at least a sixth of all pieces break off, ascending. */
function blows(bodies) {
  const pieces = bodies.filter((body) => body.parent !== null);
  const counts = new Map();
  for (const { birth } of pieces) counts.set(birth, (counts.get(birth) ?? 0) + 1);
  return [...counts].filter(([, count]) => 6 * count >= pieces.length).map(([frame]) => frame).sort((a, b) => a - b);
}

/** The number of bodies in each frame. */
function alive(bodies, frames) {
  const change = new Int32Array(frames + 1);
  for (const body of bodies) {
    change[body.birth] += 1;
    change[body.end] -= 1;
  }
  let count = 0;
  return Array.from({ length: frames }, (_, frame) => (count += change[frame]));
}
