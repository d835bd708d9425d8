// The physics: a WebAssembly module that steps a scene in a worker.

const text = new TextDecoder();
let wasm;
let running = false;
let playing = true;
let pace = 1;
let fps = 30;
let due = 0;
let timer;
/** Frames that the page has not processed yet. */
let ahead = 0;
/** Limit of `ahead`, for pages that draw slowly. */
const MOST_AHEAD = 8;

/** A copy of the answer of the module. */
function answer() {
  return new Uint8Array(wasm.memory.buffer, wasm.output(), wasm.output_length()).slice();
}

/** Calls a function of the module with bytes. Returns its answer, or throws its error message. */
function call(name, bytes = new Uint8Array(), ...numbers) {
  let done;
  try {
    const at = wasm.input(bytes.length);
    new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
    done = wasm[name](...numbers);
  } catch (problem) {
    const said = text.decode(new Uint8Array(wasm.memory.buffer, wasm.panicked(), wasm.panicked_length()));
    // the state after a panic is invalid
    wasm = undefined;
    running = false;
    throw new Error(`the simulation stopped: ${said || problem.message}. Reload the page.`);
  }
  if (!done) throw new Error(text.decode(answer()));
  return answer();
}

const encode = (value) => new TextEncoder().encode(value);

async function begin() {
  const response = await fetch("brisance.wasm");
  if (!response.ok) throw new Error(`brisance.wasm: the server answered ${response.status}`);
  // streaming compilation fails if the server sends another content type
  const streams = response.headers.get("Content-Type")?.startsWith("application/wasm");
  const { instance } = streams
    ? await WebAssembly.instantiateStreaming(response)
    : await WebAssembly.instantiate(await response.arrayBuffer());
  wasm = instance.exports;
  wasm.start();
  const scenes = JSON.parse(text.decode(call("scenes")));
  postMessage({ kind: "ready", scenes });
}

function step() {
  const start = performance.now();
  const bytes = call("step");
  ahead += 1;
  postMessage({ kind: "frame", bytes: bytes.buffer, cost: performance.now() - start }, [bytes.buffer]);
}

/** Steps at the rate of the scene, as far as processor time allows. */
function tick() {
  clearTimeout(timer);
  if (!running || !playing) return;
  const period = 1000 / (fps * pace);
  const now = performance.now();
  // skips frames that are too late
  if (now - due > 4 * period) due = now;
  guarded(() => {
    if (now >= due && ahead >= MOST_AHEAD) {
      due = now + 4;
    } else if (now >= due) {
      step();
      due += period;
    }
  });
  timer = setTimeout(tick, Math.max(0, due - performance.now()));
}

function guarded(act) {
  try {
    act();
  } catch (problem) {
    postMessage({ kind: "trouble", text: problem.message, stopped: !running, dead: !wasm });
  }
}

const does = {
  record({ setup, events, frames }) {
    call("load", encode(JSON.stringify(setup)));
    call("replay", events);
    const bytes = call("record", undefined, frames);
    postMessage({ kind: "recorded", bytes: bytes.buffer }, [bytes.buffer]);
  },
  load({ setup, events }) {
    running = false;
    const bytes = call("load", encode(JSON.stringify(setup)));
    if (events) call("replay", events);
    const length = new DataView(bytes.buffer).getUint32(0, true);
    fps = JSON.parse(text.decode(bytes.subarray(4, 4 + length))).fps;
    running = true;
    ahead = 0;
    due = performance.now();
    postMessage({ kind: "started", bytes: bytes.buffer }, [bytes.buffer]);
    tick();
  },
  file({ name, bytes, wanted }) {
    const known = encode(name);
    const both = new Uint8Array(known.length + bytes.byteLength);
    both.set(known);
    both.set(new Uint8Array(bytes), known.length);
    const scene = text.decode(call("keep_file", both, known.length));
    if (wanted) postMessage({ kind: "own", name, scene });
  },
  act: ({ bytes }) => call("act", bytes),
  run(message) {
    playing = message.playing;
    pace = message.pace;
    due = performance.now();
    tick();
  },
  taken: () => (ahead = Math.max(0, ahead - 1)),
  step: () => running && step(),
  pick: ({ ray }) => postMessage({ kind: "picked", found: running ? JSON.parse(text.decode(call("pick", undefined, ...ray))) : null }),
  events: () => postMessage({ kind: "events", bytes: call("events"), frame: wasm.frame(), fingerprint: BigInt.asUintN(64, wasm.fingerprint()).toString(16) }),
};

addEventListener("message", ({ data }) => {
  // after a panic only the page can restart
  if (wasm) guarded(() => does[data.kind](data));
});

begin().catch((problem) => postMessage({ kind: "trouble", text: `The simulation cannot start: ${problem.message}` }));
