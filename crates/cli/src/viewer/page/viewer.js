// The page: a recording, its display options, and its time line.

import { connectKeys, connectPanels, measure, part, showPlaying } from "./panels.js";
import { decode, lives, load, speed, stress } from "./playback.js";
import { CURVES, Plot, legendEntry } from "./plot.js";
import { RecordedStage } from "./recorded.js";

const COLOURS = ["material", "body", "generation", "speed", "stress"];

class Player {
  constructor(recording) {
    this.recording = recording;
    this.last = recording.frames - 1;
    this.frame = 0;
    this.stage = new RecordedStage(part("stage"), recording);
    this.plot = new Plot(part("plot"), recording, (frame) => this.seek(frame));
    part("frame").max = this.last;
    part("name").textContent = recording.name;
    document.title = `${recording.name} - brisance`;
    this.legend();
    this.seek(0);
  }

  legend() {
    const items = CURVES.filter(([name]) => this.plot.curves[name]);
    part("legend").append(...items.map(([name, text]) => legendEntry(name, text)), legendEntry("bodies", "bodies"));
  }

  seek(frame) {
    this.moment = Math.min(Math.max(frame, 0), this.last);
    this.frame = Math.floor(this.moment);
    this.stage.show(this.moment);
    this.tell();
  }

  tell() {
    const { fps, alive, bodies } = this.recording;
    const { frame } = this;
    part("frame").value = frame;
    const clock = part("clock");
    clock.textContent = `${(frame / fps).toFixed(2)} s `;
    const frames = document.createElement("span");
    frames.textContent = `frame ${frame} of ${this.last}`;
    clock.append(frames);
    const pieces = bodies.filter((body) => body.generation > 0 && lives(body, frame)).length;
    part("counts").textContent = `${alive[frame]} bodies, ${pieces} of them pieces`;
    part("value-bodies").textContent = alive[frame];
    for (const [name, value] of Object.entries(this.plot.values(frame))) {
      part(`value-${name}`).textContent = measure(value, "J");
    }
    this.describe();
    this.plot.draw(frame);
  }

  pick(body) {
    this.picked = body;
    this.describe();
  }

  describe() {
    const shown = part("picked");
    const body = this.picked;
    shown.hidden = !body;
    if (!body) return;
    const from = this.recording.bodies[body.parent];
    const state = lives(body, this.frame)
      ? `${speed(body, this.frame, this.recording.fps).toFixed(2)} m/s`
      : this.frame < body.birth ? "not yet" : "no more";
    const origin = from ? `broke off ${from.name} in frame ${body.birth}` : "was there from the beginning";
    const strained = stress(body, this.frame);
    const tension = strained
      ? `\nstress ${measure(strained.principal, "Pa")}, von Mises ${measure(strained.vonMises, "Pa")}`
      : "";
    shown.textContent =
      `${body.name}: ${state}\n${body.material}, generation ${body.generation}\n${origin}${tension}`;
  }

  play(wanted) {
    if (wanted && this.moment >= this.last) this.seek(0);
    this.playing = wanted;
    showPlaying(wanted);
  }

  /** Frames per second at a time: the chosen rate, or a fifth of the real rate around a blow. */
  pace() {
    const { fps, blows } = this.recording;
    const rate = part("rate").value;
    if (rate !== "blow") return fps * Number(rate);
    const away = blows.map((blow) => (this.moment < blow ? blow - this.moment : 0.4 * (this.moment - blow)) / fps);
    const near = Math.min(...away, Infinity);
    return fps * Math.min(1, 0.2 + Math.max(0, near - 0.1) / 0.15);
  }

  /** Advances with real time. */
  tick(now) {
    const passed = Math.min((now - (this.before ?? now)) / 1000, 0.25);
    this.before = now;
    if (this.playing) {
      // playback stops at the end for a second, and restarts
      const { fps } = this.recording;
      const next = (this.beyond ?? this.moment) + passed * this.pace();
      this.beyond = next > this.last && next < this.last + fps ? next : undefined;
      const moment = next > this.last && this.beyond === undefined ? 0 : Math.min(next, this.last);
      if (moment !== this.moment) this.seek(moment);
    } else {
      this.beyond = undefined;
    }
    this.stage.draw();
    requestAnimationFrame((time) => this.tick(time));
  }

  pauseAt(frame) {
    this.play(false);
    this.seek(frame);
  }

