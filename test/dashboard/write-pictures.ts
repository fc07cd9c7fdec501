/** `npm run pictures`: the pictures in `docs/operations.md#the-dashboard`, of numbers that are made up. Needs Chromium. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { goTo, NOW, Stage } from "./stage.ts";

/** Pixels around a part of the page. */
const ROOM = 24;
/** As many as the pages need to look the same in a fifth of the bytes. */
const COLOURS = 64;

const folder = process.argv[2] ?? "docs/pictures";
await mkdir(folder, { recursive: true });
await using stage = await Stage.start();

/** What the window shows, or a part of the page with some room around it. */
async function take(page: Page, name: string, part?: string): Promise<void> {
  await page.mouse.move(0, 0);
  const taken = await page.screenshot(part === undefined ? {} : { clip: await around(page, part), fullPage: true });
  await sharp(taken)
    .png({ palette: true, colours: COLOURS, effort: 10 })
    .toFile(join(folder, `${name}.png`));
}

async function around(page: Page, part: string) {
  const { x, y, width, height } = (await page.locator(part).boundingBox())!;
  return { x: x - ROOM, y: y - ROOM, width: width + 2 * ROOM, height: height + 2 * ROOM };
}

stage.origin.reply("/songs?page=2", {
  fields: { "cache-control": "max-age=600", "cache-tag": "song:42" },
  body: "songs",
});
await stage.visit("/songs?page=2");
await stage.purge({ tags: ["plog:slack-water"], reason: "a new title" });
await stage.purge({ prefixes: ["/images"], mode: "soft", reason: "new covers" });
await stage.purge({ urls: ["/plog/the-long-tide-3", "/plog/", "/songs", "/"] });
await stage.setClock(NOW + 60_000);
await stage.purge({ tags: ["song:42", "song:43"], reason: "a correction by an editor" });

const light = await stage.enter({ colorScheme: "light" }, { pops: 50 });
await take(light, "overview");
await take(light, "pops", "#numbers > section:has(#pops)");
await take(light, "lists", "#numbers > .two");
await take(light, "memory", "#memory");
await goTo(light, "Explain");
await light.getByLabel("URL or path").fill("/songs?page=2&utm_source=mail");
await light.getByLabel("Fields of the request").fill("Cookie: theme=dark");
await light.getByRole("button", { name: "Explain" }).click();
await light.locator(".outcome").waitFor();
await take(light, "explain", "#view-explain");
await goTo(light, "Rules");
await light.locator("#rules table").waitFor();
await take(light, "rules");

const server = await stage.enter({ colorScheme: "light" }, { pops: 1, machine: true });
await take(server, "machine", "#machine");

const dark = await stage.enter({ colorScheme: "dark" }, { pops: 50 });
await goTo(dark, "Purges");
await dark.getByLabel("Items").fill("/plog/slack-water-0?utm_source=mail\ntag:songs");
await dark.getByRole("button", { name: "Try it" }).click();
await dark.locator("#plan table").waitFor();
await take(dark, "purges", "#view-purges");

const phone = await stage.enter({ colorScheme: "dark", viewport: { width: 390, height: 844 } }, { pops: 9 });
await take(phone, "phone");

await take(await stage.open({ colorScheme: "light" }), "login");
