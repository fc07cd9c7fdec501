import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/scripted-origin.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime-engine.ts";

/** The command as a person starts it, in a process of its own. */
class Dev {
  readonly #child: ChildProcess;
  readonly #waiting: { pattern: RegExp; resolve: () => void }[] = [];
  output = "";
  readonly exited: Promise<number | null>;

  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = {}, command = "") {
    const { FORCE_COLOR: _, ...inherited } = process.env; // the test runner asks for colours
    const env = { ...inherited, ...environment };
    this.#child = spawn(process.execPath, [...(command ? [command] : ["local/cli.ts", "dev"]), ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on("data", (chunk: Buffer) => {
        this.output += chunk.toString();
        for (const { pattern, resolve } of this.#waiting) if (pattern.test(this.output)) resolve();
      });
    }
    this.exited = new Promise((resolve) => this.#child.on("close", resolve));
  }

  /** Resolves once the output holds it; rejects, with the output, if the process ends before. */
  async says(pattern: RegExp): Promise<void> {
    if (pattern.test(this.output)) return;
    const said = new Promise<void>((resolve) => this.#waiting.push({ pattern, resolve }));
    const ended = this.exited.then(() => {
      if (!pattern.test(this.output)) throw new Error(`it ended without saying ${pattern}:\n${this.output}`);
    });
    await Promise.race([said, ended]);
  }

  interrupt(): void {
    this.#child.kill("SIGINT");
  }
}

const agent = new Agent({ keepAlive: false });
const origin = new ScriptedOrigin(() => Date.now());
let folder: string;
let port: number;
let dev: Dev | undefined;

beforeEach(async () => {
  mkdirSync(".tidemark", { recursive: true });
  folder = mkdtempSync(join(".tidemark", "dev-test-"));
  port = await freePort();
  await origin.comeUp();
});

afterEach(async () => {
  dev?.interrupt();
  await dev?.exited;
  dev = undefined;
  await origin.goDown();
  rmSync(folder, { recursive: true });
});

function config(text: string): string {
  const file = join(folder, "site.ts");
  writeFileSync(file, `import { defineSite } from "tidemark/worker";\nexport default defineSite(${text});\n`);
  return file;
}

function ask(path: string, fields: Record<string, string> = {}, method = "GET"): Promise<ClientAnswer> {
  return exchange(new URL(`http://127.0.0.1:${port}`), agent, { method, path, fields, host: `localhost:${port}` });
}

