import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { byDepth } from "../../../suite/depth.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { breath, until } from "../../../suite/until.ts";
import { ServerProcess } from "../running-server.ts";

const ROTATIONS = byDepth({ test: 4, gate: 4, all: 8, explore: 20 });
const CLIENTS = byDepth({ test: 4, gate: 4, all: 8 });

describe("the access log of tidemark serve", { timeout: 60_000 }, () => {
  let origin: Server;
  let folder: string;
  let server: ServerProcess;
  let address: URL;

  beforeEach(async () => {
    origin = createServer((request, response) => {
      if (request.url === "/held") origin.emit("held", response);
      else response.setHeader("cache-control", "max-age=600").end("page");
    });
    await listenLocally(origin);
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const site = ["--origin", localUrl(origin), "--listen", "127.0.0.1:0"];
    const log = ["--access-log", "access.log", "--log-format", "json"];
    server = new ServerProcess(folder, [...site, ...log, "--workers", "2", "--disk", "0"], { TIDEMARK_HOSTS: "*" });
    address = await server.address();
    await server.prints(/worker-2 .*accepts/);
  });
  afterEach(async () => {
    await server.stop();
    origin.close();
    rmSync(folder, { recursive: true });
  });

  test("is reopened at SIGHUP, also by old workers that finish their answers", { tags: ["deep"] }, async () => {
    const answer = fetch(new URL("/held", address)).then((response) => response.text());
    const [response] = (await once(origin, "held")) as [ServerResponse];
    renameSync(join(folder, "access.log"), join(folder, "moved.log"));
    server.child.kill("SIGHUP");
    await server.prints(/new settings are in use/);
    response.end("held");
    expect(await answer).toBe("held");
    expect(await server.stop()).toBe(0);
    expect(readFileSync(join(folder, "access.log"), "utf8")).toContain('"/held"');
    expect(readFileSync(join(folder, "moved.log"), "utf8")).not.toContain('"/held"');
  });

  test("is not said to be reopened as long as a worker writes the old file", { tags: ["deep"] }, async () => {
    const path = join(folder, "access.log");
    renameSync(path, join(folder, "moved.log"));
    mkdirSync(path);
    server.child.kill("SIGUSR1");
    await server.prints(/(cannot be reopened, so the server still writes the old file.*){2}/s);
    rmdirSync(path);
    server.child.kill("SIGUSR1");
    await server.prints(/log files were reopened/);
    expect(await server.stop()).toBe(0);
    expect(server.printed.match(/log files were reopened/g)).toHaveLength(1);
  });

  test("is rotated by SIGUSR1 while requests come: no line is lost, written twice, or torn", async () => {
    let asked = 0;
    let isOver = false;
    const visit = async () => {
      while (!isOver) {
        await (await fetch(new URL(`/page?number=${++asked}`, address))).text();
        await breath();
      }
    };
    const visitors = Array.from({ length: CLIENTS }, visit);
    for (let rotation = 1; rotation <= ROTATIONS; rotation++) {
      const before = asked;
      await until(() => asked >= before + 50);
      renameSync(join(folder, "access.log"), join(folder, `access.log.${rotation}`));
      server.child.kill("SIGUSR1");
      await server.prints(new RegExp(`(log files were reopened[^]*){${rotation}}`));
      // Nobody writes to the old file any more, so that it may be compressed at once.
      const size = readFileSync(join(folder, `access.log.${rotation}`)).byteLength;
      await (await fetch(new URL(`/page?number=${++asked}`, address))).text();
      expect(readFileSync(join(folder, `access.log.${rotation}`)).byteLength).toBe(size);
    }
    isOver = true;
    await Promise.all(visitors);
    expect(await server.stop()).toBe(0);
    const files = readdirSync(folder).filter((name) => name.startsWith("access.log"));
    expect(files).toHaveLength(ROTATIONS + 1);
    const lines = files.flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1));
    const numbers = lines.map((line) =>
      Number(/number=(\d+)/.exec((JSON.parse(line) as { target: string }).target)![1]),
    );
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: asked }, (_, index) => index + 1));
  });
});
