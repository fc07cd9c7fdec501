import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deploySavings } from "../../../tools/deploys/deploy-savings.ts";
import { deployText } from "../../../tools/deploys/deploy-text.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";

/** Numbered lines, which compress to a third. */
function lines(first: string): string {
  let state = 5;
  let text = `${first}\n`;
  while (text.length < 30_000) {
    state = (state * 48_271) % 2_147_483_647;
    text += `value ${state};\n`;
  }
  return text;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-deploy-"));
  write("old/assets/app-4f3a9c1d.js", lines("one"));
  write("new/assets/app-91bc04fe.js", lines("two"));
  write("old/index.html", lines("<p>one"));
  write("new/index.html", lines("<p>two"));
  write("old/same.css", lines("same"));
  write("new/same.css", lines("same"));
  write("new/chunk-0c7de58a.js", lines("new"));
  write("new/small.js", "small");
  write("new/picture.png", lines("picture"));
  write("new/(group)/a b.js", lines("with a space"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
}

test("each changed file is compared with the version that visitors have, under its old name", async () => {
  const savings = await deploySavings(join(folder, "old"), join(folder, "new"));
  expect(savings).toMatchObject({ version: 1, same: 1, leftOut: 2, added: { files: 2 } });
  expect(savings.changed.map(({ path, from }) => ({ path, from }))).toEqual(
    expect.arrayContaining([
      { path: "/assets/app-91bc04fe.js", from: "/assets/app-4f3a9c1d.js" },
      { path: "/index.html", from: "/index.html" },
    ]),
  );
  expect(savings.changed).toHaveLength(2);
  for (const { bytes, brotliBytes, deltaBytes } of savings.changed) {
    expect(brotliBytes).toBeLessThan(bytes);
    expect(deltaBytes).toBeLessThan(brotliBytes / 50);
  }
});

test("a folder may be named in any way", async () => {
  const named = (name: string) => `./${relative(".", join(folder, name))}/../${name}`;
  const paths = (savings: Awaited<ReturnType<typeof deploySavings>>) =>
    savings.changed.map(({ path, from }) => [path, from]);
  const absolute = await deploySavings(join(folder, "old"), join(folder, "new"));
  const relativeOne = await deploySavings(named("old"), join(folder, "new"));
  expect(paths(relativeOne)).toEqual(paths(absolute));
  expect(relativeOne.same).toBe(1);
});

test("a person reads what the deploy saves, in sentences and a table", async () => {
  const text = deployText(await deploySavings(join(folder, "old"), join(folder, "new")));
  expect(text).toMatch(
    /^2 text files changed\. A visitor who has the old version downloads \d+ B with deltas, instead of \d+ KiB as Brotli: 9\d\.\d % less\.\n/,
  );
  expect(text).toContain("1 file is the same as before; 2 files are new (");
  expect(text).toMatch(/FILE +SIZE +BROTLI +DELTA\n\/\S+ +29 KiB/);
});

test("the same folder twice saves nothing", async () => {
  const text = deployText(await deploySavings(join(folder, "old"), join(folder, "old")));
  expect(text).toMatch(/^No text file of the old build has changed\. 3 files are the same as before; /);
});

test("a folder that is not there is named", async () => {
  await expect(deploySavings(join(folder, "none"), join(folder, "new"))).rejects.toThrow(
    /^The folder .*none cannot be read: /,
  );
});
