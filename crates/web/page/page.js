// The page: options, actions and display.

import { COMMANDS } from "./command.js";
import { LiveStage, read } from "./live.js";
import { connectKeys, connectPanels, measure, part, showPlaying } from "./panels.js";
import { CURVES, Plot, legendEntry } from "./plot.js";
import { connectPointer } from "./pointer.js";
import { fromFile, fromFragment, save, toFile, toFragment } from "./share.js";

const KEPT = 300;
const SLIDERS = { speed: "m/s", radius: "m", density: "kg/m³", blast: "Pa s" };
/** Fields of the settings of a scene that are plain text. */
const CHOICES = ["model", "material"];
/** Names of files with solids. */
const MESHES = /\.(obj|stl|ply|glb|svg)$/i;
/** Default gravity, m/s^2. */
const EARTH = "9.81";

/** Reductions of drawing quality, in order of use. */
const LESS = [
  (stage) => stage.sharpness(1),
  (stage) => {
    part("shadows").checked = false;
    stage.shadows(false);
  },
  (stage) => stage.sharpness(0.6),
];

let worker;
let page;
const tell = (message) => worker.postMessage(message);

class Page {
  constructor(scenes) {
    this.scenes = scenes;
    this.playing = true;
    /** A user scene, the run of a file, and user meshes. */
    [this.own, this.file, this.files] = [undefined, undefined, []];
    /** The last setup that ran; initially that of the page. */
    this.runs = { choices: {} };
    part("scene").append(...scenes.map(({ key, title }) => new Option(title, key)));
    this.legend();
  }

  legend() {
    part("legend").append(...CURVES.map(([name, text]) => legendEntry(name, text)), legendEntry("gained", "frames that gained energy"));
  }

  /** Initial state of the scene; see `Setup` in `crates/visit/src/setup.rs`. */
  setup() {
    if (this.file) return this.file.setup;
    const { pieces, seed, energy, ...rest } = this.choices();
    const setup = { scene: this.own?.scene ?? this.scenes.find(({ key }) => key === part("scene").value).text };
    if (pieces) setup.pieces = Number(pieces);
    if (seed) setup.seed = Number(seed);
    for (const key of CHOICES) if (rest[key]) setup[key] = rest[key];
    if (energy) setup.keeps_energy = false;
    return setup;
  }

  /** Choices that differ from the scene, in the format of links. */
  choices() {
    const pieces = part("pieces").valueAsNumber;
    const [gravity, seed] = [part("gravity").value, part("seed").value];
    return {
      pieces: pieces > 1 ? String(pieces) : undefined,
      ...Object.fromEntries(CHOICES.map((key) => [key, part(key).value || undefined])),
      gravity: gravity === EARTH ? undefined : gravity,
      seed: seed === "" || !part("seed").validity.valid ? undefined : seed,
      energy: part("energy").checked ? undefined : "off",
    };
  }

  /** Starts the chosen scene, with the events of a link if there are any. */
  load(events) {
    this.trouble();
    this.stopped = false;
    this.drag = undefined;
    part("counts").textContent = "building";
    this.waits = performance.now();
    this.told = true;
    tell({ kind: "load", setup: this.setup(), events });
    this.run();
    const { gravity } = this.choices();
    if (!events && gravity !== undefined) this.act(COMMANDS.gravity(Number(gravity)));
  }

  started(frame) {
    this.waits = undefined;
    this.runs = { own: this.own, given: this.given, file: this.file, choices: { scene: part("scene").value, ...this.choices() } };
    this.fps = frame.fps;
    Object.assign(document.documentElement.dataset, { frame: 0, bodies: frame.ids.length, gained: 0 });
    this.curve = { frames: 1, energies: [frame.energy], alive: [frame.ids.length], breaks: [] };
    if (this.stage) {
      this.stage.restart(frame);
      this.plot.set(this.curve);
    } else {
      this.stage = new LiveStage(part("stage"), frame);
      this.plot = new Plot(part("plot"), this.curve, () => {});
      connect(this);
      performance.mark("scene");
      requestAnimationFrame((now) => this.tick(now));
    }
    // a visible ball that can break the bodies of the scene
    const size = Math.min(Math.max(Math.round(6 * frame.view.radius) / 100, 0.02), 0.3);
    part("radius").value = size;
    slide("radius");
    part("name").textContent = this.named();
    this.tell(frame);
  }

