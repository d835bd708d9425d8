// The page: what a visitor chooses, does and sees.

import { CURVES, Plot, legendEntry } from "./plot.js";
import { LiveStage, read } from "./live.js";
import { COMMANDS } from "./command.js";

const part = (id) => document.getElementById(id);
const KEPT = 300;
const SLIDERS = { speed: "m/s", radius: "m", density: "kg/m³", blast: "Pa s" };
/** The force beyond which a hand slips off, N. */
const GRIP = 20000;

/** Ways to draw less finely, from the first that is tried. */
const LESS = [
  (stage) => stage.sharpness(1),
  (stage) => {
    part("shadows").checked = false;
    stage.shadows(false);
  },
  (stage) => stage.sharpness(0.6),
];

function measure(value, unit) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toPrecision(3)} M${unit}`;
  if (size >= 1e3) return `${(value / 1e3).toPrecision(3)} k${unit}`;
  return `${size < 1e-6 ? "0" : value.toPrecision(3)} ${unit}`;
}

const toText = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const toBytes = (letters) => Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

class Page {
  constructor(scenes) {
    this.scenes = scenes;
    this.playing = true;
    this.own = undefined;
    part("scene").append(...scenes.map(({ key, title }) => new Option(title, key)));
    this.legend();
  }

  legend() {
    part("legend").append(...CURVES.map(([name, text]) => legendEntry(name, text)), legendEntry("gained", "frames that gained energy"));
  }

  setup() {
    const pieces = part("pieces").valueAsNumber;
    const setup = { scene: this.own?.scene ?? this.scenes.find(({ key }) => key === part("scene").value).text };
    if (pieces > 1) setup.pieces = pieces;
    for (const id of ["model", "material"]) if (part(id).value) setup[id] = part(id).value;
    if (!part("energy").checked) setup.keeps_energy = false;
    return setup;
  }

  /** Starts the scene that is chosen, with the events of a link if there are any. */
  load(events) {
    this.trouble();
    this.drag = undefined;
    part("counts").textContent = "building";
    this.waits = performance.now();
    tell({ kind: "load", setup: this.setup(), events });
    this.run();
    const down = Number(part("gravity").value);
    if (!events && down !== 9.81) this.act(COMMANDS.gravity(down));
  }

  started(frame) {
    this.waits = undefined;
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
      requestAnimationFrame((now) => this.tick(now));
      document.documentElement.dataset.ready = "true";
    }
    // a ball that one sees, and that can break what is there
    const size = Math.min(Math.max(Math.round(6 * frame.view.radius) / 100, 0.02), 0.3);
    part("radius").value = size;
    slide("radius");
    part("name").textContent = this.own?.name ?? part("scene").selectedOptions[0].textContent;
    this.tell(frame);
  }

  frame(frame, cost) {
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
    if (found.strain) lines.push(`hardest blow: ${(100 * found.strain).toPrecision(2)} % of what breaks it`);
    if (found.fall) lines.push(`a fall of ${found.fall.toPrecision(2)} m breaks it`);
    if (found.stone) lines.push(`a stone of 1 kg at ${found.stone.toPrecision(2)} m/s breaks it`);
    shown.textContent = lines.join("\n");
  }

  act(bytes) {
    tell({ kind: "act", bytes });
  }

  /** Asks what is under a place of the screen; one question at a time. */
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
    // from beside the lens, not out of it, and not through what is near
    const start = from.clone().addScaledVector(along, 4 * radius);
    const velocity = along.clone().multiplyScalar(part("speed").valueAsNumber);
    this.act(COMMANDS.throw([...start], [...velocity], radius, part("density").valueAsNumber));
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
    part("play").classList.toggle("playing", wanted);
    part("play").setAttribute("aria-label", wanted ? "Pause" : "Play");
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
    const late = this.waits ? now - this.waits > 100 : this.playing && since > period + 100;
    part("busy").hidden = !late;
    if (!this.told) this.tell(this.stage.last);
    this.adapt(now);
    this.stage.draw();
    const { dataset } = document.documentElement;
    dataset.drawn = Number(dataset.drawn ?? 0) + 1;
    requestAnimationFrame((time) => this.tick(time));
  }

  /** Draws less finely where a picture takes long, as without a graphics card. */
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
    part("trouble").hidden = !text;
    part("trouble").textContent = text ?? "";
    if (text) {
      this.waits = undefined;
      this.asks = false;
    }
  }

  /** Says something for a while. */
  say(text) {
    this.trouble(text);
    clearTimeout(this.saying);
    this.saying = setTimeout(() => this.trouble(), 2500);
  }

  share() {
    if (this.own) return this.say("A link holds the scenes of this page only, not a scene or mesh of your own.");
    tell({ kind: "events" });
  }

  async shared(events) {
    const link = new URLSearchParams({ scene: part("scene").value });
    const { pieces, model, material, keeps_energy: keeps } = this.setup();
    for (const [key, value] of Object.entries({ pieces, model, material })) if (value) link.set(key, value);
    if (keeps === false) link.set("energy", "off");
    if (events.length) link.set("events", toText(events));
    history.replaceState(null, "", `#${link}`);
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("The link is copied. It replays what you did, bit by bit.");
    } catch {
      this.say("The link is in the address bar. It replays what you did, bit by bit.");
    }
  }

  /** What the fragment of the address asks for. */
  fromLink() {
    const link = new URLSearchParams(location.hash.slice(1));
    const key = link.get("scene");
    if (this.scenes.some((scene) => scene.key === key)) part("scene").value = key;
    part("pieces").value = link.get("pieces") ?? 1;
    for (const id of ["model", "material"]) part(id).value = link.get(id) ?? "";
    for (const id of ["model", "material"]) if (part(id).selectedIndex < 0) part(id).value = "";
    part("energy").checked = link.get("energy") !== "off";
    Object.keys(SLIDERS).concat("pieces").forEach(slide);
    try {
      return link.has("events") ? toBytes(link.get("events")) : undefined;
    } catch {
      this.say("The events of the link are damaged: copy the whole link.");
      return undefined;
    }
  }

  async drop(file) {
    if (file.size > 32 << 20) return this.trouble(`${file.name}: it is larger than 32 MiB: simplify the mesh.`);
    const bytes = await file.arrayBuffer();
    tell({ kind: "file", name: file.name, bytes, wanted: true });
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
  part("scene").addEventListener("change", () => {
    page.own = undefined;
    history.replaceState(null, "", `#scene=${part("scene").value}`);
    page.load();
  });
  for (const id of ["pieces", "model", "material", "energy"]) part(id).addEventListener("change", () => page.load());
  part("gravity").addEventListener("change", () => page.act(COMMANDS.gravity(Number(part("gravity").value))));
  part("rate").addEventListener("change", () => page.run());
  part("file").addEventListener("change", () => part("file").files[0] && page.drop(part("file").files[0]));
  part("trouble").addEventListener("click", () => page.trouble());
  const shadows = () => page.stage.shadows(part("shadows").checked);
  part("shadows").addEventListener("change", shadows);
  const fold = (wanted) => {
    document.body.classList.toggle("folded", wanted);
    part("fold").setAttribute("aria-expanded", String(!wanted));
    page.stage.size = undefined;
  };
  const options = (wanted) => {
    document.body.classList.toggle("options", wanted);
    part("more").setAttribute("aria-expanded", String(wanted));
  };
  part("more").addEventListener("click", () => options(!document.body.classList.contains("options")));
  fold(matchMedia("(max-width: 640px), (max-height: 480px)").matches);
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
    g: () => fold(!document.body.classList.contains("folded")),
    s: () => {
      part("shadows").checked = !part("shadows").checked;
      shadows();
    },
    "?": () => part("keys").showModal(),
  };
  const buttons = { reset: "r", play: " ", on: "ArrowRight", fit: "c", help: "?", fold: "g" };
  for (const [id, key] of Object.entries(buttons)) part(id).addEventListener("click", actions[key]);
  part("share").addEventListener("click", () => page.share());
  addEventListener("keydown", (event) => {
    const of = event.target;
    if (event.key === "Enter" && of === part("stage")) return page.throwAt(...middle());
    // a control that has the focus keeps the keys it understands
    const own = of.matches?.("select") || (of.matches?.("input") && event.key.startsWith("Arrow"))
      || (event.key === " " && of.matches?.("button, input, summary"));
    if (own || part("keys").open || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
  matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => page.stage.theme());
  addEventListener("resize", () => (page.stage.size = undefined));
  addEventListener("hashchange", () => page.load(page.fromLink()));
  dropping(page);
  pointing(page, tool);
}

function dropping(page) {
  const mark = (wanted) => document.body.classList.toggle("dropping", wanted);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    mark(true);
  });
  addEventListener("dragleave", () => mark(false));
  addEventListener("drop", (event) => {
    event.preventDefault();
    mark(false);
    if (event.dataTransfer.files[0]) page.drop(event.dataTransfer.files[0]);
  });
}

