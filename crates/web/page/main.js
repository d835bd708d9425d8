// Starts the physics immediately, and the page when its scripts are loaded.

const worker = new Worker("worker.js", { type: "module" });
// its first message waits for the listener of the page
const first = new Promise((resolve) => worker.addEventListener("message", ({ data }) => resolve(data), { once: true }));
const { begin } = await import("./page.js");
begin(worker, await first);