  frame(frame, cost) {
    // of the previous scene
    if (this.waits !== undefined) return;
    this.cost = 0.9 * (this.cost ?? cost) + 0.1 * cost;
    this.came = performance.now();
    const { curve } = this;
    curve.energies.push(frame.energy);
    curve.alive.push(frame.ids.length);
    if (frame.broke) curve.breaks.push(curve.frames);
    curve.frames += 1;
    if (curve.frames > KEPT) {
      const over = curve.frames - KEPT;
      curve.energies.splice(0, over);
      curve.alive.splice(0, over);
      curve.breaks = curve.breaks.map((f) => f - over).filter((f) => f >= 0);
      curve.frames = KEPT;
    }
    this.stage.advance(frame);
    tell({ kind: "taken" });
    this.told = false;
    if (frame.slipped) this.say("The hand slipped: it bears 20 kN.");
    if (this.drag?.held && this.drag.to) {
      this.act(COMMANDS.drag(this.drag.to));
      this.drag.to = undefined;
    }
    Object.assign(document.documentElement.dataset, { frame: frame.frame, bodies: frame.ids.length, gained: frame.gained, cost: this.cost.toFixed(2) });
  }

  tell(frame) {
    this.told = true;
    this.plot.set(this.curve);
    const pieces = [...this.stage.bodies.values()].filter((body) => body.piece).length;
    const replays = frame.replaying ? "\nreplaying a link" : "";
    part("counts").textContent = `${frame.ids.length} bodies, ${pieces} of them pieces${replays}`;
    part("clock").textContent = `${(frame.frame / this.fps).toFixed(2)} s`;
    for (const [name, value] of Object.entries(this.plot.values(this.curve.frames - 1))) {
      part(`value-${name}`).textContent = measure(value, "J");
    }
    part("value-gained").textContent = frame.gained;
    if (!document.body.classList.contains("folded")) this.plot.draw(this.curve.frames - 1);
  }

  picked(found) {
    this.asks = false;
    this.found = found;
    const shown = part("picked");
    shown.hidden = !found;
    if (!found) return;
    const lines = [found.mass ? `${found.name}: ${measure(1000 * found.mass, "g")}` : `${found.name}: does not move`];
    if (found.strain) lines.push(`hardest impact: ${(100 * found.strain).toPrecision(2)} % of the strength`);
    if (found.fall) lines.push(`a fall of ${found.fall.toPrecision(2)} m breaks it`);
    if (found.stone) lines.push(`a stone of 1 kg at ${found.stone.toPrecision(2)} m/s breaks it`);
    shown.textContent = lines.join("\n");
  }

  /** Adds a user scene to the list, replaces the previous one, and chooses it. */
  take(own) {
    if (this.given) part("scene").remove(0);
    this.own = this.given = own;
    if (own) part("scene").add(new Option(own.name, "", true, true), 0);
  }

  /** The name of the current scene. */
  named() {
    return this.file?.name ?? this.own?.name ?? part("scene").selectedOptions[0].textContent;
  }

  act(bytes) {
    tell({ kind: "act", bytes });
  }

  /** Queries the body under a point of the screen; one query at a time. */
  hover(x, y) {
    this.at = [x, y];
    if (this.asks) return;
    this.asks = true;
    const { from, along } = this.stage.ray(x, y);
    tell({ kind: "pick", ray: [...from, ...along] });
  }

  throwAt(x, y) {
    const { from, along } = this.stage.ray(x, y);
    const radius = part("radius").valueAsNumber;
    // from beside the camera, not out of it, and not through near bodies
    const start = from.clone().addScaledVector(along, 4 * radius);
    const velocity = along.clone().multiplyScalar(part("speed").valueAsNumber);
    this.act(COMMANDS.throw([...start], [...velocity], radius, part("density").valueAsNumber));
  }

