// Drives headless Chromium over the pages in the folder named by the first argument: run.html and
// sweep.html. Each check is a claim about what a reader can see and do; the first that does not
// hold ends the run with status 1.
import { strict as assert } from "node:assert";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const pages = resolve(process.argv[2] ?? "pages");
const shots = process.argv[3] && resolve(process.argv[3]);
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
  .find(path => path && existsSync(path));
assert(executablePath, "no Chromium found: install Debian's chromium or name one in CHROMIUM");

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** Opens a page from disk and holds it to what every page must be: silent on the console, and alone in the world. */
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, ...options });
  const page = await context.newPage();
  const url = pathToFileURL(resolve(pages, name)).href;
  const complaints = [];
  page.on("console", message => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", error => complaints.push(String(error)));
  page.on("request", request => {
    const asked = request.url();
    if (asked !== url && !asked.startsWith("data:")) complaints.push("asked for " + asked);
  });
  page.on("dialog", dialog => { complaints.push("a dialog: " + dialog.message()); dialog.dismiss(); });
  await page.goto(url);
  return { page, complaints, close: () => context.close() };
}

async function accessible(page, what) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const told = found.violations.map(one => `${one.id}: ${one.help} at ${one.nodes.slice(0, 3).map(node => node.target + " " + node.failureSummary).join("; ")}`);
  assert.deepEqual(told, [], `axe-core on ${what}`);
}

const windowOf = page => page.locator("[data-picture]").first().getAttribute("data-window");
const settled = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));

