// A run as a link, and as files.

import { toBytes, toObjects } from "./command.js";

const FORMAT = "brisance play";

const toText = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const fromText = (letters) => Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

/** The fragment of an address for a scene, its changes, and events. */
export function toFragment(scene, choices, events) {
  const link = new URLSearchParams({ scene });
  for (const [key, value] of Object.entries(choices)) if (value !== undefined) link.set(key, value);
  if (events?.length) link.set("events", toText(events));
  return `#${link}`;
}

/** The contents of a fragment: text, and events, which are null if damaged. */
export function fromFragment(fragment) {
  const { events, ...choices } = Object.fromEntries(new URLSearchParams(fragment.slice(1)));
  if (events === undefined) return { choices };
  try {
    return { choices, events: fromText(events) };
  } catch {
    return { choices, events: null };
  }
}

/** A run as readable text, which the page replays when dropped on it. */
export function toFile({ name, setup, frames, fps, fingerprint, events }) {
  const run = { format: FORMAT, version: 1, name, frames, fps, fingerprint, setup, events: toObjects(events) };
  return JSON.stringify(run, null, 1);
}

/** The inverse of `toFile`; throws a sentence if the input is invalid. */
export function fromFile(text) {
  let run;
  try {
    run = JSON.parse(text);
  } catch {
    throw new Error("it is no JSON");
  }
  if (run.format !== FORMAT || run.version !== 1 || !run.setup || !Array.isArray(run.events)) {
    throw new Error("it is not what Save events writes");
  }
  return { name: String(run.name), setup: run.setup, events: toBytes(run.events) };
}

/** Downloads a file. */
export function save(name, kind, bytes) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
