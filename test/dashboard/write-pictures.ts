/** `npm run pictures`: the pictures in `docs/dashboard.md`, of numbers that are made up. Needs Chromium. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { goTo, NOW, Stage } from "./stage.ts";

const folder = process.argv[2] ?? "docs/pictures";
await mkdir(folder, { recursive: true });
await using stage = await Stage.start();

async function take(page: Page, name: string, clip?: string): Promise<void> {
  await page.mouse.move(0, 0);
  const path = join(folder, `${name}.png`);
  if (clip === undefined) await page.screenshot({ path });
  else await page.locator(clip).screenshot({ path });
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
await take(light, "pops", "#view-overview > section:has(#pops)");
await take(light, "lists", "#view-overview");
await goTo(light, "Explain");
await light.getByLabel("URL or path").fill("/songs?page=2&utm_source=mail");
await light.getByLabel("Fields of the request").fill("Cookie: theme=dark");
await light.getByRole("button", { name: "Explain" }).click();
await light.locator(".outcome").waitFor();
await take(light, "explain");
await goTo(light, "Rules");
await light.locator("#rules table").waitFor();
await take(light, "rules");

const dark = await stage.enter({ colorScheme: "dark" }, { pops: 50 });
await take(dark, "overview-dark");
await goTo(dark, "Purges");
await dark.getByLabel("Items").fill("/plog/slack-water-0?utm_source=mail\ntag:songs");
await dark.getByRole("button", { name: "Try it" }).click();
await dark.locator("#plan table").waitFor();
await take(dark, "purges");

const phone = await stage.enter({ colorScheme: "dark", viewport: { width: 390, height: 844 } }, { pops: 9 });
await take(phone, "phone");

const none = await stage.enter({ colorScheme: "light" }, { pops: 0 });
await take(none, "none");
await take(await stage.open({ colorScheme: "light" }), "login");
