import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { evaluateSite } from "../../docs/site-blocks.ts";
import { blocksOf } from "../../snippets/blocks.ts";
import { freePort } from "../../suite/free-ports.ts";
import { listenLocally, localUrl } from "../../suite/local-url.ts";
import { until } from "../../suite/until.ts";
import { ServerProcess } from "./running-server.ts";

/* The configurations beside nginx and Caddy, as docs/getting-started.md has them but for ports and folders, with the real programs. */
const PAGE = "docs/getting-started.md";
const HEADING = "Beside nginx or Caddy";

/** A visitor whose address differs from that of the programs, which are at 127.0.0.1. */
const VISITOR = "127.0.0.2";
const SPOOFED = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https", "x-real-ip": "203.0.113.9" };
const HOST = "www.example.com";
/** `alice`, with the password `wonder`. */
const MEMBERS = "alice:{PLAIN}wonder\n";

interface Answer {
  readonly status: number;
  readonly xCache: string | undefined;
  readonly location: string | undefined;
  readonly body: string;
}

/** A program that the page has a configuration of, and how it is started with one. */
interface Program {
  readonly name: string;
  readonly language: string;
  /** The file with its configuration behind Tidemark. */
  readonly behind: string;
  readonly isHere: boolean;
  /** `X-Forwarded-For` as the application gets it, with the program behind Tidemark. */
  readonly forwardedFor: string;
  /** The shell command that runs it in the foreground. */
  start(folder: string, config: string): string;
}

const hasTool = (tool: string, flag: string) => spawnSync(tool, [flag], { stdio: "ignore" }).status === 0;
const PROGRAMS: readonly Program[] = [
  {
    name: "nginx",
    language: "nginx",
    behind: "nginx-behind.conf",
    isHere: hasTool("nginx", "-v"),
    forwardedFor: VISITOR,
    start(folder, config) {
      const log = `error_log ${folder}/error.log;`;
      const whole = `pid ${folder}/pid; ${log} events {}\nhttp { access_log off;\n${config}}\n`;
      writeFileSync(join(folder, "nginx.conf"), whole);
      return `nginx -c ${folder}/nginx.conf -e ${folder}/error.log -g "daemon off;"`;
    },
  },
  {
    name: "Caddy",
    language: "caddyfile",
    behind: "Caddyfile-behind",
    isHere: hasTool("caddy", "version"),
    forwardedFor: `${VISITOR}, 127.0.0.1`,
    start(folder, config) {
      writeFileSync(join(folder, "Caddyfile"), `{\nadmin off\nauto_https off\n}\n${config}`);
      return `XDG_DATA_HOME=${folder} XDG_CONFIG_HOME=${folder} caddy run --adapter caddyfile --config ${folder}/Caddyfile`;
    },
  },
];

let folder: string;
let origin: Server;
let asked: string[];
let program: ChildProcess | null;
let edge: ServerProcess | null;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  chmodSync(folder, 0o755); // nginx reads its files as another user
  [program, edge, asked] = [null, null, []];
  origin = createServer(({ headers, url }, response) => {
    asked.push(url!);
    response.setHeader("cache-control", "s-maxage=3600");
    response.end(`${headers["x-forwarded-proto"]}://${headers.host} for ${headers["x-forwarded-for"]}`);
  });
  await listenLocally(origin);
});
afterEach(async () => {
  await edge?.stop();
  if (program?.exitCode === null) {
    const closed = once(program, "close");
    program.kill("SIGTERM");
    await closed;
  }
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true });
});

/** The page's configuration of a program in front, in its language. */
function inFront(language: string): string {
  return blocksOf(PAGE).find((each) => each.heading === HEADING && each.language === language)!.code;
}

/** The site that the page has for a program in front, or behind. */
function siteFor(place: "in front" | "behind"): string {
  const sites = blocksOf(PAGE).filter((each) => each.heading === HEADING && each.language === "ts");
  return sites.find(({ code }) => code.includes(place === "behind" ? "forward:" : "trustedProxies:"))!.code;
}

/** The text with each of these parts replaced; each has to be there. */
function replaced(text: string, by: Readonly<Record<string, string>>): string {
  return Object.entries(by).reduce((all, [part, other]) => {
    expect(all).toContain(part);
    return all.replaceAll(part, other);
  }, text);
}

function ask(port: number, path: string, fields: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const options = { host: "127.0.0.1", port, path, localAddress: VISITOR, agent: false } as const;
  request({ ...options, headers: { host: HOST, ...fields } }, async (message) => {
    let body = "";
    for await (const chunk of message.setEncoding("utf8")) body += chunk;
    const { location, "x-cache": xCache } = message.headers;
    resolve({ status: message.statusCode!, xCache: xCache as string | undefined, location, body });
  })
    .on("error", reject)
    .end();
  return promise;
}

