// Operates the page of `brisance play` at the given address in a headless browser, as a visitor does, and writes
// screenshots to the given folder. Prints the observations as JSON.
// NODE_PATH must hold the npm package playwright-core, BROWSER the path of a Chromium.
const fs = require("node:fs");
const { chromium } = require("playwright-core");

const [address, folder, scheme = "dark", size = "960x640"] = process.argv.slice(2);
const [width, height] = size.split("x").map(Number);
const origin = new URL(address).origin;
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Advances to a frame, frame by frame if the page is paused; returns the fingerprint of the world. */
async function go(page, frame) {
  let at = Number(await page.evaluate(() => document.documentElement.dataset.frame ?? 0));
  while (at < frame) {
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction((n) => Number(document.documentElement.dataset.frame) > n, at);
    at += 1;
  }
  await page.evaluate(() => delete document.documentElement.dataset.fingerprint);
  await page.evaluate(() => document.getElementById("events").click());
  await page.waitForFunction(() => document.documentElement.dataset.fingerprint);
  return page.evaluate(() => document.documentElement.dataset.fingerprint);
}

/** Two-finger gestures on a small screen: fingers that move in parallel cut, fingers that move apart zoom. */
async function fingers(browser) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: scheme });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${address}#scene=dominoes`);
  await page.waitForSelector("html[data-ready]", { timeout: 120_000 });
  const client = await context.newCDPSession(page);
  const touch = (type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const stroke = async (path) => {
    await touch("touchStart", [path[0][0]]);
    await touch("touchStart", path[0]);
    for (const points of path) await touch("touchMove", points);
    await page.screenshot({ path: `${folder}/fingers.png` });
    await touch("touchEnd", []);
    await page.waitForTimeout(1500);
  };
  const bodies = () => page.evaluate(() => Number(document.documentElement.dataset.bodies));
  const start = await bodies();
  await stroke([0, 1, 2, 3, 4, 5].map((n) => [[150 - 20 * n, 380], [240 + 20 * n, 380]]));
  const zoomed = await bodies();
  await stroke([0, 1, 2, 3, 4, 5, 6].map((n) => [[20 + 40 * n, 380], [20 + 40 * n, 440]]));
  const cut = await bodies();
  await context.close();
  return { start, zoomed, cut };
}

