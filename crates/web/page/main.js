// Starts the physics at once; the page follows when its scripts are there.

const worker = new Worker("worker.js", { type: "module" });
// what it says first waits for the page to listen
const first = new Promise((resolve) => worker.addEventListener("message", ({ data }) => resolve(data), { once: true }));
const { begin } = await import("./page.js");
begin(worker, await first);
