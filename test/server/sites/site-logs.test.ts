import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ServedLog } from "../../../server/log/log-keeper.ts";
import { type SiteGrants, SiteLogs } from "../../../server/processes/site-logs.ts";

const GRANT = { leaseMs: 1000, longestViewAgeMs: 1000 };
const grants = (...sites: readonly string[]): SiteGrants => new Map(sites.map((site) => [site, GRANT]));

describe("the logs of several sites", () => {
  let folder: string;
  let admissions: Map<string, PromiseWithResolvers<void>>;
  let closed: string[];
  let waits: (() => void)[];
  let logs: SiteLogs;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    admissions = new Map();
    closed = [];
    waits = [];
    logs = make();
  });
  afterEach(async () => {
    await logs.close();
    rmSync(folder, { recursive: true });
  });

  function make(): SiteLogs {
    const open = ({ path }: { readonly path: string }) => {
      const site = path.split("/").at(-1)!;
      const admission = Promise.withResolvers<void>();
      admissions.set(site, admission);
      const readers = { expect: () => undefined, dismiss: () => undefined, admit: () => admission.promise };
      return { readers, close: () => void closed.push(site) } as unknown as ServedLog;
    };
    const clock = {
      now: () => 0,
      wait: () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        waits.push(resolve);
        return { over: promise, cancel: () => undefined };
      },
    };
    const folderOf = (site: string) => join(folder, site);
    const own = join(folder, "own");
    return new SiteLogs({ folder: own, folderOf, id: "test", open, onBrokenPeer: () => undefined, clock }, null);
  }

  test("a log that does not admit a worker keeps its own site waiting, and no other", async () => {
    await logs.open(grants("shop", "blog"));
    const late: string[] = [];
    const admitted = logs.admit("worker-1", grants("shop", "blog"), (site) => late.push(site));
    waits.pop()!(); // nobody has admitted it
    await new Promise(setImmediate);
    admissions.get("shop")!.resolve();
    expect(await admitted).toEqual(["blog"]);
    expect(late).toEqual([]);
    admissions.get("blog")!.resolve();
    await new Promise(setImmediate);
    expect(late).toEqual(["blog"]);
  });

  test("a worker that has ended is not admitted", async () => {
    await logs.open(grants("shop", "blog"));
    const admitted = logs.admit("worker-1", grants("shop", "blog"), () => undefined);
    admissions.get("blog")!.reject(new Error("worker-1 has ended"));
    await expect(admitted).rejects.toThrow("worker-1 has ended");
  });

  test("each is closed once, when no worker uses it, and may be opened again at once", async () => {
    await logs.open(grants("shop", "blog"));
    logs.closeOthers(grants("shop"));
    await logs.open(grants("shop", "blog"));
    expect(closed).toEqual(["blog"]);
    await logs.close();
    expect(closed.sort()).toEqual(["blog", "blog", "shop"]);
  });

  test("two supervisors cannot keep the log of one site", async () => {
    await logs.open(grants("shop"));
    expect(() => make()).toThrow("Another tidemark serve owns");
  });
});
