import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertNeverStores, startCdn } from "tidemark/local";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import "tidemark/local/matchers";
import { runScript } from "../../packed/run-script.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";
import { page } from "./pages.ts";

/** The number of CDNs that are started and stopped. The gate has no time for a hundred: TIDEMARK_CDNS=100 is the full run. */
const CDNS = Number(process.env.TIDEMARK_CDNS ?? 6);
/** The number of them that run at a time. */
const AT_ONCE = Math.min(8, Math.ceil(CDNS / 2));

/** The most that a CDN may leave in this process's heap. Its worker's code, which it holds while it runs, is larger. */
const MAX_HEAP_BYTES_EACH = 128 * 1024;

/** The folder for this process's temporary files. Other test files have other folders. */
const home = mkdtempSync(join(tmpdir(), "tidemark-nothing-left-"));

beforeAll(async () => {
  vi.stubEnv("TMPDIR", home);
  await useOne(); // Whatever is loaded once stays, like the bundler's process.
});

afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

/** The children, sockets, handles and files of this process. */
function held() {
  return {
    children: childrenOf(process.pid),
    sockets: readdirSync("/proc/self/fd").filter((fd) => linkOf(`/proc/self/fd/${fd}`).startsWith("socket:")).length,
    handles: process.getActiveResourcesInfo().filter((name) => /TCP|Process|FSEvent/.test(name)),
    files: readdirSync(home),
  };
}

function childrenOf(pid: number): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, command, , parent] = /^\d+ \((.*)\) (\S) (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8"))!;
        return Number(parent) === pid ? [command!] : [];
      } catch {
        return []; // The process has ended since.
      }
    });
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // The descriptor with which the folder itself was read.
  }
}

async function useOne(): Promise<string> {
  await using cdn = await startCdn({ site: {}, origin: { "/about": page("v1") } });
  await cdn.get("/about");
  await cdn.purger.purgeEverything();
  await cdn.settle({ settlesInMs: 1250 });
  await expect(cdn.get("/about")).toMiss();
  // Control: while the CDN runs, the test does see its process, handles and files.
  const { children, handles, files } = held();
  expect({ children, handles }).toEqual({
    children: expect.arrayContaining(["workerd"]),
    handles: expect.arrayContaining(["TCPServerWrap"]),
  });
  expect(files.join()).toContain("tidemark-cdn-");
  return cdn.url();
}

test.runIf(process.platform === "linux")("a CDN that cannot start leaves nothing behind", async () => {
  const before = held();
  await expect(startCdn({ site: { routes: [{ match: "no slash" }] } })).rejects.toThrow();
  expect(held()).toEqual(before);
});

test.runIf(process.platform === "linux")(
  `${CDNS} CDNs, ${AT_ONCE} at a time, leave no process, port, handle, folder or memory`,
  async () => {
    const before = held();
    const urls: string[] = [];
    let heapAfterFirst = 0;
    for (let started = 0; started < CDNS; started += AT_ONCE) {
      urls.push(...(await Promise.all(Array.from({ length: AT_ONCE }, useOne))));
      heapAfterFirst ||= usedHeapBytes();
    }
    expect((usedHeapBytes() - heapAfterFirst) / CDNS).toBeLessThan(MAX_HEAP_BYTES_EACH);
    expect(held()).toEqual(before);
    for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  },
  600_000,
);

test("closing a CDN twice is the same as closing it once", { tags: ["deep"] }, async () => {
  const cdn = await startCdn({ site: {} });
  await Promise.all([cdn.close(), cdn.close()]);
  await cdn.close();
});

test("a CDN can be closed after the folder for temporary files has gone", async () => {
  const folder = mkdtempSync(join(home, "gone-"));
  vi.stubEnv("TMPDIR", folder);
  try {
    const cdn = await startCdn({ site: {}, origin: { "/about": page("v1") } });
    rmSync(folder, { recursive: true });
    await cdn.close();
  } finally {
    vi.stubEnv("TMPDIR", home);
  }
});

test.runIf(process.platform === "linux")("a CDN that is closed during a reset leaves nothing behind", async () => {
  const { children, files } = held();
  const cdn = await startCdn({ site: {}, origin: { "/about": page("v1") } });
  const urls = [cdn.url(), cdn.origin.url];
  const resetting = cdn.reset();
  await cdn.close();
  await resetting;
  expect(held()).toMatchObject({ children, files });
  for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  await expect(cdn.reset()).rejects.toThrow("cdn.reset: this CDN was closed");
});

test.runIf(process.platform === "linux")(
  "what was reset and repaired twice at once leaves nothing behind",
  async () => {
    const { children, files } = held();
    const cdn = await startCdn({ site: {}, origin: { "/about": page("v1") } });
    await Promise.all([cdn.reset(), cdn.reset()]);
    await expect(cdn.get("/about")).toMiss();
    await cdn.log.stop();
    await cdn.pop().partition();
    await Promise.all([cdn.log.start(), cdn.log.start(), cdn.pop().heal(), cdn.pop().heal()]);
    await expect(cdn.get("/about")).toHit();
    await cdn.close();
    expect(held()).toMatchObject({ children, files });
  },
);

