import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker, edgeEntry } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { EVERY_DOOR } from "../control/vendor-apis/door-edges.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { type BuiltEdge, buildEdge, readBuiltEdge } from "./built-edge.ts";

/** The most that the modules may weigh that an isolate starts with, gzipped: the pages, the purge log and the store. */
const MAX_BYTES = 80 * 1024;

/** The most that the module of the control plane may weigh, which an isolate loads when somebody first calls it. */
const MAX_CONTROL_BYTES = 43.25 * 1024;

/** The same for a site that opens every door. */
const MAX_CONTROL_BYTES_WITH_DOORS = 47 * 1024;

const CONTROL = "isolate-control.js";

/** What an isolate without a purge log writes to its log, and no other one loads. */
const MISSING_LOG = "purge-log-binding.js";

const folder = mkdtempSync(join(tmpdir(), "tidemark-deploy-"));
let deployed: BuiltEdge;
/** That of a site with other parts. */
let other: BuiltEdge;

beforeAll(async () => {
  const environment = { ...process.env, WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" };
  const deploy = ["node_modules/wrangler/bin/wrangler.js", "deploy", "--dry-run", "--outdir", folder];
  execFileSync(process.execPath, deploy, { env: environment, stdio: "pipe" });
  deployed = readBuiltEdge(folder);
  other = await buildEdge({
    dashboard: false,
    purge: { push: true },
    doors: { fastly: EVERY_DOOR.fastly },
  });
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

describe("what wrangler would deploy", () => {
  test(`weighs less than ${MAX_BYTES / 1024} KiB gzipped, and its control plane less than ${MAX_CONTROL_BYTES / 1024}`, () => {
    const { [CONTROL]: control = "", [MISSING_LOG]: _, ...pages } = deployed.modules;
    const bytes = weightOf(deployed.script, ...Object.values(pages));
    const words = `${inKiB(bytes)} KiB gzipped, of ${MAX_BYTES / 1024}; its control plane: ${inKiB(weightOf(control))}`;
    process.stdout.write(`deployable worker: ${words} of ${MAX_CONTROL_BYTES / 1024}\n`);
    expect(bytes).toBeLessThan(MAX_BYTES);
    expect(weightOf(control)).toBeLessThan(MAX_CONTROL_BYTES);
  });

  test("starts without the control plane, which is a module that it imports later", () => {
    const { [CONTROL]: control = "", ...pages } = deployed.modules;
    const atStart = [deployed.script, ...Object.values(pages)].join("\n");
    const importsOfControl = atStart.match(new RegExp(`[\\w(]+ *["'\`]\\./${CONTROL}["'\`]`, "g"));
    expect(importsOfControl).toEqual([expect.stringMatching(/^import\(/)]);
    expect(atStart).not.toContain("_zod"); // whose classes are made when it is loaded
    for (const words of ["<!doctype html>", "Nothing was purged", "Invalid input: expected ", "Too many requests"]) {
      expect([words, control.includes(words), atStart.includes(words)]).toEqual([words, true, false]);
    }
  });

  test("has its site's settings but not their checks, which the bundle of its config has", async () => {
    const words = "is not a duration";
    expect(codeOf(deployed)).toContain("/plog/:slug");
    expect(codeOf(deployed)).not.toContain(words);
    expect(await bundleWorker(edgeEntry("tidemark.config.ts"))).toContain(words);
  });

  test("has the dashboard unless the site switches it off", () => {
    const page = "<!doctype html>";
    expect(codeOf(deployed)).toContain(page);
    expect(codeOf(other)).not.toContain(page);
  });

  test("has the site's doors, and weighs little more with all of them", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    const words = {
      cloudflare: "Could not route to ",
      fastly: "Cannot find service",
      keycdn: "The requested item does not exist",
    };
    for (const each of Object.values(words)) expect(codeOf(deployed)).not.toContain(each);
    expect(codeOf(other)).toContain(words.fastly);
    expect(codeOf(other)).not.toContain(words.cloudflare);
    const atAllDoors = "/_tidemark/doors/";
    expect([deployed, other].map((edge) => codeOf(edge).includes(atAllDoors))).toEqual([false, true]);
    const withAll = await buildEdge({ doors: EVERY_DOOR });
    for (const each of Object.values(words)) expect(codeOf(withAll)).toContain(each);
    expect(weightOf(withAll.modules[CONTROL]!)).toBeLessThan(MAX_CONTROL_BYTES_WITH_DOORS);
  });

  test("is not built from a site with a mistake", { tags: ["deep"], timeout: 60_000 }, async () => {
    await expect(buildEdge({ routes: [{ match: "/a", ttl: 5 }] })).rejects.toThrow(
      'routes[0].ttl: has no unit: write "5s"',
    );
    await expect(buildEdge({ compression: {} })).rejects.toThrow("compression: is only for tidemark serve");
    await expect(buildEdge({ origin: { url: ["https://a.example", "https://b.example"] } })).rejects.toThrow(
      "origin.url: can name several addresses only under tidemark serve",
    );
    await expect(buildEdge({ limits: { memoryBytes: "1GiB" } })).rejects.toThrow(
      "limits.memoryBytes: is more than an isolate of Workers has",
    );
  });

  test("has no path that sets its clock, unlike the bundle for tests", async () => {
    expect(codeOf(deployed)).not.toContain("_virtual-time");
    expect(await bundleWorker("local/runtime/virtual-time.worker.ts")).toContain("_virtual-time");
  });

  describe("started in the Workers runtime", () => {
    const origin = new ScriptedOrigin(() => Date.now());
    const agent = new Agent({ keepAlive: false });
    let edge: EdgeRuntime;
    const ask = (path: string, fields: Record<string, string> = {}, method = "GET"): Promise<ClientAnswer> =>
      exchange(edge.url, agent, { method, path, fields });

    beforeAll(async () => {
      await origin.comeUp();
      const variables = { TIDEMARK_ORIGIN: origin.url, TIDEMARK_HOSTS: HOST, TIDEMARK_TOKEN: TOKEN };
      edge = await startEdgeRuntime({ ...deployed, variables }, { port: 0 });
    });

    afterAll(async () => {
      await edge.stop();
      await origin.goDown();
    });

    test("passes the user's proof: MISS, stop the origin, HIT, a refresh that fails, start, purge, MISS, HIT", async () => {
      const fields = { "cache-control": "max-age=3600" };
      origin.reply("/about", { fields, body: "v1" }, { fields, body: "v2" });
      expect(await ask("/about")).toMatchObject({ status: 200, body: "v1", fields: { "x-cache": "MISS" } });
      await origin.goDown();
      expect(await ask("/about")).toMatchObject({ status: 200, body: "v1", fields: { "x-cache": "HIT" } });
      expect(await ask("/about", { "tidemark-refresh": TOKEN })).toMatchObject({ status: 502 });
      expect(await ask("/about")).toMatchObject({ status: 200, body: "v1", fields: { "x-cache": "HIT" } });
      await origin.comeUp();
      expect(await ask("/about", { authorization: `Bearer ${TOKEN}` }, "PURGE")).toMatchObject({ status: 200 });
      expect(await ask("/about")).toMatchObject({ status: 200, body: "v2", fields: { "x-cache": "MISS" } });
      expect(await ask("/about")).toMatchObject({ status: 200, body: "v2", fields: { "x-cache": "HIT" } });
      expect(origin.countOf("/about")).toBe(2);
    });

    test("a request that tries to set the time changes nothing: it is a page of the site like any other", async () => {
      origin.reply("/_virtual-time?now=9999999999999", { body: "a page" });
      expect(await ask("/_virtual-time?now=9999999999999")).toMatchObject({ body: "a page" });
      expect(await ask("/about")).toMatchObject({ fields: { "x-cache": "HIT" } });
    });

    test("the log's own alarm repeats a purge", async () => {
      const purge = async (body: object): Promise<number> => {
        const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
        const request = { method: "POST", path: "/_tidemark/purge", fields, body: JSON.stringify(body) };
        return (JSON.parse((await exchange(edge.url, agent, request)).body) as { seq: number }).seq;
      };
      const first = await purge({ tags: ["alarm"], repeatAfterMs: 1 });
      // Each try takes a number itself: one more than that is the alarm's.
      let tries = 1;
      while ((await purge({ tags: ["try"] })) === first + tries) expect(tries++).toBeLessThan(2000);
      expect(await purge({ tags: ["last"] })).toBe(first + tries + 2);
    });

    test("without hosts it serves nothing, and says that they are missing", { tags: ["deep"] }, async () => {
      const variables = { TIDEMARK_ORIGIN: origin.url, TIDEMARK_TOKEN: TOKEN };
      await edge.reload({ ...deployed, variables });
      expect(await ask("/about")).toMatchObject({ status: 503, body: expect.stringContaining("TIDEMARK_HOSTS") });
    });

    test.each([
      ["TIDEMARK_ORIGIN", "not a URL"],
      ["TIDEMARK_PUBLIC_URL", "www.example.test"],
    ])("with a %s that is not valid it says that its log tells why", { tags: ["deep"] }, async (name, value) => {
      const told = Promise.withResolvers<string>();
      const variables = { TIDEMARK_ORIGIN: origin.url, TIDEMARK_HOSTS: HOST, [name]: value };
      const broken = await startEdgeRuntime(
        { ...deployed, variables },
        { port: 0, onLine: (line) => line.includes(value) && told.resolve(line) },
      );
      const answer = await exchange(broken.url, agent, { path: "/about" });
      expect(answer).toMatchObject({ status: 503, fields: { "cache-status": "tidemark; detail=misconfigured" } });
      expect(await told.promise).toContain(value);
      await broken.stop();
    });

    test("a TIDEMARK_TOKENS that cannot be read closes the control plane only", { tags: ["deep"] }, async () => {
      const variables = { TIDEMARK_ORIGIN: origin.url, TIDEMARK_HOSTS: HOST, TIDEMARK_TOKEN: TOKEN };
      await edge.reload({ ...deployed, variables: { ...variables, TIDEMARK_TOKENS: "[{" } });
      expect(await ask("/about")).toMatchObject({ status: 200 });
      const answer = await ask("/about", { authorization: `Bearer ${TOKEN}` }, "PURGE");
      expect(answer).toMatchObject({ status: 403, body: expect.stringContaining("TIDEMARK_TOKENS cannot be read") });
    });

    test("a weak TIDEMARK_TOKEN closes the control plane, which says so and how to make a better one", {
      tags: ["deep"],
    }, async () => {
      const variables = { TIDEMARK_ORIGIN: origin.url, TIDEMARK_HOSTS: HOST, TIDEMARK_TOKEN: "hunter2" };
      await edge.reload({ ...deployed, variables });
      expect(await ask("/about")).toMatchObject({ status: 200 });
      const answer = await ask("/about", { authorization: "Bearer hunter2" }, "PURGE");
      const words = "TIDEMARK_TOKEN is weak: it has fewer than 32 characters: make one with: openssl rand -base64 32.";
      expect(answer).toMatchObject({ status: 403, body: expect.stringContaining(words) });
      expect(answer.body).not.toContain("hunter2");
    });

    test("without a token the control plane is closed, and says how to open it", { tags: ["deep"] }, async () => {
      await edge.reload({ ...deployed, variables: { TIDEMARK_ORIGIN: origin.url, TIDEMARK_HOSTS: HOST } });
      for (const token of ["", "undefined", "null", TOKEN]) {
        const answer = await ask("/about", { authorization: `Bearer ${token}` }, "PURGE");
        expect(answer).toMatchObject({ status: 403, body: expect.stringContaining("TIDEMARK_TOKEN") });
        expect(await ask("/about", { "tidemark-refresh": token || "x" })).toMatchObject({ status: 403 });
      }
      expect(await ask("/_tidemark/health")).toMatchObject({ status: 200 });
    });
  });
});

function codeOf({ script, modules }: BuiltEdge): string {
  return [script, ...Object.values(modules)].join("\n");
}

/** The bytes of some modules, each gzipped. */
function weightOf(...code: readonly string[]): number {
  return code.reduce((bytes, each) => bytes + gzipSync(each).byteLength, 0);
}

function inKiB(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}
