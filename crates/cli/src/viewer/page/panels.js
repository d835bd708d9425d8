// Common parts of the pages of recordings and of the playground: collapsible panels, keys, quantities as text.

export const part = (id) => document.getElementById(id);

/** A quantity with three digits and a prefix of its unit. */
export function measure(value, unit) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toPrecision(3)} M${unit}`;
  if (size >= 1e3) return `${(value / 1e3).toPrecision(3)} k${unit}`;
  return `${size < 1e-6 ? "0" : value.toPrecision(3)} ${unit}`;
}

/** Sets whether the button shows a running clock. */
export function showPlaying(playing) {
  part("play").classList.toggle("playing", playing);
  part("play").setAttribute("aria-label", playing ? "Pause" : "Play");
}

/** Collapses the graph on small pages and opens the options on request. Returns the toggle function. */
export function connectPanels(stage, changed) {
  const fold = (wanted) => {
    document.body.classList.toggle("folded", wanted);
    part("fold").setAttribute("aria-expanded", String(!wanted));
    stage.size = undefined;
    changed();
  };
  const open = (wanted) => {
    document.body.classList.toggle("options", wanted);
    part("more").setAttribute("aria-expanded", String(wanted));
  };
  part("more").addEventListener("click", () => open(!document.body.classList.contains("options")));
  matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => {
    stage.theme();
    changed();
  });
  addEventListener("resize", () => {
    stage.size = undefined;
    changed();
  });
  fold(matchMedia("(max-width: 640px), (max-height: 480px)").matches);
  return () => fold(!document.body.classList.contains("folded"));
}

/** Binds keys to `actions`, and buttons to the actions of their keys. */
export function connectKeys(actions, buttons) {
  for (const [id, key] of Object.entries(buttons)) part(id).addEventListener("click", actions[key]);
  addEventListener("keydown", (event) => {
    const of = event.target;
    // a focused control keeps its own keys
    const own = of.matches?.('select, input:not([type="range"], [type="radio"], [type="checkbox"], [type="file"])')
      || (of.matches?.("input") && event.key.startsWith("Arrow"))
      || (event.key === " " && of.matches?.("button, input, summary"));
    if (own || part("keys").open || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
