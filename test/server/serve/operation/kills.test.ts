import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestOptions, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chances } from "../../../engine/chances.ts";
import { byDepth } from "../../../suite/depth.ts";
import { freePort } from "../../../suite/free-ports.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { seed } from "../../../suite/seed.ts";
import { breath, until } from "../../../suite/until.ts";
import { isAlive } from "../../supervisor/is-alive.ts";
import { ServerProcess } from "../running-server.ts";
import { settled } from "../settled-purges.ts";

const ROUNDS = byDepth({ test: 1, gate: 1, all: 6, explore: 100 });
const TOKEN = "a-token-of-this-test-0123456789-0123456789";
const VISITORS = byDepth({ test: 3, gate: 3, all: 6 });
/** Some files are written by a thread, and larger ones piece by piece. */
const PAGES = [100, 30_000, 400_000].flatMap((bytes) => [1, 2].map((number) => `/${bytes}/${number}`));
/** How many pages are asked for between two acts of a round, at most. */
const STEPS = 40;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * `tidemark serve` whose processes are killed while pages are stored and purged. Visitors see versions, so that one from
 * before a purge shows; connections of killed processes may break.
 */
describe("SIGKILL of a worker or of the supervisor of tidemark serve", { timeout: 60_000 + ROUNDS * 20_000 }, () => {
  const random = chances(seed);
  const pick = <T>(from: readonly T[], by = random): T => from[Math.floor(by() * from.length)]!;
  /** Not those of the acts, of which there would be others each time: how often visitors ask is chance. */
  const ofVisitors = chances(seed + 1);
  let version = 0;
  const origin = createServer(({ url }, response) => {
    const bytes = Number(url!.split("/")[1]);
    const fields = { "cache-control": "max-age=3600", "cache-tag": "all", "content-length": bytes };
    response.writeHead(200, fields).end(`v${version} `.padEnd(bytes, "x"));
  });
  let folder: string;
  let port: number;
  let server: ServerProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await listenLocally(origin);
    port = await freePort();
    await start();
  }, 60_000);
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true });
  }, 60_000);

  async function start(): Promise<void> {
    const site = ["--origin", localUrl(origin), "--cache", folder];
    const bounds = ["--workers", "2", "--memory", "4MiB", "--disk", "64MiB"];
    const environment = { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
    server = new ServerProcess(folder, [...site, ...bounds, "--listen", `127.0.0.1:${port}`], environment);
    await server.address();
  }

  const workers = () =>
    [...server.printed.matchAll(/worker-\d+ \(process (\d+)\) accepts/g)].map(([, pid]) => Number(pid)).filter(isAlive);

  /** On a connection of its own. Rejects if that breaks. */
  function ask(options: RequestOptions, sent = ""): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const asked = request({ host: "127.0.0.1", port, agent: false, ...options }, (response) => {
      let body = "";
      response.setEncoding("latin1").on("data", (piece: string) => {
        body += piece;
      });
      response.on("error", reject).on("end", () => resolve({ status: response.statusCode!, body }));
    });
    asked.on("error", reject);
    asked.end(sent);
    return promise;
  }

  /** Purges all pages, once, however often it has to be sent. */
  async function purge(id: string): Promise<{ readonly seq: number; readonly settlesInMs: number }> {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const what = JSON.stringify({ tags: ["all"], id });
    for (;;) {
      const answer = await ask({ method: "POST", path: "/_tidemark/purge", headers }, what).catch(() => null);
      if (answer?.status === 200) return JSON.parse(answer.body);
      if (answer !== null) expect(answer.status).toBe(503); // the log cannot be reached
      await breath();
    }
  }

  test(`loses nothing and serves nothing stale, ${ROUNDS} times (TEST_SEED=${seed})`, async () => {
    let isOver = false;
    let answers = 0;
    let broken = 0;
    /** What nobody may see any more: a version before this one. */
    let oldest = 0;
    const seen = new Map<string, number>();
    const visit = async () => {
      while (!isOver) {
        const [path, atLeast, newest] = [pick(PAGES, ofVisitors), oldest, () => version];
        const answer = await ask({ path }).catch(() => null);
        if (answer === null) {
          broken++;
          await breath();
          continue;
        }
        const bytes = Number(path.split("/")[1]);
        const [, number] = /^v(\d+) x*$/.exec(answer.body) ?? [];
        expect({ status: answer.status, bytes: answer.body.length }).toEqual({ status: 200, bytes });
        expect(Number(number), path).toBeGreaterThanOrEqual(atLeast);
        expect(Number(number), path).toBeLessThanOrEqual(newest());
        answers++;
      }
    };
    const pass = async (steps: number) => {
      const from = answers + broken;
      await until(() => answers + broken >= from + steps || isOver);
    };
    const answered = async (count: number) => {
      const from = answers;
      await until(() => answers >= from + count || isOver);
    };
    const kill = async () => {
      await pass(Math.floor(random() * STEPS));
      if (random() < 0.3) {
        process.kill(server.pid, "SIGKILL");
        await once(server.child, "exit"); // it may still wait for the disk, and has the folder until then
        await start();
      } else {
        const from = server.printed.length;
        process.kill(pick(workers()), "SIGKILL");
        await server.prints(/accepts connections/, from);
      }
    };
    const rounds = async () => {
      for (let round = 1; round <= ROUNDS; round++) {
        version = round;
        const id = `purge-${round}`;
        const purging = async () => {
          await pass(Math.floor(random() * STEPS));
          const receipt = await purge(id);
          // Otherwise a worker that hangs, or one of a killed supervisor, may still have an old view for so long.
          if (receipt.settlesInMs === 0) oldest = round;
          return receipt;
        };
        const [receipt] = await Promise.all([purging(), kill()]);
        expect(await purge(id)).toMatchObject({ seq: receipt.seq, replayed: true });
        seen.set(id, receipt.seq);
        await settled(receipt);
        oldest = round;
        await answered(STEPS);
      }
    };
    const visitors = Array.from({ length: VISITORS }, visit);
    await Promise.all([rounds().finally(() => (isOver = true)), ...visitors]);
    expect([...seen.values()]).toEqual(Array.from({ length: ROUNDS }, (_, at) => at + 1)); // each purge happened once
    expect(answers).toBeGreaterThanOrEqual(ROUNDS * STEPS); // after purges that had settled
  });
});
