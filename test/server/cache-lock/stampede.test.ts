import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { Agent, createServer, get, type ServerResponse } from "node:http";
import { platform } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { placesForLocks } from "../../../server/cache-lock/lock-folder.ts";
import { listenLocally, localUrl } from "../../suite/local-url.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { until } from "./machine-under-test.ts";

const REQUESTS = 200;
const HELD = /^[0-9a-f]{32}$/;

/** The workers of `tidemark serve`, with the origin's own record as the witness. */
describe("a stampede on tidemark serve with several workers", { timeout: 60_000 }, () => {
  const asked: { readonly path: string; readonly response: ServerResponse }[] = [];
  const origin = createServer(({ url }, response) => {
    asked.push({ path: url!, response });
    if (url === "/me") response.writeHead(200, { "cache-control": "private" }).flushHeaders();
    if (url === "/b" && at("/b").length > 2) answer(response, "v2");
  });
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  let folder: string;
  let server: ServerProcess;
  let address: URL;

  beforeAll(async () => {
    await listenLocally(origin);
    // Files in memory, because a worker waits no longer than five seconds for a page that another one is writing.
    folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-"));
    const args = ["--origin", localUrl(origin), "--listen", "127.0.0.1:0", "--cache", folder];
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
  const answer = (response: ServerResponse, body: string) =>
    void response.writeHead(200, { "cache-control": "max-age=600" }).end(body);
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

  /** Whether the workers have read all that was sent to them. Only Linux tells. */
  function isAllRead(): boolean {
    if (platform() !== "linux") return true;
    const local = `0100007F:${Number(address.port).toString(16).toUpperCase().padStart(4, "0")}`;
    const sockets = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/));
    const unread = sockets.filter(([, at, , , queues]) => at === local && !queues?.endsWith(":00000000"));
    return unread.length === 0; // the listening socket counts as well: its queue has those that nobody has accepted
  }

  test("is one request to the origin", async () => {
    const [answers] = await rush("/a");
    await until(() => at("/a").length > 0);
    await until(isAllRead); // a worker that looks for the page long before it asks for the lock fetches it, too
    answer(at("/a")[0]!.response, "v1");
    expect(new Set(await answers)).toEqual(new Set(["v1"]));
    expect(at("/a")).toHaveLength(1);
  });

  test("for a page that is not stored sends all requests to the origin at once", { tags: ["deep"] }, async () => {
    const [answers] = await rush("/me");
    await until(() => at("/me").length === REQUESTS); // and none has its body yet
    for (const { response } of at("/me")) response.end("mine");
    expect(new Set(await answers)).toEqual(new Set(["mine"]));
  });

  test("survives the death of the worker that fetches", async () => {
    const [first] = await rush("/b");
    await until(() => at("/b").length === 1);
    await until(() => held().length === 1); // those of earlier fetches are gone
    const fetching = Number(readlinkSync(join(locks(), held()[0]!)).split("-")[0]);
    process.kill(fetching, "SIGSTOP"); // one worker may have all connections: the next ones go to others
    const [others] = await rush("/b");
    process.kill(fetching, "SIGKILL");
    await until(() => at("/b").length === 2);
    answer(at("/b")[1]!.response, "v2");
    const got = [...(await first!), ...(await others!)];
    expect(new Set(got.filter((body) => body !== null))).toEqual(new Set(["v2"]));
    const lost = got.filter((body) => body === null).length; // those on connections of the dead worker
    expect(lost).toBeLessThanOrEqual(REQUESTS);
    // A worker that has looked for the page long before it asks for the lock fetches it, too: two live, one is new.
    const fetches = at("/b").length;
    expect(fetches).toBeLessThanOrEqual(1 + 3);
    const [again] = await rush("/b");
    expect(new Set(await again)).toEqual(new Set(["v2"]));
    expect(at("/b")).toHaveLength(fetches);
  });

  test("with one worker needs no locks", { tags: ["deep"] }, async () => {
    const cache = join(folder, "alone");
    const args = ["--origin", localUrl(origin), "--listen", "127.0.0.1:0", "--cache", cache];
    const alone = new ServerProcess(folder, [...args, "--workers", "1"], { TIDEMARK_HOSTS: "*" });
    const asks = fetch(new URL("/c", await alone.address()));
    await until(() => at("/c").length === 1);
    expect(placesForLocks(join(cache, "pages")).filter((place) => existsSync(place))).toEqual([]);
    answer(at("/c")[0]!.response, "v1");
    expect(await (await asks).text()).toBe("v1");
    expect(await alone.stop()).toBe(0);
  });

  test("leaves nothing behind when the server has ended", { tags: ["deep"] }, async () => {
    await server.stop();
    expect(() => readdirSync(locks())).toThrow("ENOENT");
  });
});