describe("tidemark dev", () => {
  test("prints what is where and curl lines that work, and stops cleanly at Ctrl-C", async () => {
    origin.reply(
      "/",
      { fields: { "cache-control": "max-age=60" }, body: "v1" },
      { fields: { "cache-control": "max-age=60" }, body: "v2" },
    );
    dev = new Dev(["--config", config(`{ origin: "${origin.url}" }`), "--port", String(port)]);
    await dev.says(/everything/);
    expect(dev.output).toContain(`edge     http://localhost:${port}`);
    expect(dev.output).toContain(`origin   ${origin.url}`);
    const token = /token {4}(\S{32}) /.exec(dev.output)![1]!;
    const curls = dev.output.split("\n").filter((line) => line.startsWith("  curl "));
    expect(curls).toHaveLength(3);

    expect(await sh(curls[0]!)).toMatch(/^x-cache: MISS$/im);
    expect(await sh(curls[0]!)).toMatch(/^x-cache: HIT$/im);
    expect(curls[1]).toContain(token);
    expect(JSON.parse(await sh(curls[1]!))).toMatchObject({ seq: 1, accepted: { urls: 1 } });
    expect(await sh(curls[0]!)).toMatch(/^x-cache: MISS$/im);
    expect(JSON.parse(await sh(curls[2]!))).toMatchObject({ seq: 2, accepted: { everything: true } });

    dev.interrupt();
    expect(await dev.exited).toBe(0);
    await expect(ask("/")).rejects.toThrow("ECONNREFUSED");
  });

  test("listens on both addresses that localhost may mean", async () => {
    dev = new Dev(["--config", config(`{ origin: "${origin.url}" }`), "--port", String(port)]);
    await dev.says(/everything/);
    for (const host of ["127.0.0.1", "[::1]"]) {
      const answer = await exchange(new URL(`http://${host}:${port}`), agent, {
        path: "/_tidemark/health",
      });
      expect(answer.status).toBe(200);
    }
  });

  test("tells once that the origin is down, answers 502, and tells when it is back", async () => {
    origin.reply("/a", { body: "v1" });
    dev = new Dev(["--config", config(`{ origin: "${origin.url}" }`), "--port", String(port)]);
    await dev.says(/everything/);
    await origin.goDown();
    for (let index = 0; index < 3; index++) expect(await ask("/a")).toMatchObject({ status: 502 });
    await dev.says(/cannot be reached/);
    await origin.comeUp();
    expect(await ask("/a")).toMatchObject({ status: 200, body: "v1" });
    await dev.says(/answers again/);
    expect(dev.output.match(/cannot be reached/g)).toHaveLength(1);
    expect(dev.output).toContain("answered with 502 until it is up");
  });

  test("picks up an edit of the rules; an edit that is not valid is told, and the rules of before stay", async () => {
    const page = { fields: { "cache-control": "max-age=60" }, body: "v1" };
    origin.reply("/a", page);
    const file = config(`{ origin: "${origin.url}" }`);
    dev = new Dev(["--config", file, "--port", String(port)]);
    await dev.says(/everything/);
    expect((await ask("/a")).fields["x-cache"]).toBe("MISS");

    config(`{ origin: "${origin.url}", routes: [{ match: "/a", pass: true }] }`);
    await dev.says(/its rules are in force/);
    expect((await ask("/a")).fields["x-cache"]).toBe("BYPASS");

    config(`{ origin: "${origin.url}", routes: [{ match: "/a", pas: true }] }`);
    await dev.says(/did you mean pass\?[\s\S]*rules of before stay in force/);
    expect((await ask("/a")).fields["x-cache"]).toBe("BYPASS");
  });

  test("a flag outranks the environment, and that the file", async () => {
    const second = new ScriptedOrigin(() => Date.now());
    await second.comeUp();
    try {
      second.reply("/a", { body: "second" });
      const file = config(`{ origin: "http://127.0.0.1:1" }`);
      const environment = {
        TIDEMARK_ORIGIN: "http://127.0.0.1:2",
        TIDEMARK_PORT: "3",
        TIDEMARK_CONFIG: "none.ts",
        TIDEMARK_TOKEN: "from-the-environment-0123456789ab",
      };
      dev = new Dev(["--config", file, "--port", String(port), "--origin", second.url], environment);
      await dev.says(/everything/);
      expect(await ask("/a")).toMatchObject({ body: "second" });
      expect(await ask("/a", { authorization: "Bearer from-the-environment-0123456789ab" }, "PURGE")).toMatchObject({
        status: 200,
      });
    } finally {
      await second.goDown();
    }
  });

  test("fronts a site without rules where only --origin is given, and then the rules of the demo do not apply", async () => {
    origin.reply("/images/a?w=1", { fields: { "cache-control": "max-age=60" }, body: "one" });
    origin.reply("/images/a?w=2", { fields: { "cache-control": "max-age=60" }, body: "two" });
    dev = new Dev(["--origin", origin.url, "--port", String(port)], {}, "demo/dev.ts");
    await dev.says(/everything/);
    expect(dev.output).toContain("rules    none");
    expect(await ask("/images/a?w=1")).toMatchObject({ body: "one" });
    expect(await ask("/images/a?w=2")).toMatchObject({ body: "two" });
    expect(origin.seen.at(-1)?.fields).not.toHaveProperty("x-edge");
  });

  test("takes rules from a folder that does not have the package", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "tidemark-elsewhere-"));
    const file = join(elsewhere, "site.ts");
    const site = `{ origin: "${origin.url}", routes: [{ match: "/a", pass: true }] }`;
    writeFileSync(file, `import { defineSite } from "tidemark/worker";\nexport default defineSite(${site});\n`);
    origin.reply("/a", { body: "v1" });
    dev = new Dev(["--config", file, "--port", String(port)]);
    await dev.says(/everything/);
    expect((await ask("/a")).fields["x-cache"]).toBe("BYPASS");
    rmSync(elsewhere, { recursive: true });
  });

  test.each<[string, (file: string) => string[], number, RegExp]>([
    [
      "a config that is not there",
      () => ["--config", "nowhere.ts"],
      2,
      /there is no nowhere\.ts\. Name another file with --config/,
    ],
    ["an origin with a path", () => ["--origin", "http://localhost:8000/app"], 2, /without a path/],
    ["a port that is none", () => ["--port", "http"], 2, /1 to 65535/],
    ["a flag that is not known", () => ["--prot", "1"], 2, /--port/],
  ])("%s is told in words", async (_, args, code, expected) => {
    dev = new Dev(args(folder));
    expect(await dev.exited).toBe(code);
    expect(dev.output).toMatch(expected);
  });

  test.each([
    [
      "rules that are not valid",
      `{ origin: "http://127.0.0.1:1", rotes: [] }`,
      /rotes: unknown key; did you mean routes\?/,
    ],
    ["a file that is no TypeScript", `{{{`, /site\.ts:2:\d+: /],
  ])("%s are told with their place", async (_, text, expected) => {
    dev = new Dev(["--config", config(text), "--port", String(port)]);
    expect(await dev.exited).toBe(2);
    expect(dev.output).toMatch(expected);
    expect(dev.output).not.toMatch(/^\s+at /m);
  });

  test("a port that is taken is told, with what to do", async () => {
    dev = new Dev(["--config", config(`{ origin: "${origin.url}" }`), "--port", new URL(origin.url).port]);
    expect(await dev.exited).toBe(2);
    expect(dev.output).toMatch(/port \d+ is taken\. Stop what listens there, or choose another one with --port/);
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function sh(line: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on("close", () => resolve(text));
  });
}
