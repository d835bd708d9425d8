// Commands as bytes, in the format of `crates/visit/src/command.rs`, and as JSON.

/** The name of each command and its fields with their lengths, by the number of its kind. */
const KINDS = [
  ["throw", { from: 3, velocity: 3, radius: 1, density: 1 }],
  ["grab", { from: 3, along: 3, force: 1 }],
  ["drag", { to: 3 }],
  ["release", {}],
  ["cut", { from: 6, to: 6 }],
  ["explode", { at: 3, radius: 1, impulse: 1 }],
  ["gravity", { down: 1 }],
];

function pack(kind, numbers) {
  const bytes = new Uint8Array(1 + 4 * numbers.length);
  bytes[0] = kind;
  const view = new DataView(bytes.buffer);
  numbers.forEach((x, n) => view.setFloat32(1 + 4 * n, x, true));
  return bytes;
}

export const COMMANDS = {
  throw: (from, velocity, radius, density) => pack(0, [...from, ...velocity, radius, density]),
  grab: (from, along, force) => pack(1, [...from, ...along, force]),
  drag: (to) => pack(2, to),
  release: () => pack(3, []),
  cut: (from, to) => pack(4, [...from.flat(), ...to.flat()]),
  explode: (at, radius, impulse) => pack(5, [...at, radius, impulse]),
  gravity: (down) => pack(6, [down]),
};

/** The events of a run as objects: `{ frame, throw: { from, velocity, radius, density } }`. */
export function toObjects(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const events = [];
  let at = 0, frame = 0;
  while (at < bytes.length) {
    let shift = 0, byte;
    do {
      byte = bytes[at++];
      frame += (byte & 0x7f) << shift;
      shift += 7;
    } while (byte & 0x80);
    const [name, parts] = KINDS[bytes[at++]];
    const numbers = (count) => Array.from({ length: count }, () => view.getFloat32((at += 4) - 4, true));
    const take = ([part, count]) => [part, count > 1 ? numbers(count) : numbers(1)[0]];
    events.push({ frame, [name]: Object.fromEntries(Object.entries(parts).map(take)) });
  }
  return events;
}

/** The inverse of `toObjects`; throws a sentence if the input is invalid. */
export function toBytes(events) {
  const bytes = [];
  let last = 0;
  for (const event of events) {
    const kind = KINDS.findIndex(([name]) => name in event);
    if (kind < 0 || !(event.frame >= last)) throw new Error("an event is of no kind that there is, or out of order");
    const [name, parts] = KINDS[kind];
    const numbers = Object.keys(parts).flatMap((part) => event[name][part]);
    let frames = event.frame - last;
    for (; frames >= 0x80; frames >>= 7) bytes.push((frames & 0x7f) | 0x80);
    bytes.push(frames, ...pack(kind, numbers));
    last = event.frame;
  }
  return Uint8Array.from(bytes);
}
