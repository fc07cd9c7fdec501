import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get, type ServerResponse } from "node:http";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listeningHandles } from "../../../bench/processes/listening-process.ts";
import { placesForLocks } from "../../../server/cache-lock/lock-folder.ts";
import { listenLocally, localUrl } from "../../suite/local-url.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { isAlive } from "../supervisor/is-alive.ts";
import { until } from "./machine-under-test.ts";

const HELD = /^[0-9a-f]{32}$/;
const FOLLOWERS = 20;

/**
 * Old workers finish their answers while new ones have begun, after a reload or an upgrade: both lock their fetches in one
 * folder. The origin's record is the witness.
 */
describe.skipIf(platform() !== "linux")(
  "a fetch of a worker that is being replaced (/proc tells who listens)",
  { timeout: 60_000 },
  () => {
    const asked: { readonly path: string; readonly response: ServerResponse }[] = [];
    const origin = createServer(({ url }, response) => void asked.push({ path: url!, response }));
    let folder: string;
    let server: ServerProcess;
    let address: URL;

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), "tidemark-"));
      await listenLocally(origin);
      writeConfig("10m");
      const args = ["--listen", "127.0.0.1:0", "--cache", folder, "--workers", "2", "--memory", "48MiB"];
      server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*" });
      address = await server.address();
    });
    afterEach(async () => {
      for (const { response } of asked.splice(0)) response.destroy();
      await server.stop();
      expect(() => readdirSync(locks())).toThrow("ENOENT");
      origin.close();
      origin.closeAllConnections();
      rmSync(folder, { recursive: true });
    });

    function writeConfig(ttl: string): void {
      const site = {
        origin: localUrl(origin),
        routes: [{ match: "/*", ttl }],
      };
      writeFileSync(join(folder, "tidemark.config.ts"), `export default ${JSON.stringify(site)};\n`);
    }
    const at = (path: string) => asked.filter((each) => each.path === path);
    const locks = () => placesForLocks(join(folder, "pages"))[0]!;
    const onlyLock = () => {
      const names = readdirSync(locks()).filter((name) => HELD.test(name));
      expect(names).toHaveLength(1);
      return names[0]!;
    };
    /** The process that has a lock. */
    const holderOf = (lock: string) => Number(readlinkSync(join(locks(), lock)).split("-")[0]);

    /** Asks on a connection of its own. Resolves to the answer, with what `X-Cache` says of it; `null` for none. */
    function ask(path: string): Promise<string | null> {
      return new Promise((resolve) => {
        const request = get(new URL(path, address), { agent: false }, (response) => {
          let body = "";
          response.setEncoding("utf8").on("data", (piece: string) => {
            body += piece;
          });
          response.on("error", () => resolve(null));
          response.on("end", () => resolve(`${response.headers["x-cache"]} ${body}`));
        });
        request.on("error", () => resolve(null));
      });
    }

    /** Whether a process has the socket on which the server listens. */
    const isListening = (pid: number) => listeningHandles(Number(address.port), pid) > 0;

    const reload = async () => {
      writeConfig("20m");
      await server.prints(/the new settings are in use/);
    };
    const upgrade = () => server.upgrade();

    /** Sends requests that wait for the page. Resolves to their answers, once all have come to a worker. */
    async function follow(): Promise<Promise<(string | null)[]>[]> {
      const following = Array.from({ length: FOLLOWERS }, () => ask("/page"));
      const other = ask("/other"); // one that waits for nothing comes through behind them
      await until(() => at("/other").length === 1);
      at("/other")[0]!.response.end("other");
      expect(await other).toBe("MISS other");
      return [Promise.all(following)];
    }

    test("is shared by the new workers after a reload", { tags: ["deep"] }, async () => {
      const leading = ask("/page");
      await until(() => at("/page").length === 1);
      const lock = onlyLock();
      const old = holderOf(lock);
      await reload();
      await until(() => !isListening(old));
      const [following] = await follow();
      expect(holderOf(lock)).toBe(old);
      at("/page")[0]!.response.end("v1");
      expect(await leading).toBe("MISS v1");
      expect(new Set(await following)).toEqual(new Set(["HIT v1"]));
      expect(at("/page")).toHaveLength(1);
      await until(() => !isAlive(old)); // nobody keeps it
      expect(await ask("/page")).toBe("HIT v1");
    });

    test("is not used by the new workers after an upgrade, who own the disk: they share their own fetch", async () => {
      const leading = ask("/page");
      await until(() => at("/page").length === 1);
      const old = holderOf(onlyLock());
      await upgrade();
      await until(() => !isListening(old));
      const [following] = await follow();
      at("/page")[0]!.response.end("v1");
      expect(await leading).toBe("MISS v1");
      await until(() => at("/page").length === 2);
      at("/page")[1]!.response.end("v2");
      for (const answer of (await following)!) expect(["MISS v2", "HIT v2"]).toContain(answer); // of one worker, or of two
      expect(at("/page")).toHaveLength(2);
      await until(() => !isAlive(old));
      expect(await ask("/page")).toBe("HIT v2");
    });

    test.each([
      { by: "a reload", replace: reload },
      { by: "an upgrade", replace: upgrade },
    ])("begins again, once, if that worker dies after $by", { tags: ["deep"] }, async ({ replace }) => {
      const leading = ask("/page");
      await until(() => at("/page").length === 1);
      const lock = onlyLock();
      const old = holderOf(lock);
      await replace();
      await until(() => !isListening(old));
      const [following] = await follow();
      process.kill(old, "SIGKILL");
      expect(await leading).toBe(null);
      await until(() => at("/page").length === 2);
      expect(holderOf(lock)).not.toBe(old);
      at("/page")[1]!.response.end("v2");
      for (const answer of (await following)!) expect(["MISS v2", "HIT v2"]).toContain(answer);
      expect(at("/page")).toHaveLength(2);
    });
  },
);
