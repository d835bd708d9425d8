// Energy over time; the plot is also the time line.

export const CURVES = [
  ["kinetic", "kinetic"],
  ["potential", "potential"],
  ["total", "total"],
  ["lost", "dissipated"],
];

/** An entry of the legend, with a field for the value of the curve. */
export function legendEntry(name, text) {
  const entry = document.createElement("li");
  const swatch = document.createElement("i");
  swatch.className = name;
  const value = document.createElement("b");
  value.id = `value-${name}`;
  entry.append(swatch, `${text} `, value);
  return entry;
}

export class Plot {
  constructor(canvas, recording, seek) {
    this.canvas = canvas;
    this.set(recording);
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return Math.round(((event.clientX - box.left) / box.width) * (this.recording.frames - 1));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      seek(at(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) seek(at(event));
    });
  }

  /** Plots another recording, or the same with more frames. */
  set(recording) {
    this.recording = recording;
    this.curves = curves(recording);
    const all = Object.values(this.curves).flat();
    this.low = Math.min(0, ...range(all, Math.min));
    this.high = Math.max(...range(all, Math.max), this.low + 1e-12);
  }

  /** The value of each curve in a frame, for the legend, if recorded. */
  values(frame) {
    return Object.fromEntries(Object.entries(this.curves).map(([name, of]) => [name, of[frame]]));
  }

  draw(frame) {
    const { canvas, recording: { frames, alive, breaks } } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const dense = Math.min(devicePixelRatio, 2);
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
    const pen = canvas.getContext("2d");
    pen.scale(dense, dense);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const x = (f) => (f / Math.max(frames - 1, 1)) * width;
    const y = (value) => height - 3 - ((value - this.low) / (this.high - this.low)) * (height - 8);

    pen.fillStyle = colour("fill");
    const most = Math.max(...range(alive, Math.max), 1);
    pen.beginPath();
    pen.moveTo(0, height);
    alive.forEach((count, f) => {
      const top = height - (count / most) * (height - 5);
      pen.lineTo(x(f), top);
      pen.lineTo(x(Math.min(f + 1, frames - 1)), top);
    });
    pen.lineTo(width, height);
    pen.fill();

    pen.strokeStyle = colour("soft");
    pen.lineWidth = 1;
    for (const f of breaks) line(pen, [[x(f), height - 7], [x(f), height]]);
    pen.lineWidth = 1.6;
    pen.lineJoin = "round";
    for (const [name, values] of Object.entries(this.curves)) {
      pen.strokeStyle = colour(name);
      line(pen, values.map((value, f) => [x(f), y(value)]));
    }
    pen.strokeStyle = colour("ink");
    pen.lineWidth = 1;
    line(pen, [[x(frame), 0], [x(frame), height]]);
  }
}

function line(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
}

/** The extreme of a list as a list of one; empty for an empty list. */
function range(values, pick) {
  return values.length ? [values.reduce((a, b) => pick(a, b))] : [];
}

/** Potential energy is relative to its minimum, so that both curves share an axis. */
function curves({ energies }) {
  if (!energies.length) return {};
  const kinetic = energies.map((e) => e.kinetic);
  const ground = energies.reduce((low, e) => Math.min(low, e.potential), Infinity);
  const potential = energies.map((e) => e.potential - ground);
  let sum = 0;
  const lost = energies.map((e) => (sum += e.dissipated));
  return { lost, kinetic, potential, total: kinetic.map((k, f) => k + potential[f]) };
}