  /** Grabs the body under the start of a drag, and sends the target of the hand. */
  carry(drag, [x, y], force) {
    if (!drag.held) {
      const { from, along } = this.stage.ray(...drag.from);
      this.act(COMMANDS.grab([...from], [...along], force));
      drag.held = true;
    }
    drag.to = [...this.stage.facing(this.stage.ray(x, y), drag.hit.point)];
  }

  letGo() {
    if (this.drag?.held) this.act(COMMANDS.release());
  }

  explodeAt(x, y) {
    const hit = this.stage.pick(x, y);
    if (!hit) return;
    const radius = 0.6 * this.stage.view.radius;
    this.act(COMMANDS.explode([...hit.point], radius, part("blast").valueAsNumber));
  }

  cut([x0, y0], [x1, y1]) {
    if (Math.hypot(x1 - x0, y1 - y0) < 5) return;
    const far = 4 * this.stage.reach;
    const edge = (x, y) => {
      const { from, along } = this.stage.ray(x, y);
      return [from.clone().addScaledVector(along, 0.02 * far), from.clone().addScaledVector(along, far)].map((p) => [...p]);
    };
    this.act(COMMANDS.cut(edge(x0, y0), edge(x1, y1)));
  }

  play(wanted) {
    this.playing = wanted;
    showPlaying(wanted);
    this.run();
  }

  run() {
    this.came = performance.now();
    this.pace = Number(part("rate").value);
    tell({ kind: "run", playing: this.playing, pace: this.pace });
  }

  step() {
    this.play(false);
    tell({ kind: "step" });
  }

  /** Draws between two frames. */
  tick(now) {
    const period = 1000 / (this.fps * this.pace);
    const since = now - this.came;
    if (this.stage.last) this.stage.show(this.playing ? Math.min(Math.max(since / period, 0), 1) : 1);
    const late = this.waits ? now - this.waits > 100 : this.playing && !this.stopped && since > period + 100;
    part("busy").hidden = !late;
    if (!this.told) this.tell(this.stage.last);
    this.adapt(now);
    this.stage.draw();
    const { dataset } = document.documentElement;
    dataset.drawn = Number(dataset.drawn ?? 0) + 1;
    if (!dataset.ready) performance.mark("picture");
    dataset.ready = "true";
    requestAnimationFrame((time) => this.tick(time));
  }

  /** Reduces drawing quality where pictures are slow, as without a graphics card. */
  adapt(now) {
    const took = Math.min(now - (this.before ?? now), 1000);
    this.before = now;
    if (document.hidden) return;
    this.slowness = 0.9 * (this.slowness ?? 16) + 0.1 * took;
    if (this.slowness < 70 || !LESS.length) return;
    LESS.shift()(this.stage);
    this.slowness = 16;
  }

  trouble(text) {
    clearTimeout(this.saying);
    part("trouble").hidden = !text;
    part("trouble").textContent = text ?? "";
    this.asks &&= !text;
  }

  /** Shows why the physics stopped. The previous scene replaces a scene that cannot be built. */
  failed({ text, stopped, dead }) {
    this.stopped = stopped;
    if (this.waits !== undefined && stopped) {
      this.waits = undefined;
      part("counts").textContent = "nothing runs";
      if (this.runs && !dead) this.restore(this.runs);
    }
    this.trouble(text);
  }

  restore({ own, given, file, choices }) {
    // only once: the settings of the previous scene may be invalid, too
    this.runs = undefined;
    this.take(given);
    Object.assign(this, { own, file });
    this.choose(choices);
    this.load();
  }

  /** Shows a message for a while. */
  say(text) {
    this.trouble(text);
    this.saying = setTimeout(() => this.trouble(), 2500);
  }

  /** Requests the events so far; `wants` is their purpose: a link or a file. */
  ask(wants) {
    if (wants === "link" && (this.own || this.file)) {
      return this.say("A link holds the scenes of this page only: save the events instead.");
    }
    this.wants = wants;
    tell({ kind: "events" });
  }