const checks = {
  async "a page shows verdict, replay line and picture, alone and in silence"() {
    const { page, complaints, close } = await open("run.html");
    await page.getByText("violated", { exact: true }).first().waitFor();
    assert.match(await page.locator(".replay code").first().innerText(), /^fencepost /);
    const picture = await page.locator("svg.picture").first().boundingBox();
    assert(picture.width > 1000 && picture.height > 200, "the picture is there");
    assert(await page.locator(".clash").count() > 0, "the overlap is shaded");
    const report = JSON.parse(await page.locator("#report").textContent());
    assert.equal(report.format, "fencepost.report");
    await settled(page);
    assert.deepEqual(complaints, []);
    if (shots) await page.screenshot({ path: resolve(shots, "page-light.png") });
    await close();
  },

  async "zooming in halves the window, and the whole run can be seen"() {
    const { page, close } = await open("run.html");
    const length = async () => { const [from, to] = (await windowOf(page)).replace(/^-/, "0").split("-").map(Number); return to - from; };
    const before = await length();
    await page.getByRole("button", { name: "Zoom in" }).first().click();
    await settled(page);
    assert(Math.abs(await length() - before / 2) < 10, "half");
    await page.getByRole("button", { name: "whole run" }).first().click();
    await settled(page);
    assert(await length() > before * 2, "the whole run is longer");
    await close();
  },

  async "arrow keys step through events and say each aloud"() {
    const { page, close } = await open("run.html");
    await page.locator(".view").first().focus();
    await page.keyboard.press("ArrowRight");
    const first = await page.locator(".detail").first().innerText();
    await page.keyboard.press("ArrowRight");
    const second = await page.locator(".detail").first().innerText();
    assert.match(first, /^#e\d+ /);
    assert.notEqual(first, second);
    assert.equal(await page.locator(".detail").first().getAttribute("aria-live"), "polite");
    await close();
  },

  async "hovering over a message shows the command, and a mark shows its event"() {
    const { page, close } = await open("run.html");
    await page.locator(".mark.witness").first().dispatchEvent("pointerover");
    assert.match(await page.locator(".detail").first().innerText(), /#e\d+/);
    const set = page.locator("line.message").filter({ hasText: "SET " }).first();
    await set.dispatchEvent("pointerover");
    assert.match(await page.locator(".detail").first().innerText(), /client-\d+ to redis-\d+: .*SET .*next the other way/);
    await close();
  },

  async "a lane that is switched off is not seen, nor are its messages"() {
    const { page, close } = await open("run.html");
    const lane = page.locator("rect.lane[data-node=client-1]").first();
    assert.notEqual(await lane.getAttribute("visibility"), "hidden");
    await page.locator("input[data-lane=client-1]").first().uncheck();
    assert.equal(await lane.getAttribute("visibility"), "hidden");
    const wire = page.locator("line.message[data-from=client-1]").first();
    assert.equal(await wire.getAttribute("visibility"), "hidden");
    await close();
  },

  async "a link to an event opens at that event"() {
    const { page, close } = await open("run.html");
    const id = await page.locator(".mark.witness").last().getAttribute("id");
    await page.evaluate(target => { location.hash = target; }, id);
    await page.locator(`#${id}.chosen`).waitFor({ state: "attached" });
    assert.match(await page.locator(".detail").first().innerText(), new RegExp("#" + id));
    await close();
  },

  async "waits and holds are dots before the spans of the faults, and a table says where the faults struck"() {
    for (const colorScheme of ["light", "dark"]) {
      const { page, complaints, close } = await open("run.html", { colorScheme });
      const details = page.locator("details", { hasText: "Waits, holds and faults" }).first();
      await details.locator("summary").click();
      assert(await details.locator("circle").count() > 20, "dots");
      assert(await details.locator("rect[fill-opacity] title").count() > 0, "a span that says what it is");
      await details.getByText("95th percentile").waitFor();
      await details.getByText("Where in the protocol the faults began").waitFor();
      await accessible(page, `run.html, waits and holds, ${colorScheme}`);
      assert.deepEqual(complaints, []);
      await close();
    }
  },

  async "dark mode is dark"() {
    const { page, complaints, close } = await open("run.html", { colorScheme: "dark" });
    const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = colour.match(/\d+/g).map(Number).reduce((one, other) => one + other);
    assert(light < 150, colour);
    await accessible(page, "run.html, dark");
    assert.deepEqual(complaints, []);
    if (shots) await page.screenshot({ path: resolve(shots, "page-dark.png") });
    await close();
  },

  async "print shows the picture and leaves the buttons out"() {
    const { page, close } = await open("run.html", { colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator(".tools").first().isVisible(), false);
    assert.equal(await page.locator("svg.picture").first().isVisible(), true);
    const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(colour, "rgb(255, 255, 255)");
    await close();
  },

  async "the page of a lock is printed on at most four sheets, which are full but for the last"() {
    const { page, close } = await open("one.html");
    const sheets = async options => {
      const pdf = await page.pdf({ format: "A4", ...options });
      return (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? []).length;
    };
    const printed = await sheets({});
    assert(printed > 1 && printed <= 4, `${printed} sheets`);
    // On sheets of the same width that are as long as all of them, nothing has to wait for the next
    // one.
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 703, height: 1000 });
    const [high, sheet] = [await page.evaluate(() => document.documentElement.scrollHeight), 1032];
    assert(printed <= Math.ceil(high / sheet) + 1, `${printed} sheets for ${high} pixels`);
    await close();
  },

  async "nothing is wider than a phone of 375 pixels or a screen of 1600"() {
    for (const width of [375, 1600]) {
      for (const name of ["run.html", "sweep.html"]) {
        const { page, close } = await open(name, { viewport: { width, height: 800 } });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert(wide <= width, `${name} is ${wide} pixels wide on ${width}`);
        if (shots && width === 375 && name === "run.html") await page.screenshot({ path: resolve(shots, "page-phone.png") });
        await close();
      }
    }
  },

  async "axe-core finds nothing, light, on either page"() {
    for (const name of ["run.html", "sweep.html"]) {
      const { page, close } = await open(name);
      await accessible(page, name);
      await close();
    }
  },

  async "the pages of a boundary, of an experiment and of the site: axe-core finds nothing, light or dark, and nothing is wider than a phone"() {
    const names = ["boundary.html", "load.html", ...["index.html", "search.html", "docs/fidelity.html", "docs/gallery/index.html",
      "docs/gallery/overlap-by-pause.html", "docs/data/certificates/single-node-none.json.html", "docs/data/matrix.json.html", "schemas/index.html",
      "recipes/index.html", "sim/examples/your_lock.rs.html"].map(name => "site/" + name)];
    for (const name of names) {
      for (const colorScheme of ["light", "dark"]) {
        const { page, complaints, close } = await open(name, { colorScheme, viewport: { width: 375, height: 800 } });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert(wide <= 375, `${name} is ${wide} pixels wide on 375`);
        await page.setViewportSize({ width: 1400, height: 900 });
        await settled(page);
        await accessible(page, `${name}, ${colorScheme}`);
        if (shots) await page.screenshot({ path: resolve(shots, name.replaceAll("/", "-").replace(".html", `-${colorScheme}.png`)) });
        assert.deepEqual(complaints, [], name);
        await close();
      }
    }
  },

  async "in the matrix arrow keys go from cell to cell, a cell leads to its figures, and filters leave out the rest"() {
    const { page, complaints, close } = await open("site/docs/data/matrix.json.html");
    const table = page.locator("table.matrix");
    assert.equal(await table.locator("td a[tabindex='0']").count(), 1, "one stop for the tab key");
    await table.locator("td a").first().focus();
    const at = () => page.evaluate(() => [document.activeElement.closest("tr").rowIndex, document.activeElement.closest("td").cellIndex]);
    assert.deepEqual(await at(), [1, 1]);
    for (const key of ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft"]) await page.keyboard.press(key);
    assert.deepEqual(await at(), [3, 1], "and no further than the edge");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("tr:target").count(), 1);
    const shown = () => page.evaluate(() => {
      const seen = [...document.querySelectorAll("table.matrix tbody tr")].filter(row => !row.hidden);
      return [seen.length, [...seen[0].cells].filter(cell => !cell.hidden).length, document.querySelectorAll("[data-lock]:not([hidden])").length];
    });
    await page.locator("[data-filter=lock]").fill("mysql");
    await page.locator("[data-filter=fault]").fill("clock");
    const [locks, columns, sections] = await shown();
    assert(locks >= 2 && locks < 10 && columns === 3 && sections === locks, `${locks} ${columns} ${sections}`);
    await page.locator("[data-filter=lock]").fill("");
    assert((await shown())[0] > 40);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "the site is searched without a server, and a result leads to its place"() {
    const { page, complaints, close } = await open("site/search.html");
    await page.locator("#words").fill("watchdog lease");
    const first = page.locator("#found a").first();
    await first.waitFor();
    assert.match(await page.locator("#count").innerText(), /^\d+ places/);
    await page.locator("#words").fill("zzzz");
    assert.equal(await page.locator("#count").innerText(), "0 places");
    await page.locator("#words").fill("watchdog");
    assert.deepEqual(complaints, []);
    await first.click();
    assert.match(await page.locator("main").innerText(), /watchdog/i);
    await close();
  },

  async "names that are markup stay names"() {
    for (const name of ["hostile-sweep.html", "hostile-matrix.html", "hostile-sweep.svg"]) {
      const { page, complaints, close } = await open(name);
      await settled(page);
      assert.match(await page.content(), /onerror=alert\(1\)/, `${name} shows the name`);
      assert.equal(await page.locator("img, [onload], [onerror]").count(), 0, `${name} has an element of the name's`);
      assert.deepEqual(complaints, [], name);
      await close();
    }
  },

  async "no script runs but the page's own, even if one got in"() {
    for (const name of ["run.html", "sweep.html", "hostile-matrix.html"]) {
      const { page, complaints, close } = await open(name);
      await page.evaluate(() => {
        const script = document.createElement("script");
        script.textContent = "window.owned = true";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", "<b onclick='window.owned = true' id='planted'>x</b>");
        document.getElementById("planted").click();
      });
      await settled(page);
      assert.equal(await page.evaluate(() => window.owned), undefined, name);
      assert(complaints.length > 0 && complaints.every(one => one.includes("Content Security Policy")), complaints.join("; "));
      await close();
    }
  },

  async "a cell of the matrix leads to its anomalies"() {
    const { page, complaints, close } = await open("sweep.html");
    const cell = page.locator("table.matrix a").first();
    const target = await cell.getAttribute("href");
    await cell.click();
    assert.equal(await page.evaluate(() => location.hash), target);
    assert.equal(await page.locator("section.cell:target").count(), 1);
    assert.deepEqual(complaints, []);
    if (shots) await page.screenshot({ path: resolve(shots, "sweep.png") });
    await close();
  },
};

let failed = 0;
for (const [claim, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok    ${claim}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILS ${claim}\n      ${String(error.message).split("\n").slice(0, 30).join("\n      ")}`);
  }
}
await browser.close();
process.exit(failed === 0 ? 0 : 1);