/** A click throws, a drag of a body carries it, a stroke with the right button cuts; other drags orbit. */
function pointing(page, tool) {
  const canvas = part("stage");
  const { stage } = page;
  const line = part("stroke").querySelector("line");
  const place = (event) => [event.clientX, event.clientY];
  // panning is what the right button does elsewhere
  stage.controls.mouseButtons.RIGHT = null;
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary) {
      // a second finger zooms
      release(page);
      page.drag = undefined;
      stage.controls.enabled = true;
      return;
    }
    const is = event.button === 2 ? "cut" : event.button === 0 ? tool() : "look";
    const hit = is === "throw" ? stage.pick(...place(event)) : null;
    page.drag = { is, from: place(event), hit: hit?.body.moves ? hit : null };
    // a tool that is drawn with does not turn the camera
    stage.controls.enabled = !(is === "cut" || page.drag.hit);
    if (is === "cut" || page.drag.hit) canvas.setPointerCapture(event.pointerId);
  }, { capture: true });
  canvas.addEventListener("pointermove", (event) => {
    const { drag } = page;
    const [x, y] = place(event);
    if (!drag) return page.hover(x, y);
    const far = Math.hypot(x - drag.from[0], y - drag.from[1]) > 5;
    drag.moved ||= far;
    if (drag.is === "cut") {
      part("stroke").removeAttribute("hidden");
      const ends = { x1: drag.from[0], y1: drag.from[1], x2: x, y2: y };
      for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value);
    } else if (drag.hit && drag.moved) {
      if (!drag.held) {
        const { from, along } = stage.ray(...drag.from);
        page.act(COMMANDS.grab([...from], [...along], GRIP));
        drag.held = true;
      }
      drag.to = [...stage.facing(stage.ray(x, y), drag.hit.point)];
    }
  });
  const end = (event) => {
    const { drag } = page;
    if (!event.isPrimary || !drag) return;
    page.drag = undefined;
    stage.controls.enabled = true;
    part("stroke").setAttribute("hidden", "");
    if (drag.held) return page.act(COMMANDS.release());
    if (event.type === "pointercancel") return;
    if (drag.is === "cut") return page.cut(drag.from, place(event));
    if (drag.moved) return;
    if (drag.is === "throw") page.throwAt(...place(event));
    if (drag.is === "explode") page.explodeAt(...place(event));
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
}