/** Unreadable meshes, a mesh with its materials, and a link to an unknown scene; returns the messages and the scenes. */
async function mistakes(browser) {
  const context = await browser.newContext({ viewport: { width: 960, height: 640 }, colorScheme: scheme });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${address}#scene=arch`);
  await page.waitForSelector("html[data-ready]");
  const said = () => page.$eval("#trouble", (trouble) => (trouble.hidden ? "" : trouble.textContent));
  const runs = () => page.$eval("#name", (name) => name.textContent);
  const triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n";
  const give = (files) => page.setInputFiles("#file", files.map(([name, text]) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) })));
  const settled = () => page.waitForFunction(() => document.getElementById("counts").textContent.includes("bodies"));
  const seen = {};
  for (const [what, name, text] of [["broken", "broken.obj", triangle], ["text", "notes.txt", "notes"]]) {
    await give([[name, text]]);
    await page.waitForFunction((n) => document.getElementById("trouble").textContent.startsWith(n), name);
    await settled();
    seen[what] = [await said(), await runs()];
  }
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `v ${n & 1} ${(n >> 1) & 1} ${(n >> 2) & 1}\n`).join("");
  const cube = `mtllib cube.mtl\nusemtl red\n${corners}f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n`;
  await give([["cube.obj", cube], ["cube.mtl", "newmtl red\nKd 0.9 0.1 0.1\n"]]);
  await page.waitForFunction(() => document.getElementById("name").textContent === "cube.obj");
  await settled();
  seen.cube = [await said(), await runs()];
  await page.screenshot({ path: `${folder}/cube.png` });
  const go = async (hash) => {
    await page.evaluate((to) => (location.hash = to), hash);
    await page.waitForTimeout(300);
    const text = await said();
    await settled();
    return [text, await runs()];
  };
  seen.unknown = await go("#scene=nowhere&events=@");
  await go("#scene=dominoes");
  await page.goBack();
  await page.goBack();
  await page.waitForFunction(() => document.getElementById("name").textContent.startsWith("Arch"));
  await context.close();
  return seen;
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: flags });
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const trouble = [];
  const external_requests = [];
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("request", (request) => request.url().startsWith(origin) || external_requests.push(request.url()));
  const data = () => page.evaluate(() => ({ ...document.documentElement.dataset }));
  const number = async (name) => Number((await data())[name] ?? 0);
  const frames = async (wanted) => {
    await page.waitForFunction((n) => Number(document.documentElement.dataset.frame) >= n, wanted, { timeout: 120_000 });
  };
  const said = async () => {
    if (await page.isVisible("#trouble")) trouble.push(await page.textContent("#trouble"));
  };

  await page.goto(address);
  await page.waitForSelector("html[data-ready]", { timeout: 120_000 });
  // times since the request of the page until the module, the scene and the first picture are ready, ms
  const marks = await page.evaluate(() =>
    Object.fromEntries(performance.getEntriesByType("mark").map(({ name, startTime }) => [name, Math.round(startTime)])));
  const keys = await page.$$eval("#scene option", (options) => options.map((o) => o.value).filter(Boolean));
  const scenes = {};
  const unbroken = ["dominoes", "arch"];
  for (const key of keys) {
    await page.selectOption("#scene", key);
    await page.waitForFunction(() => document.getElementById("counts").textContent !== "building", null, { timeout: 120_000 });
    await frames(2).catch(() => trouble.push(`${key} does not run`));
    const before = await number("bodies");
    await page.mouse.click(width * 0.45, height * 0.42);
    await page.waitForFunction((n) => Number(document.documentElement.dataset.bodies) > n, before, { timeout: 60_000 })
      .catch(() => trouble.push(`${key}: nothing was thrown`));
    await page.waitForTimeout(2000);
    if (!unbroken.includes(key)) {
      await page.waitForFunction(() => !document.getElementById("counts").textContent.includes(" 0 of them"), null, { timeout: 120_000 })
        .catch(() => trouble.push(`${key}: nothing broke`));
    }
    await said();
    await page.screenshot({ path: `${folder}/${key}.png`, timeout: 120_000 });
    const pieces = Number(/(\d+) of them pieces/.exec(await page.textContent("#counts"))[1]);
    scenes[key] = { before, pieces, gained: await number("gained"), cost: await number("cost"), frame: await number("frame") };
  }

  // a cut, an explosion and a throw by hand, then a link that replays them
  await page.selectOption("#scene", "window");
  await page.waitForFunction(() => document.getElementById("counts").textContent !== "building");
  await page.mouse.move(width * 0.5, height * 0.3);
  await page.mouse.down({ button: "right" });
  await page.mouse.move(width * 0.3, height * 0.5, { steps: 4 });
  await page.mouse.move(width * 0.55, height * 0.55, { steps: 4 });
  await page.screenshot({ path: `${folder}/stroke.png` });
  await page.mouse.up({ button: "right" });
  await page.mouse.move(width * 0.48, height * 0.45);
  await page.keyboard.press("x");
  await page.waitForTimeout(1500);
  await page.keyboard.press(" ");
  await page.waitForTimeout(300);
  await page.click("#share");
  await page.waitForFunction(() => document.documentElement.dataset.fingerprint);
  const shared = { ...(await data()), link: page.url() };
  const events = Buffer.from(new URLSearchParams(new URL(shared.link).hash.slice(1)).get("events"), "base64url").toString("hex");

  // downloads the events and the recording; the page replays dropped events
  const download = async (button) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
    await file.saveAs(`${folder}/${button.slice(1)}`);
  };
  await page.click("summary");
  await download("#events");
  await download("#glb");
  const run = JSON.parse(fs.readFileSync(`${folder}/events`, "utf8"));
  fs.renameSync(`${folder}/events`, `${folder}/events.json`);
  await page.evaluate(() => delete document.documentElement.dataset.fingerprint);
  await page.setInputFiles("#file", `${folder}/events.json`);
  await page.waitForFunction((n) => Number(document.documentElement.dataset.frame) < n, run.frames);
  const dropped = await go(page, run.frames);
  await said();
  await page.close();
  const again = await context.newPage();
  again.setDefaultTimeout(120_000);
  await again.goto(shared.link);
  await again.waitForSelector("html[data-ready]", { timeout: 120_000 });
  // pause before the frame of the link, and advance to it frame by frame
  await again.keyboard.press(" ");
  await again.waitForTimeout(300);
  const early = Number(await again.evaluate(() => document.documentElement.dataset.frame ?? 0)) <= Number(shared.frame);
  const replayed = await go(again, Number(shared.frame));
  await again.close();
  const touched = await fingers(browser);
  const mistaken = await mistakes(browser);
  await browser.close();
  console.log(JSON.stringify({ marks, scenes, early, link: shared.link.length, shared: shared.fingerprint,
    replayed, run: run.fingerprint, frames: run.frames, events, dropped, touched, mistaken, trouble, external_requests }));
})();
