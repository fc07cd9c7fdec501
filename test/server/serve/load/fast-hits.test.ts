import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { otherNodes } from "../../http1/other-nodes.ts";
import { ServerProcess } from "../running-server.ts";

const NODE_REQUESTS = new URL("node-requests.ts", import.meta.url).href;
const HITS = 3;

describe("hits of tidemark serve", () => {
  let origin: Server;
  let folder: string;
  let server: ServerProcess | undefined;

  beforeEach(async () => {
    origin = createServer((_, response) => response.setHeader("cache-control", "max-age=600").end("page"));
    await listenLocally(origin);
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  });
  afterEach(async () => {
    await server?.stop();
    origin.close();
    rmSync(folder, { recursive: true });
  });

  /** Asks for a page, and then for a few hits. Resolves to what the server has printed, and how many of these were Node's. */
  const askForHits = async (flags: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const site = ["--origin", localUrl(origin), "--listen", "127.0.0.1:0", "--workers", "1", "--disk", "0"];
    const loaded = { TIDEMARK_HOSTS: "*", NODE_OPTIONS: `--import ${NODE_REQUESTS}`, ...environment };
    server = new ServerProcess(folder, [...site, ...flags], loaded);
    const address = await server.address();
    const ask = async (method: string, path: string) => {
      const answer = await fetch(new URL(path, address), { method });
      await answer.text();
      return [answer.status, answer.headers.get("x-cache")];
    };
    expect(await ask("GET", "/page")).toEqual([200, "MISS"]);
    for (let hit = 0; hit < HITS; hit++) expect(await ask("HEAD", "/page")).toEqual([200, "HIT"]);
    await ask("POST", "/last"); // which is always Node's
    await server.prints(/Node's own request: POST \/last/);
    const { printed } = server;
    return { printed, ofNode: printed.match(/Node's own request: HEAD \/page/g)?.length ?? 0 };
  };

  test("are answered without Node's objects", async () => {
    expect(await askForHits([])).toEqual({ printed: expect.not.stringContaining("Node's own server"), ofNode: 0 });
  });

  test("are answered by Node's own server with --no-fast-hits", { tags: ["deep"] }, async () => {
    const { printed, ofNode } = await askForHits(["--no-fast-hits"]);
    expect({ printed, ofNode }).toEqual({ printed: expect.not.stringContaining("Node's own server"), ofNode: HITS });
  });

  test.each(["does not tell whether a head is unfinished", "resets clients that end their half"] as const)(
    "are answered by Node's own server on a Node that %s",
    { tags: ["deep"] },
    async (node) => {
      const { printed, ofNode } = await askForHits([], { OTHER_NODE: node });
      const line = `worker-1: Node's own server answers all requests, because the trial of the faster way failed: ${otherNodes[node].because}.`;
      expect({ times: printed.split(line).length - 1, ofNode }).toEqual({ times: 1, ofNode: HITS });
    },
  );
});
