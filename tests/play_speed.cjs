// Measures the speed of the page of `brisance play` for four seconds from a frame on: node play_speed.cjs ADDRESS
// FRAME. Prints the number of bodies, steps and pictures per second, and milliseconds per step.
// NODE_PATH must hold the npm package playwright-core, BROWSER the path of a Chromium.
const { chromium } = require("playwright-core");

const [address, frame] = process.argv.slice(2);
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: flags });
  const page = await browser.newPage({ viewport: { width: 960, height: 640 } });
  page.setDefaultTimeout(120_000);
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  await page.waitForFunction((n) => Number(document.documentElement.dataset.frame) >= n, Number(frame));
  const look = () => page.evaluate(() => ({ now: performance.now(), ...document.documentElement.dataset }));
  const before = await look();
  await page.waitForTimeout(4000);
  const after = await look();
  const seconds = (after.now - before.now) / 1000;
  const rate = (name) => (after[name] - before[name]) / seconds;
  console.log(JSON.stringify({ bodies: Number(after.bodies), steps: rate("frame"), pictures: rate("drawn"), step: Number(after.cost) }));
  await browser.close();
})();