  /** Handles the events so far and the fingerprint of the world. */
  async toldEvents({ bytes, fingerprint, frame }) {
    document.documentElement.dataset.fingerprint = fingerprint;
    if (this.wants === "glb") return this.record(bytes, frame);
    const { fps } = this;
    if (this.wants === "file") {
      const run = toFile({ name: this.named(), setup: this.setup(), frames: frame, fps, fingerprint, events: bytes });
      return save(`${this.fileName()}.json`, "application/json", run);
    }
    history.replaceState(null, "", toFragment(part("scene").value, this.choices(), bytes));
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("The link is copied. It replays what you did, bit by bit.");
    } catch {
      this.say("The link is in the address bar. It replays what you did, bit by bit.");
    }
  }

  fileName() {
    return this.named().toLowerCase().replace(/[^a-z0-9]+/g, "-") || "scene";
  }

  /** Replays the run beside the current one, and downloads it as a recording. */
  record(events, frames) {
    if (this.recorder) return this.say("A recording is being made.");
    const name = this.fileName();
    this.recorder = new Worker("worker.js", { type: "module" });
    const end = (text) => {
      this.recorder.terminate();
      this.recorder = undefined;
      part("glb").textContent = "Save GLB";
      if (text) this.trouble(text);
    };
    part("glb").textContent = "recording…";
    this.recorder.addEventListener("message", ({ data }) => {
      if (data.kind === "trouble") return end(data.text);
      if (data.kind === "ready") {
        this.files.forEach((file) => this.recorder.postMessage({ kind: "file", ...file }));
        this.recorder.postMessage({ kind: "record", setup: this.setup(), events, frames });
      }
      if (data.kind !== "recorded") return;
      save(`${name}.glb`, "model/gltf-binary", data.bytes);
      end();
    });
  }

  /** Starts the scene of the fragment of the address. */
  fromLink() {
    const { choices, events } = fromFragment(location.hash);
    const { scene } = choices;
    const is = this.scenes.some(({ key }) => key === scene);
    this.file = undefined;
    this.own = undefined;
    if (scene === undefined && this.served) this.take(this.served);
    this.choose(choices);
    const wrong = [];
    if (scene !== undefined && !is) wrong.push(`The link names the scene "${scene}", which is not here.`);
    if (events === null) wrong.push("The events of the link are damaged: copy the whole link.");
    this.load(events ?? undefined);
    if (wrong.length) this.say(wrong.join("\n"));
  }

  /** Shows the choices of a link; missing choices have the defaults of the page. */
  choose(choices) {
    const is = this.scenes.some(({ key }) => key === choices.scene);
    part("scene").value = is ? choices.scene : this.own ? "" : this.scenes[0].key;
    part("pieces").value = choices.pieces ?? 1;
    part("seed").value = choices.seed ?? "";
    part("gravity").value = choices.gravity ?? EARTH;
    for (const key of CHOICES) part(key).value = choices[key] ?? "";
    for (const id of [...CHOICES, "gravity"]) if (part(id).selectedIndex < 0) part(id).selectedIndex = 0;
    part("energy").checked = choices.energy !== "off";
    Object.keys(SLIDERS).concat("pieces").forEach(slide);
  }

  /** Reads files: events to replay, or a mesh with its materials and images. */
  async drop(files) {
    const large = files.find(({ size }) => size > 32 << 20);
    if (large) return this.trouble(`${large.name}: it is larger than 32 MiB: simplify the mesh.`);
    const run = files.find(({ name }) => /\.json$/i.test(name));
    if (run) return this.replay(run);
    const mesh = files.find(({ name }) => MESHES.test(name)) ?? files[0];
    const others = files.filter((file) => file !== mesh);
    for (const file of [...others, mesh]) {
      const { name } = file;
      // a dropped item may be a folder
      const bytes = await file.arrayBuffer().catch(() => undefined);
      if (!bytes) return this.trouble(`${name}: it cannot be read: drop files.`);
      this.files = this.files.filter((known) => known.name !== name).concat({ name, bytes });
      tell({ kind: "file", name, bytes, wanted: file === mesh });
    }
  }

  /** Replays a downloaded run. */
  async replay(file) {
    try {
      const { events, ...run } = fromFile(await file.text());
      this.file = run;
      this.load(events);
    } catch (problem) {
      this.trouble(`${file.name}: ${problem.message}.`);
    }
  }
}

/** Shows the value of a slider. */
function slide(id) {
  const value = part(id).valueAsNumber;
  part(`${id}-value`).textContent = id === "pieces" ? (value > 1 ? value : "as the scene") : `${value} ${SLIDERS[id]}`;
}

