import { once } from "node:events";
import fs, {
  chmodSync,
  type FSWatcher,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unwatchFile,
  utimesSync,
  watch,
  watchFile,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isOfSite } from "../../../../server/startup/sites-folder.ts";
import {
  stateOfFile,
  statesOf,
  type WatchedPaths,
  type Watching,
  watchFiles,
} from "../../../../server/startup/watched-files.ts";

const LOOK_EVERY_MS = 20;

let folder: string;
let watching: Watching | undefined;
let changes: number;
let turns: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  changes = 0;
  turns = 0;
});
afterEach(() => {
  watching?.stop();
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const none = { files: [], folder: null, isOfFolder: () => false };

function begin(paths: Partial<WatchedPaths>, before = statesOf({ ...none, ...paths })): void {
  watching = watchFiles({ ...none, ...paths }, before, () => changes++, LOOK_EVERY_MS);
}

/** Resolves when the system has told of what `act` did: earlier watchers hear it first. */
async function told(act: () => void): Promise<void> {
  const watcher = watch(folder);
  const heard = once(watcher, "change");
  act();
  await heard;
  watcher.close();
}

/**
 * Resolves when a look has found what `act` did: earlier watchers are called first. It acts again and again, because the
 * first look, with which the next ones compare, may come late.
 */
async function found(path: string, act: () => void): Promise<void> {
  let isFound = false;
  const find = () => {
    isFound = true;
  };
  watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, find);
  while (!isFound) {
    act();
    await new Promise(setImmediate);
  }
  unwatchFile(path, find);
}

const settle = () => vi.runAllTimers();

test("a change is told when its file has settled, and once, also if a look finds the file changed after that", async () => {
  const config = join(folder, "tidemark.config.ts");
  writeFileSync(config, "1");
  begin({ files: [config] });
  await told(() => writeFileSync(config, "10"));
  expect(changes).toBe(0);
  settle();
  expect(changes).toBe(1);
  await found(config, () => linkSync(config, join(folder, String(turns++))));
  settle();
  expect(changes).toBe(1);
  await found(config, () => writeFileSync(config, "100")); // control
  settle();
  expect(changes).toBe(2);
});

test("a link that leads elsewhere is found by a look, because the system tells of the folder before", async () => {
  const releases = ["1", "2", "3"].map((name) => join(folder, name));
  for (const release of releases) {
    mkdirSync(release);
    writeFileSync(join(release, "tidemark.config.ts"), "");
  }
  const current = join(folder, "current");
  const config = join(current, "tidemark.config.ts");
  symlinkSync(releases[0]!, current);
  begin({ files: [config] });
  await found(config, () => {
    const next = join(folder, "next");
    symlinkSync(releases[1 + (turns++ % 2)]!, next);
    renameSync(next, current);
  });
  settle();
  expect(changes).toBe(1);
});

test("swap and lock files of an editor are no sites, neither to the system nor to a look", async () => {
  const site = join(folder, "shop.config.ts");
  const swap = join(folder, ".shop.config.ts.swp");
  writeFileSync(site, "");
  begin({ files: [site], folder, isOfFolder: isOfSite });
  const edit = () => {
    writeFileSync(swap, "");
    rmSync(swap);
  };
  await told(() => symlinkSync("me@host.1", join(folder, ".#shop.config.ts")));
  await told(edit);
  settle();
  await found(folder, edit);
  settle();
  expect(changes).toBe(0);
  await told(() => writeFileSync(join(folder, "blog.config.ts"), "")); // control
  settle();
  expect(changes).toBe(1);
});

test("a change that came after a file was read is told, though no watcher of it had begun", () => {
  const config = join(folder, "tidemark.config.ts");
  writeFileSync(config, "1");
  const read = new Map([[config, stateOfFile(config)]]);
  writeFileSync(config, "10");
  begin({ files: [config], read });
  settle();
  expect(changes).toBe(1);
  watching!.change({ ...none, files: [config], read: new Map([[config, stateOfFile(config)]]) });
  settle();
  expect(changes).toBe(1);
});

test("a config that came after it was looked for is told, though no watcher of it had begun", () => {
  const config = join(folder, "tidemark.config.ts");
  const before = statesOf({ ...none, files: [config] });
  writeFileSync(config, "1");
  begin({ files: [config] }, before);
  settle();
  expect(changes).toBe(1);
});

test.each(["shop.env", "blog.config.ts"])("%s of a folder, written while its sites are read, is told", (name) => {
  const [shop, token] = ["shop.config.ts", "shop.env"].map((file) => join(folder, file)) as [string, string];
  for (const path of [shop, token]) writeFileSync(path, "1");
  const ofFolder = { ...none, folder, isOfFolder: isOfSite };
  const before = statesOf(ofFolder);
  writeFileSync(shop, "10");
  const read = new Map([[shop, stateOfFile(shop)]]);
  begin({ ...ofFolder, files: [shop, token], read }, before);
  settle();
  expect(changes).toBe(0);
  watching!.stop();
  writeFileSync(join(folder, name), "10");
  begin({ ...ofFolder, files: [shop, token], read }, before);
  settle();
  expect(changes).toBe(1);
});

test("other files are watched from now on, and only what has changed since it was read or told is told", async () => {
  const [config, rules] = ["tidemark.config.ts", "rules.ts"].map((name) => join(folder, name)) as [string, string];
  writeFileSync(config, "1");
  begin({ files: [config] });
  const read = new Map([[rules, stateOfFile(rules)]]);
  watching!.change({ ...none, files: [config, rules], read });
  settle();
  expect(changes).toBe(0);
  writeFileSync(rules, "1");
  watching!.change({ ...none, files: [config, rules], read });
  settle();
  expect(changes).toBe(1);
  await told(() => writeFileSync(rules, "10"));
  settle();
  expect(changes).toBe(2);
  watching!.change({ ...none, files: [config] });
  await told(() => writeFileSync(rules, "100"));
  settle();
  expect(changes).toBe(2);
});

test("other rights of a file are told: it may have been unreadable", async () => {
  const config = join(folder, "tidemark.config.ts");
  writeFileSync(config, "1", { mode: 0o200 });
  begin({ files: [config] });
  await told(() => chmodSync(config, 0o600));
  settle();
  expect(changes).toBe(1);
});

test("a site that came or went while the folder was read is told once", () => {
  const [shop, blog] = ["shop", "blog"].map((name) => join(folder, `${name}.config.ts`)) as [string, string];
  writeFileSync(shop, "");
  const ofFolder = { ...none, folder, isOfFolder: isOfSite };
  begin({ ...ofFolder, files: [shop] });
  writeFileSync(blog, "");
  watching!.change({ ...ofFolder, files: [shop] });
  settle();
  expect(changes).toBe(1);
  rmSync(blog);
  watching!.change({ ...ofFolder, files: [shop, blog], read: new Map([[blog, "as it was"]]) });
  settle();
  expect(changes).toBe(2);
  watching!.change({ ...ofFolder, files: [shop] });
  settle();
  expect(changes).toBe(2);
  symlinkSync("nowhere", blog);
  for (let loads = 0; loads < 2; loads++) {
    watching!.change({ ...ofFolder, files: [shop] });
    settle();
    expect(changes).toBe(3);
  }
});

test("a file that is gone once it has been read is told when it is back", async () => {
  const [config, rules] = ["tidemark.config.ts", "rules.ts"].map((name) => join(folder, name)) as [string, string];
  writeFileSync(config, "1");
  begin({ files: [config, rules], read: new Map([[rules, "as it was"]]) });
  settle();
  expect(changes).toBe(0);
  await told(() => writeFileSync(rules, "1"));
  settle();
  expect(changes).toBe(1);
});

test("what is not watched any more is neither told nor looked at", async () => {
  const config = join(folder, "tidemark.config.ts");
  writeFileSync(config, "1");
  begin({ files: [config] });
  await told(() => writeFileSync(config, "10"));
  watching!.stop();
  settle();
  await told(() => writeFileSync(config, "100"));
  await found(config, () => writeFileSync(config, String(turns++)));
  expect([changes, vi.getTimerCount()]).toEqual([0, 0]);
});

test("a file of the same size and time in the place of a file is told, as of a package with fixed times", () => {
  const [config, next] = ["tidemark.config.ts", "next"].map((name) => join(folder, name)) as [string, string];
  const write = (path: string, text: string) => {
    writeFileSync(path, text);
    utimesSync(path, 1, 1);
  };
  write(config, "1");
  const before = statesOf({ ...none, files: [config] });
  write(next, "2");
  renameSync(next, config);
  begin({ files: [config] }, before);
  settle();
  expect(changes).toBe(1);
});

test("a watcher that the system ends with an error ends no server, and the looks go on", async () => {
  const config = join(folder, "tidemark.config.ts");
  writeFileSync(config, "1");
  const begun = vi.spyOn(fs, "watch");
  syncBuiltinESMExports();
  begin({ files: [config] });
  const watchers = begun.mock.results.map(({ value }) => value as FSWatcher);
  begun.mockRestore();
  syncBuiltinESMExports();
  expect(watchers).toHaveLength(1);
  for (const watcher of watchers) {
    watcher.close();
    watcher.emit("error", new Error("the system watches no more"));
  }
  await found(config, () => writeFileSync(config, String(turns++)));
  settle();
  expect(changes).toBe(1);
});

test("a file whose folder is missing is told when both come", async () => {
  const config = join(folder, "later", "tidemark.config.ts");
  begin({ files: [config] });
  mkdirSync(join(folder, "later"));
  await found(config, () => writeFileSync(config, String(turns++)));
  settle();
  expect(changes).toBe(1);
});