test.runIf(process.platform === "linux")(
  "a CDN that is closed during repairs leaves nothing behind, refuses more of them, and nothing starts again",
  async () => {
    const { children, files } = held();
    const cdn = await startCdn({ site: {}, origin: { "/about": page("v1") } });
    const urls = [cdn.url(), cdn.origin.url];
    await cdn.pop().partition();
    await cdn.origin.goDown();
    const underWay = [cdn.log.restart(), cdn.pop().restart(), cdn.pop().heal(), cdn.origin.comeUp()];
    await cdn.close();
    await Promise.all(underWay);
    const expectNothing = async () => {
      expect(held()).toMatchObject({ children, files });
      for (const url of urls) await expect(fetch(url)).rejects.toThrow();
    };
    await expectNothing();

    const repairs = {
      "cdn.log.stop": cdn.log.stop(),
      "cdn.log.start": cdn.log.start(),
      "cdn.log.restart": cdn.log.restart(),
      "cdn.log.recreate": cdn.log.recreate(),
      "pop.restart": cdn.pop().restart(),
      "pop.heal": cdn.pop().heal(),
      "pop.skew": cdn.pop().skew("1s"),
      "pop.cutFromLog": cdn.pop().cutFromLog(),
      "pop.reconnectToLog": cdn.pop().reconnectToLog(),
      "origin.comeUp": cdn.origin.comeUp(),
      "origin.waitUntilSeen": cdn.origin.waitUntilSeen("/never", 1),
      "cdn.advance": cdn.advance("1s"),
      "cdn.settle": cdn.settle({ settlesInMs: 1 }),
      "cdn.skew": cdn.skew("local", "1s"),
      toNeverStore: assertNeverStores(cdn, "/admin/*"),
    };
    await Promise.allSettled(Object.values(repairs));
    await expectNothing();
    for (const [call, repair] of Object.entries(repairs)) {
      await expect(repair).rejects.toThrow(`${call}: this CDN was closed`);
    }
  },
);

test("closing a CDN ends requests and purges under way, in words, and nobody has to wait for them", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  const cdn = await startCdn({ site: {}, origin: { "/held": { ...page("v1"), hold: "held" } } });
  const asked = cdn.get("/held");
  await cdn.origin.waitUntilSeen("/held", 1);
  const purging = cdn.purger.purgeUrls("/held");
  const waiting = cdn.origin.waitUntilSeen("/never", 1);
  process.on("unhandledRejection", note);
  await cdn.close();
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);

  expect(unhandled).toEqual([]);
  await expect(asked).rejects.toThrow('cdn.get("/held"): this CDN was closed');
  await expect(waiting).rejects.toThrow("origin.waitUntilSeen: this CDN was closed");
  expect((await purging).seq).toBe(1);
  await expect(cdn.get("/held")).rejects.toThrow('cdn.get("/held"): this CDN was closed');
});

test.each([
  ["ends", "process.exit();", 0],
  ["is interrupted", 'process.kill(process.pid, "SIGINT"); await new Promise(() => undefined);', 130],
])("a process that %s before it has closed its CDNs leaves no folder", async (_, ending, exit) => {
  const files = readdirSync(home);
  const script = `
    import { startCdn } from "tidemark/local";
    await startCdn({ site: {} });
    ${ending}`;
  const ended = await runScript(script);
  expect(ended).toEqual({ exit, stdout: "", stderr: "" });
  expect(readdirSync(home)).toEqual(files);
});

test("a process that ends with a folder in use, as on Windows, goes on to what stops its runtime", async () => {
  const script = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    import { TemporaryFolder } from ${JSON.stringify(import.meta.resolve("../../../local/runtime/temporary-folder.ts"))};
    fs.rmSync = (path) => {
      console.log(path === folder.path);
      throw Object.assign(new Error("EBUSY: resource busy or locked, rmdir " + path), { code: "EBUSY" });
    };
    syncBuiltinESMExports();
    const folder = await TemporaryFolder.make("tidemark-cdn-");
    const other = await TemporaryFolder.make("tidemark-cdn-");
    await other.remove();
    process.on("exit", () => console.log("went on"));
    process.exit();`;
  const ended = await runScript(script);
  expect(ended).toEqual({ exit: 0, stdout: "true\nwent on\n", stderr: "" });
});

test("a reply that is still to come keeps no process alive after the CDN was closed", { tags: ["deep"] }, async () => {
  const script = `
    import { startCdn } from "tidemark/local";
    const cdn = await startCdn({ site: {}, origin: { "/slow": { delayMs: 3_600_000 } } });
    cdn.get("/slow").catch(() => undefined);
    await cdn.origin.waitUntilSeen("/slow", 1);
    await cdn.close();
    console.log(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length);
    process.exit();`;
  const ended = await runScript(script);
  expect(ended).toEqual({ exit: 0, stdout: "0\n", stderr: "" });
});
