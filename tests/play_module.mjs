// Runs the module of the playground in Node: node play_module.mjs brisance.wasm FRAMES EVENTS [KEY ...] EVENTS
// are hexadecimal, in the format of `Play::events`. Prints the key, the fingerprint and the milliseconds of
// processor time per frame of each scene, as JSON.
import { readFileSync } from "node:fs";

const [file, frames, events, ...keys] = process.argv.slice(2);
const module = await WebAssembly.compile(readFileSync(file));
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  imports[from] ??= {};
  imports[from][name] = () => {
    throw new Error(`${from}.${name} was called`);
  };
}
const wasm = (await WebAssembly.instantiate(module, imports)).exports;
const text = new TextDecoder();
const answer = () => text.decode(new Uint8Array(wasm.memory.buffer, wasm.output(), wasm.output_length()));

function call(name, bytes = new Uint8Array()) {
  // memory growth replaces the buffer
  const at = wasm.input(bytes.length);
  new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
  if (!wasm[name]()) throw new Error(answer());
}

wasm.start();
call("scenes");
const seen = {};
for (const { key, text: scene } of JSON.parse(answer())) {
  if (keys.length && !keys.includes(key)) continue;
  const run = () => {
    call("load", new TextEncoder().encode(JSON.stringify({ scene })));
    call("replay", Uint8Array.from(Buffer.from(events, "hex")));
    const before = process.cpuUsage();
    for (let frame = 0; frame < Number(frames); frame++) call("step");
    return process.cpuUsage(before);
  };
  // the first timed run includes compilation by the engine
  if (keys.length) run();
  const spent = run();
  seen[key] = {
    fingerprint: BigInt.asUintN(64, wasm.fingerprint()).toString(16),
    milliseconds: (spent.user + spent.system) / 1e3 / Number(frames),
  };
}
console.log(JSON.stringify(seen));