async function startProgram({ name, start }: Program, config: string, port: number): Promise<void> {
  const started = spawn("sh", ["-c", `exec env ${start(folder, config)}`], { stdio: "ignore" });
  program = started;
  const isUp = () =>
    ask(port, "/up").then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(async () => {
    if (started.exitCode !== null) throw new Error(`${name} ended with ${started.exitCode}`);
    return isUp();
  });
}

/** `site`: the block of the page, without its import, which an installed package would answer. */
async function startEdge(site: string, port: number): Promise<void> {
  const config = `export default ${JSON.stringify(await evaluateSite(site))};\n`;
  writeFileSync(join(folder, "tidemark.config.ts"), config);
  edge = new ServerProcess(folder, ["--listen", `127.0.0.1:${port}`, "--workers", "1"]);
  await edge.address();
}

const originPort = () => localUrl(origin).split(":").at(-1)!;

describe.each(PROGRAMS)("docs/getting-started.md beside $name", { timeout: 60_000 }, (each) => {
  if (!each.isHere) process.stdout.write(`${each.name} is SKIPPED, because this machine does not have it\n`);

  test.skipIf(!each.isHere)(
    "in front: pages are stored, and a visitor's word about the address counts for nothing",
    { tags: each.language === "nginx" ? [] : ["deep"] },
    async () => {
      const [edgePort, port] = [await freePort(), await freePort()];
      await startEdge(replaced(siteFor("in front"), { "127.0.0.1:8001": `127.0.0.1:${originPort()}` }), edgePort);
      const own =
        each.language === "nginx"
          ? { "listen 80;": `listen 127.0.0.1:${port};` }
          : { [`${HOST} {`]: `http://:${port} {` };
      const config = replaced(inFront(each.language), {
        "127.0.0.1:8080": `127.0.0.1:${edgePort}`,
        ...own,
      });
      await startProgram(each, config, port);

      const first = await ask(port, "/page", SPOOFED);
      expect(first).toEqual({ status: 200, xCache: "MISS", body: `http://127.0.0.1:${originPort()} for ${VISITOR}` });
      expect(await ask(port, "/page")).toEqual({ ...first, xCache: "HIT" });
      expect(asked.filter((path) => path === "/page")).toHaveLength(1);
    },
  );

  test.skipIf(!each.isHere)(
    "behind: its files and the application's pages are stored, and it sees the visitor",
    { tags: each.language === "nginx" ? ["deep"] : [] },
    async () => {
      const [edgePort, port] = [await freePort(), await freePort()];
      mkdirSync(join(folder, "static", "icons"), { recursive: true });
      for (const name of ["a.css", "icons/index.html"]) writeFileSync(join(folder, "static", name), "a {}");
      writeFileSync(join(folder, "members"), MEMBERS);
      const ports = { "127.0.0.1:8001": `127.0.0.1:${originPort()}`, "/srv/www": folder };
      const own =
        each.language === "nginx"
          ? { "127.0.0.1:8000": `127.0.0.1:${port}`, "/etc/nginx/members": `${folder}/members` }
          : { ":8000 {": `:${port} {` };
      await startProgram(
        each,
        replaced(readFileSync(join("docs/examples/beside", each.behind), "utf8"), { ...ports, ...own }),
        port,
      );
      await startEdge(replaced(siteFor("behind"), { "127.0.0.1:8000": `127.0.0.1:${port}` }), edgePort);

      const first = await ask(edgePort, "/page", SPOOFED);
      expect(first).toEqual({ status: 200, xCache: "MISS", body: `http://${HOST} for ${each.forwardedFor}` });
      expect(await ask(edgePort, "/page")).toEqual({ ...first, xCache: "HIT" });
      for (const xCache of ["MISS", "HIT"]) {
        expect(await ask(edgePort, "/static/a.css")).toEqual({ status: 200, xCache, body: "a {}" });
      }
      expect(await ask(edgePort, "/static/icons")).toMatchObject({ location: "/static/icons/" });
      if (each.language === "caddyfile") return; // The page's Caddyfile has no members.
      const authorization = `Basic ${Buffer.from("alice:wonder").toString("base64")}`;
      const statuses: number[] = [];
      for (const fields of [{ authorization }, {}, { authorization }, {}]) {
        const { status, xCache, body } = await ask(edgePort, "/account/", fields);
        expect(xCache).toBe("BYPASS");
        if (status === 200) expect(body).toBe(first.body);
        statuses.push(status);
      }
      expect(statuses).toEqual([200, 401, 200, 401]);
    },
  );
});
