import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { blockWith } from "../../snippets/blocks.ts";
import { freePort } from "../../suite/free-ports.ts";
import { listenLocally, localUrl } from "../../suite/local-url.ts";
import { ServerProcess } from "./running-server.ts";

/*
 * What docs/server.md shows of application servers and of nginx, run step by step: the block for a shell would leave
 * processes behind.
 */
const PAGE = "docs/server.md";
const TOKEN = "a-token-of-this-test-0123456789-0123456789";
const SOCKET = "app.sock";

const lines = blockWith(PAGE, "gunicorn --daemon").trimEnd().split("\n");
const [, gunicornCommand, pumaCommand] = /^(gunicorn --daemon .*\S) +# or: (puma .*) &$/.exec(lines[0]!)!;

const has = (tool: string, flag = "--version") => spawnSync(tool, [flag], { stdio: "ignore" }).status === 0;
const servers = [
  {
    name: "gunicorn",
    command: gunicornCommand!.replace("--daemon ", ""),
    file: "app.py",
    code: blockWith(PAGE, "def app("),
  },
  { name: "puma", command: pumaCommand!, file: "config.ru", code: blockWith(PAGE, "run lambda") },
];

let folder: string;
let children: ChildProcess[];
let server: ServerProcess | null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  children = [];
  server = null;
});
afterEach(async () => {
  await server?.stop();
  for (const child of children) {
    const closed = once(child, "close");
    process.kill(-child.pid!, "SIGTERM");
    await closed;
  }
  rmSync(folder, { recursive: true });
});

async function start(command: string, isUp: () => boolean | Promise<boolean>): Promise<void> {
  const child = spawn("sh", ["-c", `exec ${command}`], { cwd: folder, stdio: "ignore", detached: true });
  children.push(child);
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
    await new Promise((resolveLater) => setImmediate(resolveLater));
  }
}

async function purgeGreeting(endpoint: string): Promise<void> {
  const [, flags] = /^npx tidemark (purge .*) && curl/.exec(lines.at(-1)!)!;
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, TIDEMARK_TOKEN: TOKEN, TIDEMARK_ENDPOINT: endpoint };
  const child = spawn(process.execPath, [resolve("cli/main.ts"), ...flags!.split(" ")], { env, stdio: "ignore" });
  expect(await once(child, "exit")).toEqual([0, null]);
}

async function ask(address: string): Promise<string> {
  const answer = await fetch(address);
  return `${await answer.text()} ${answer.headers.get("x-cache")}`;
}

describe("docs/server.md, from the application to the first purge", { timeout: 60_000 }, () => {
  for (const { name, command, file, code } of servers) {
    const isHere = has(name);
    const words = isHere ? `in front of ${name}` : `${name} is SKIPPED, because this machine does not have it`;
    if (!isHere) process.stdout.write(`${words}\n`);
    test.skipIf(!isHere)(words, async () => {
      writeFileSync(join(folder, file), code);
      writeFileSync(join(folder, "greeting.txt"), "good morning");
      await start(command, () => existsSync(join(folder, SOCKET)));
      const listen = ["--listen", `127.0.0.1:${await freePort()}`];
      server = new ServerProcess(folder, ["--origin", `unix:${folder}/${SOCKET}`, ...listen, "--workers", "1"], {
        TIDEMARK_TOKEN: TOKEN,
      });
      const { href, origin } = await server.address();
      expect(await ask(href)).toBe("good morning MISS");
      writeFileSync(join(folder, "greeting.txt"), "good evening");
      expect(await ask(href)).toBe("good morning HIT");
      await purgeGreeting(origin);
      expect(await ask(href)).toBe("good evening MISS");
    });
  }

  const hasNginx = has("nginx", "-v");
  const words = hasNginx ? "behind nginx" : "nginx is SKIPPED, because this machine does not have it";
  test.skipIf(!hasNginx)(words, async () => {
    const origin = createServer((request, response) => {
      response.setHeader("cache-control", "s-maxage=3600");
      response.end(`${request.headers["x-forwarded-proto"]} for ${request.headers["x-forwarded-for"]}`);
    });
    await listenLocally(origin);
    const [edgePort, nginxPort] = [await freePort(), await freePort()];
    const url = localUrl(origin);
    const config = `export default { origin: "${url}", hosts: ["127.0.0.1"], trustedProxies: ["127.0.0.1"] };\n`;
    writeFileSync(join(folder, "tidemark.config.ts"), config);
    server = new ServerProcess(folder, ["--listen", `127.0.0.1:${edgePort}`, "--workers", "1"]);
    await server.address();
    const block = blockWith(PAGE, "upstream tidemark").replace("127.0.0.1:8080", `127.0.0.1:${edgePort}`);
    expect(block).toContain("listen 80;");
    const http = `pid ${folder}/pid; error_log ${folder}/error.log; events {} http { access_log off; ${block
      .replace("listen 80;", `listen 127.0.0.1:${nginxPort};`)
      .replaceAll(/#.*$/gm, "")} }`;
    writeFileSync(join(folder, "nginx.conf"), http);
    const address = `http://127.0.0.1:${nginxPort}/`;
    const isUp = () =>
      fetch(address).then(
        ({ ok }) => ok,
        () => false,
      );
    await start(`nginx -c ${folder}/nginx.conf -e ${folder}/error.log -g 'daemon off;'`, isUp);
    expect(await ask(address)).toBe("http for 127.0.0.1 HIT");
    origin.close();
    origin.closeAllConnections();
  });
});
