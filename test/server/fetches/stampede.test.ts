import { once } from "node:events";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { Agent, createServer, get, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { placesForLocks } from "../../../server/fetches/lock-folder.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { until } from "./machine-under-test.ts";

const REQUESTS = 200;
const HELD = /^[0-9a-f]{32}$/;

/** The workers of `tidemark serve`, with the origin's own record as the witness. */
describe("a stampede on tidemark serve with several workers", { timeout: 60_000 }, () => {
  const asked: { readonly path: string; readonly response: ServerResponse }[] = [];
  const origin = createServer(({ url }, response) => void asked.push({ path: url!, response }));
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  let folder: string;
  let server: ServerProcess;
  let address: URL;

  beforeAll(async () => {
    origin.listen(0, "127.0.0.1");
    await once(origin, "listening");
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const { port } = origin.address() as AddressInfo;
    const args = ["--origin", `http://127.0.0.1:${port}`, "--listen", "127.0.0.1:0", "--cache", folder];
    server = new ServerProcess(folder, [...args, "--workers", "3", "--memory", "48MiB"], { TIDEMARK_HOSTS: "*" });
    address = await server.address();
    await server.prints(/worker-3 .* accepts/);
  }, 60_000);
  afterAll(async () => {
    agent.destroy();
    expect(await server.stop()).toBe(0);
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true });
  }, 60_000);

  const at = (path: string) => asked.filter((each) => each.path === path);
  const answer = (response: ServerResponse, body: string, cacheControl = "max-age=600") =>
    void response.writeHead(200, { "cache-control": cacheControl }).end(body);
  const locks = () => placesForLocks(join(folder, "pages"))[0]!;
  const held = () => readdirSync(locks()).filter((name) => HELD.test(name));

  /** Sends so many requests, on a connection each. Resolves, when all are sent, to their answers: `null` for none. */
  async function rush(path: string): Promise<Promise<(string | null)[]>[]> {
    const sent: Promise<unknown>[] = [];
    const answers = Array.from({ length: REQUESTS }, () => {
      const request = get(new URL(path, address), { agent });
      sent.push(once(request, "finish"));
      return new Promise<string | null>((resolve) => {
        request.on("error", () => resolve(null));
        request.on("response", (response) => {
          let body = "";
          response.setEncoding("utf8").on("data", (piece: string) => {
            body += piece;
          });
          response.on("error", () => resolve(null)).on("end", () => resolve(body));
        });
      });
    });
    await Promise.all(sent);
    return [Promise.all(answers)];
  }

  test("is one request to the origin", async () => {
    const [answers] = await rush("/a");
    await until(() => at("/a").length > 0);
    answer(at("/a")[0]!.response, "v1");
    expect(new Set(await answers)).toEqual(new Set(["v1"]));
    expect(at("/a")).toHaveLength(1);
  });

  test("on a page that is not stored has all requests at the origin at once", async () => {
    const [answers] = await rush("/me");
    await until(() => at("/me").length > 0);
    at("/me")[0]!.response.writeHead(200, { "cache-control": "private" }).flushHeaders();
    await until(() => at("/me").length === REQUESTS); // and none has its answer yet
    for (const { response } of at("/me")) {
      if (response.headersSent) response.end("mine");
      else answer(response, "mine", "private");
    }
    expect(new Set(await answers)).toEqual(new Set(["mine"]));
  });

  test("survives the death of the worker that fetches", async () => {
    const [answers] = await rush("/b");
    await until(() => at("/b").length === 1);
    await until(() => held().length === 1); // those of earlier fetches are gone
    process.kill(Number(readlinkSync(join(locks(), held()[0]!)).split("-")[0]), "SIGKILL");
    await until(() => at("/b").length === 2);
    answer(at("/b")[1]!.response, "v2");
    const got = await answers!;
    expect(new Set(got.filter((body) => body !== null))).toEqual(new Set(["v2"]));
    const lost = got.filter((body) => body === null).length; // those on connections of the dead worker
    expect(lost).toBeLessThan(REQUESTS);
    const [again] = await rush("/b");
    expect(new Set(await again)).toEqual(new Set(["v2"]));
    expect(at("/b")).toHaveLength(2);
  });

  test("leaves nothing behind when the server has ended", async () => {
    await server.stop();
    expect(() => readdirSync(locks())).toThrow("ENOENT");
  });
});