  look(change) {
    Object.assign(this.stage.look, change);
    const { colour, apart } = this.stage.look;
    part("apart").textContent = apart ? `+${Math.round(100 * apart)} %` : "off";
    const { fastest, generations, tensest } = this.stage;
    const scales = {
      speed: ["0", `${fastest.toPrecision(2)} m/s`],
      generation: ["whole", `${generations}`],
      stress: ["0", measure(tensest, "Pa")],
    };
    part("scale").hidden = !scales[colour];
    [part("low").textContent, part("high").textContent] = scales[colour] ?? ["", ""];
    this.stage.show(this.moment);
  }
}

function connect(player) {
  const { stage } = player;
  const colour = (name) => {
    document.querySelector(`input[name="colour"][value="${name}"]`).checked = true;
    player.look({ colour: name });
  };
  const explode = (apart) => {
    part("explode").value = apart;
    player.look({ apart });
  };
  const toggle = (id, act) => {
    part(id).checked = !part(id).checked;
    act();
  };
  // only bodies of finite elements have stress
  part("stressed").hidden = !stage.tensest;
  const colours = COLOURS.filter((name) => name !== "stress" || stage.tensest);
  const inner = () => player.look({ inner: part("inner").checked });
  part("dusty").hidden = !stage.dust;
  const dust = () => player.look({ dust: part("dust").checked });
  const shadows = () => stage.shadows(part("shadows").checked);
  part("frame").addEventListener("input", () => player.pauseAt(part("frame").valueAsNumber));
  part("plot").addEventListener("pointerdown", () => player.play(false));
  part("explode").addEventListener("input", () => explode(part("explode").valueAsNumber));
  part("colours").addEventListener("change", (event) => colour(event.target.value));
  part("inner").addEventListener("change", inner);
  part("shadows").addEventListener("change", shadows);
  part("dust").addEventListener("change", dust);
  const fold = connectPanels(stage, () => player.tell());
  const next = () => player.recording.breaks.find((f) => f > player.frame) ?? player.recording.breaks[0];
  const actions = {
    " ": () => player.play(!player.playing),
    ArrowLeft: (event) => player.pauseAt(player.frame - (event.shiftKey ? 10 : 1)),
    ArrowRight: (event) => player.pauseAt(player.frame + (event.shiftKey ? 10 : 1)),
    Home: () => player.pauseAt(0),
    End: () => player.pauseAt(player.last),
    b: () => player.pauseAt(next() ?? player.frame),
    c: () => colour(colours[(colours.indexOf(stage.look.colour) + 1) % colours.length]),
    d: () => stage.dust && toggle("dust", dust),
    e: () => explode(stage.look.apart ? 0 : 1),
    g: fold,
    i: () => toggle("inner", inner),
    s: () => toggle("shadows", shadows),
    r: () => stage.home(),
    "?": () => part("keys").showModal(),
  };
  const buttons = { first: "Home", back: "ArrowLeft", play: " ", on: "ArrowRight", fit: "r", help: "?", fold: "g" };
  connectKeys(actions, buttons);
  pointing(player);
  player.look({});
}

/** A click without a drag shows the name of a body. */
function pointing(player) {
  const canvas = part("stage");
  let down = [0, 0];
  canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
  canvas.addEventListener("click", (event) => {
    if (Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return;
    player.pick(player.stage.pick(event.clientX, event.clientY)?.body);
  });
  canvas.addEventListener("dblclick", (event) => {
    const hit = player.stage.pick(event.clientX, event.clientY);
    if (hit) player.stage.lookAt(hit.point);
  });
}

/** The embedded recording, or the chosen one of the list. */
async function find() {
  const embedded = part("embedded");
  if (embedded) {
    part("recordings").hidden = true;
    return decode(embedded.textContent);
  }
  const number = Number.parseInt(location.search.slice(1), 10) || 0;
  await choose(number);
  return load(`recording/${number}`);
}

/** A list of the given recordings, if there are several. */
async function choose(number) {
  const names = await (await fetch("recordings")).json();
  const list = part("recordings");
  list.hidden = names.length < 2;
  list.append(...names.map((name, n) => new Option(name, n, n === number, n === number)));
  list.addEventListener("change", () => (location.search = list.value));
}

try {
  const player = new Player(await find());
  connect(player);
  player.stage.draw();
  player.play(!matchMedia("(prefers-reduced-motion: reduce)").matches && player.last > 0);
  requestAnimationFrame((time) => player.tick(time));
  document.documentElement.dataset.ready = "true";
} catch (problem) {
  part("trouble").hidden = false;
  part("trouble").textContent = `This recording cannot be shown: ${problem.message}`;
  part("counts").textContent = "";
  throw problem;
}