function release(page) {
  if (page.drag?.held) page.act(COMMANDS.release());
}

const worker = new Worker("worker.js", { type: "module" });
const tell = (message) => worker.postMessage(message);
let page;

/** A scene of one's own that `brisance play` serves. */
async function ownScene() {
  const { name, scene, files } = await (await fetch("own.json")).json();
  for (const [n, file] of files.entries()) {
    tell({ kind: "file", name: file, bytes: await (await fetch(`own/${n}`)).arrayBuffer() });
  }
  return { name, scene };
}

const hears = {
  async ready({ scenes }) {
    page = new Page(scenes);
    const events = page.fromLink();
    if (location.search === "?own") {
      page.own = await ownScene();
      part("scene").add(new Option(page.own.name, "", true, true), 0);
    }
    page.load(events);
  },
  started: ({ bytes }) => page.started(read(bytes)),
  frame: ({ bytes, cost }) => page.frame(read(bytes), cost),
  picked: ({ found }) => page.picked(found),
  events: ({ bytes, fingerprint }) => {
    document.documentElement.dataset.fingerprint = fingerprint;
    page.shared(bytes);
  },
  own: ({ name, scene }) => {
    page.own = { name, scene };
    page.load();
  },
  trouble: ({ text }) => {
    if (page) return page.trouble(text);
    part("trouble").hidden = false;
    part("trouble").textContent = text;
  },
};

worker.addEventListener("message", ({ data }) => hears[data.kind](data));
