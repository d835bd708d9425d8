// Pointer input on the picture: a click throws, a drag of a body carries it, a stroke with the right button or with
// two fingers cuts; other drags orbit.

import { COMMANDS } from "./command.js";
import { part } from "./panels.js";

/** Force beyond which the hand slips off, N. */
const GRIP = 20000;
/** Minimum distance of a drag, pixels. */
const CLICK = 5;
/** Minimum distance of two fingers before they cut or zoom, pixels. */
const DECIDES = 14;

const place = (event) => [event.clientX, event.clientY];

/** The current stroke of a cut. */
function drawStroke([x1, y1], [x2, y2]) {
  const line = part("stroke").querySelector("line");
  part("stroke").removeAttribute("hidden");
  for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) line.setAttribute(name, value);
}

const hideStroke = () => part("stroke").setAttribute("hidden", "");

class Pointer {
  constructor(page, tool) {
    Object.assign(this, { page, tool, fingers: new Map() });
  }

  down(event) {
    const { page } = this;
    const { controls } = page.stage;
    this.fingers.set(event.pointerId, place(event));
    if (!event.isPrimary) return this.second(event);
    const is = event.button === 2 ? "cut" : event.button === 0 ? this.tool() : "look";
    const hit = is === "throw" ? page.stage.pick(...place(event)) : null;
    page.drag = { is, from: place(event), hit: hit?.body.moves ? hit : null };
    // a drawing tool does not turn the camera
    controls.enabled = !(is === "cut" || page.drag.hit);
    if (!controls.enabled) part("stage").setPointerCapture(event.pointerId);
  }

  /** A second finger: until they decide, two fingers neither cut nor zoom. */
  second(event) {
    const { page, fingers } = this;
    if (event.pointerType !== "touch") return;
    page.letGo();
    page.drag = undefined;
    hideStroke();
    page.stage.controls.enabled = true;
    this.pair = fingers.size === 2 ? { from: this.middle(), apart: this.apart() } : undefined;
  }

  middle() {
    const [[ax, ay], [bx, by]] = this.fingers.values();
    return [(ax + bx) / 2, (ay + by) / 2];
  }

  apart() {
    const [[ax, ay], [bx, by]] = this.fingers.values();
    return Math.hypot(ax - bx, ay - by);
  }

  move(event) {
    const { page, fingers } = this;
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, place(event));
    if (this.pair && fingers.size === 2) return this.moveTwo();
    const { drag } = page;
    const [x, y] = place(event);
    if (!drag) return event.pointerType === "touch" ? undefined : page.hover(x, y);
    drag.moved ||= Math.hypot(x - drag.from[0], y - drag.from[1]) > CLICK;
    if (drag.is === "cut") return drawStroke(drag.from, [x, y]);
    if (drag.hit && drag.moved) page.carry(drag, [x, y], GRIP);
  }

  /** Fingers with the same direction draw a stroke; fingers with opposite directions zoom. */
  moveTwo() {
    const { pair, page } = this;
    const [x, y] = this.middle();
    const along = Math.hypot(x - pair.from[0], y - pair.from[1]);
    if (!pair.is && Math.max(along, Math.abs(this.apart() - pair.apart)) > DECIDES) {
      pair.is = along > Math.abs(this.apart() - pair.apart) ? "cut" : "zoom";
      page.stage.controls.enabled = pair.is === "zoom";
    }
    if (pair.is !== "cut") return;
    pair.to = [x, y];
    drawStroke(pair.from, pair.to);
  }

  end(event) {
    const { page, pair } = this;
    this.fingers.delete(event.pointerId);
    if (pair) {
      // the first lifted finger ends the stroke; the other has no effect until lifted
      if (pair.is === "cut" && event.type === "pointerup") page.cut(pair.from, pair.to);
      this.pair = undefined;
    }
    if (!this.fingers.size) page.stage.controls.enabled = true;
    const { drag } = page;
    if (!drag || !event.isPrimary) {
      hideStroke();
      return;
    }
    page.drag = undefined;
    hideStroke();
    if (drag.held) return page.act(COMMANDS.release());
    if (event.type === "pointercancel") return;
    if (drag.is === "cut") return page.cut(drag.from, place(event));
    if (drag.moved) return;
    if (drag.is === "throw") page.throwAt(...place(event));
    if (drag.is === "explode") page.explodeAt(...place(event));
  }
}

export function connectPointer(page, tool) {
  const canvas = part("stage");
  const pointer = new Pointer(page, tool);
  // the default of the right button and two fingers is panning
  page.stage.controls.mouseButtons.RIGHT = null;
  page.stage.controls.enablePan = false;
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => pointer.down(event), { capture: true });
  canvas.addEventListener("pointermove", (event) => pointer.move(event));
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => pointer.end(event));
}
