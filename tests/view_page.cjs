// Operates the page of `brisance view` at the given address in a headless browser, as a user does,
// and writes screenshots to the given folder. Prints the observations as JSON.
// NODE_PATH must hold the npm package playwright-core, BROWSER the path of a Chromium.
const { chromium } = require("playwright-core");

const [address, folder, scheme = "dark", size = "1280x800"] = process.argv.slice(2);
const [width, height] = size.split("x").map(Number);
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: flags });
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
  const trouble = [];
  const external_requests = [];
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("request", (request) => request.url().startsWith(address) || external_requests.push(request.url()));
  await page.goto(address);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const shot = async (name) => {
    await drawn();
    await page.screenshot({ path: `${folder}/${name}.png` });
  };
  const text = (selector) => page.textContent(selector);

  const plays = await text("#clock");
  await page.waitForFunction((before) => document.getElementById("clock").textContent !== before, plays, { timeout: 60_000 });
  await page.keyboard.press("Home");
  await shot("first");
  const first = await text("#clock");
  const plot = await page.locator("#plot").boundingBox();
  await page.mouse.click(plot.x + plot.width * 0.5, plot.y + plot.height / 2);
  await shot("middle");
  const middle = await text("#clock");
  const pieces = await text("#counts");
  await page.keyboard.press("e");
  await page.keyboard.press("c");
  await shot("exploded");
  const calls = await page.evaluate(() => document.documentElement.dataset.calls);
  await page.keyboard.press("c");
  await shot("generations");
  await page.keyboard.press("c");
  await page.keyboard.press("e");
  await shot("speeds");
  const stressed = await page.isVisible("#stressed");
  await page.keyboard.press("c");
  const colour = await page.inputValue("input[name=colour]:checked");
  if (stressed) await shot("stresses");
  const high = await text("#high");
  const legend = await text("#legend");
  const dusty = await page.isVisible("#dusty");
  if (dusty) {
    await page.keyboard.press("End");
    for (const name of ["dust", "clear"]) {
      await shot(name);
      await page.keyboard.press("d");
    }
  }
  await browser.close();
  console.log(JSON.stringify({ first, middle, pieces, legend, calls: Number(calls), stressed, dusty, colour, high, trouble, external_requests }));
})();