function connect(page) {
  const tool = () => document.querySelector('input[name="tool"]:checked').value;
  for (const id of Object.keys(SLIDERS).concat("pieces")) part(id).addEventListener("input", () => slide(id));
  // the address holds the choices
  const choose = () => {
    page.file = undefined;
    if (!page.own) history.replaceState(null, "", toFragment(part("scene").value, page.choices()));
    page.load();
  };
  part("scene").addEventListener("change", () => {
    page.own = part("scene").value ? undefined : page.given;
    choose();
  });
  for (const id of [...CHOICES, "pieces", "energy", "seed"]) part(id).addEventListener("change", choose);
  part("another").addEventListener("click", () => {
    [part("seed").value] = crypto.getRandomValues(new Uint32Array(1));
    choose();
  });
  part("gravity").addEventListener("change", () => page.act(COMMANDS.gravity(Number(part("gravity").value))));
  part("rate").addEventListener("change", () => page.run());
  part("file").addEventListener("change", () => {
    const files = [...part("file").files];
    // the user may choose the same file again after a correction
    part("file").value = "";
    if (files.length) page.drop(files);
  });
  part("trouble").addEventListener("click", () => page.trouble());
  const shadows = () => page.stage.shadows(part("shadows").checked);
  part("shadows").addEventListener("change", shadows);
  const fold = connectPanels(page.stage, () => {});
  const middle = () => [innerWidth / 2, innerHeight / 2];
  const actions = {
    " ": () => page.play(!page.playing),
    ArrowRight: () => page.step(),
    r: () => page.load(),
    m: () => {
      part("rate").value = part("rate").value === "1" ? "0.1" : "1";
      page.run();
    },
    x: () => page.explodeAt(...(page.at ?? middle())),
    c: () => page.stage.home(),
    g: fold,
    s: () => {
      part("shadows").checked = !part("shadows").checked;
      shadows();
    },
    "?": () => part("keys").showModal(),
  };
  const buttons = { reset: "r", play: " ", on: "ArrowRight", fit: "c", help: "?", fold: "g" };
  connectKeys(actions, buttons);
  for (const [id, wants] of Object.entries({ share: "link", events: "file", glb: "glb" })) {
    part(id).addEventListener("click", () => page.ask(wants));
  }
  part("stage").addEventListener("keydown", (event) => event.key === "Enter" && page.throwAt(...middle()));
  addEventListener("hashchange", () => page.fromLink());
  connectDrop(page);
  connectPointer(page, tool);
}

function connectDrop(page) {
  const mark = (wanted) => document.body.classList.toggle("dropping", wanted);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    mark(true);
  });
  addEventListener("dragleave", () => mark(false));
  addEventListener("drop", (event) => {
    event.preventDefault();
    mark(false);
    if (event.dataTransfer.files.length) page.drop([...event.dataTransfer.files]);
  });
}

/** The user scene that `brisance play` serves. */
async function ownScene() {
  const { name, scene, files } = await (await fetch("own.json")).json();
  for (const [n, file] of files.entries()) {
    const given = { name: file, bytes: await (await fetch(`own/${n}`)).arrayBuffer() };
    page.files.push(given);
    tell({ kind: "file", ...given });
  }
  return { name, scene };
}

const hears = {
  async ready({ scenes }) {
    performance.mark("physics");
    page = new Page(scenes);
    if (location.search === "?own") page.served = await ownScene();
    page.fromLink();
  },
  started: ({ bytes }) => page.started(read(bytes)),
  frame: ({ bytes, cost }) => page.frame(read(bytes), cost),
  picked: ({ found }) => page.picked(found),
  events: (message) => page.toldEvents(message),
  own({ name, scene }) {
    page.file = undefined;
    page.take({ name, scene });
    page.load();
  },
  trouble(message) {
    if (page) return page.failed(message);
    part("trouble").hidden = false;
    part("trouble").textContent = message.text;
  },
};

/** Continues after the first message of the physics. */
export function begin(physics, first) {
  worker = physics;
  worker.addEventListener("message", ({ data }) => hears[data.kind](data));
  hears[first.kind](first);
}
