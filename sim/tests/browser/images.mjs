// Takes a picture of each page in the folder named by the first argument that the README shows, and
// writes it into the folder named by the second.
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [pages, images] = [resolve(process.argv[2]), resolve(process.argv[3])];
const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
  .find(path => path && existsSync(path));
assert(executablePath, "no Chromium found: install Debian's chromium or name one in CHROMIUM");

// A page is as high as what is on it where no height is stated.
const pictures = [
  { image: "page.png", page: "run.html", width: 1600, height: 1000 },
  { image: "page-phone.png", page: "run.html", width: 375, height: 800 },
  { image: "sweep.png", page: "sweep.html", width: 1100, until: "table.matrix" },
];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const { image, page: name, width, height, until } of pictures) {
  const page = await browser.newPage({ viewport: { width, height: height ?? 1000 } });
  await page.goto(pathToFileURL(resolve(pages, name)).href);
  const path = resolve(images, image);
  const end = until && await page.locator(until).first().boundingBox();
  const clip = end ? { x: 0, y: 0, width, height: Math.ceil(end.y + end.height + 20) } : undefined;
  await page.screenshot({ path, clip });
  await page.close();
  console.log(path);
}
await browser.close();
