// Commands as bytes: `crates/web/src/command.rs` says how they are laid out.

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
