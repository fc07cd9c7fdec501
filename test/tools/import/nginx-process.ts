import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { ClientAnswer } from "../../engine/engine.ts";
import type { ClientRequest } from "../../engine/scenario.ts";

/** The installed version; `null` if nginx is not installed. */
export function nginxVersion(): string | null {
  const { error, stderr } = spawnSync("nginx", ["-v"], { encoding: "utf8" });
  return error ? null : (/nginx\/([\d.]+)/.exec(stderr)?.[1] ?? "unknown");
}

const START_MS = 60_000;

/** An nginx that runs a configuration, with its paths and addresses replaced by those of a temporary folder. */
export class NginxProcess {
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(folder: string, process: ChildProcess) {
    this.#folder = folder;
    this.#process = process;
  }

  /** `originPort`: where the addresses `127.0.0.1:800…` of the configuration really are. */
  static async start(configuration: string, originPort: number): Promise<NginxProcess> {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-import-"));
    const settings = join(folder, "settings");
    cpSync(configuration, settings, { recursive: true });
    for (const entry of readdirSync(settings, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      writeFileSync(file, moved(readFileSync(file, "utf8"), folder, { name: entry.name, originPort }));
    }
    mkdirSync(join(folder, "cache"));
    const flags = [
      "-p",
      settings,
      "-c",
      join(settings, "nginx.conf"),
      "-e",
      join(folder, "error"),
      "-g",
      "daemon off;",
    ];
    const child = spawn("nginx", flags, { stdio: ["ignore", "ignore", "pipe"] });
    const nginx = new NginxProcess(folder, child);
    const startedAt = performance.now();
    while (!(await accepts(nginx.#socket))) {
      if (child.exitCode !== null || performance.now() - startedAt > START_MS) {
        const said = existsSync(join(folder, "error")) ? readFileSync(join(folder, "error"), "utf8") : "";
        await nginx.stop();
        throw new Error(`nginx did not start: ${said}`);
      }
      await wait(5);
    }
    return nginx;
  }

  get #socket(): string {
    return join(this.#folder, "socket");
  }

  get #idleSocket(): string {
    return join(this.#folder, "idle");
  }

  async send({ method = "GET", path, host, fields = {}, body }: ClientRequest): Promise<ClientAnswer> {
    const headers = { ...fields, host: host!, ...(body !== undefined && { "content-length": String(body.length) }) };
    const sent = request({ socketPath: this.#socket, agent: this.#agent, method, path, headers });
    sent.end(body);
    const [answer] = await once(sent, "response");
    const joined = Object.entries(answer.headers as Record<string, string | string[]>).map(([name, value]) => [
      name,
      String(value),
    ]);
    return { status: answer.statusCode, fields: Object.fromEntries(joined), body: await text(answer), cutOff: false };
  }

  /** Sends requests one behind the other on one connection, which nginx answers in their order. */
  async sendInOrder(requests: readonly ClientRequest[]): Promise<readonly ClientAnswer[]> {
    const answers: ClientAnswer[] = [];
    // nginx closes the connection behind some of its errors.
    while (answers.length < requests.length) {
      const rest = requests.slice(answers.length);
      const last = { ...rest.at(-1)!, fields: { ...rest.at(-1)!.fields, connection: "close" } };
      const found = readAnswers(await exchange(this.#socket, [...rest.slice(0, -1), last].map(asText).join("")), rest);
      if (found.length === 0) throw new Error(`nginx gave no answer to ${asText(rest[0]!)}`);
      answers.push(...found);
    }
    return answers;
  }

  /**
   * Resolves when nginx has dealt with all that its origin has sent. It answers a HEAD, and at times a GET, before the
   * entry is in its cache. Its one worker takes events in the order in which they came, and this request comes last.
   */
  async hasCaughtUp(): Promise<void> {
    const sent = request({ socketPath: this.#idleSocket, agent: false });
    sent.end();
    const [answer] = await once(sent, "response");
    await text(answer);
  }

  /**
   * Lets time pass for what is stored. nginx reads the end of an entry's life from its file at each request:
   * `ngx_http_file_cache_header_t` begins with the version, `valid_sec`, `updating_sec` and `error_sec`.
   */
  async advance(seconds: number): Promise<void> {
    const files = () =>
      readdirSync(join(this.#folder, "cache"), { recursive: true, withFileTypes: true }).filter((each) =>
        each.isFile(),
      );
    // An entry that is being written has a number behind its name.
    while (files().some(({ name }) => name.includes("."))) await wait(1);
    for (const entry of files()) {
      const file = join(entry.parentPath, entry.name);
      const bytes = readFileSync(file);
      for (const offset of [8, 16, 24]) {
        const at = bytes.readBigInt64LE(offset);
        if (at > 0n) bytes.writeBigInt64LE(at - BigInt(seconds), offset);
      }
      writeFileSync(file, bytes);
    }
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, "exit");
      this.#process.kill();
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function asText({ method = "GET", path, host, fields = {}, body }: ClientRequest): string {
  const length = body === undefined ? {} : { "content-length": String(body.length) };
  const lines = Object.entries({ host: host!, ...fields, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`;
}

/** All that comes back to a text until the other side closes the connection. */
async function exchange(socketPath: string, sent: string): Promise<string> {
  const socket = connect(socketPath);
  socket.setEncoding("latin1").write(sent, "latin1");
  let received = "";
  for await (const piece of socket) received += piece;
  return received;
}

/** The answers to requests, as far as a text has them whole. */
function readAnswers(received: string, requests: readonly ClientRequest[]): ClientAnswer[] {
  const answers: ClientAnswer[] = [];
  let at = 0;
  for (const { method } of requests) {
    const head = received.indexOf("\r\n\r\n", at);
    if (head === -1) return answers;
    const [start = "", ...lines] = received.slice(at, head).split("\r\n");
    const fields = Object.fromEntries(lines.map((line) => fieldIn(line)));
    const status = Number(start.split(" ")[1]);
    const begin = head + 4;
    const [body, end] =
      method === "HEAD" || status === 204 || status === 304 ? ["", begin] : bodyAt(received, begin, fields);
    answers.push({ status, fields, body: Buffer.from(body, "latin1").toString(), cutOff: false });
    at = end;
  }
  return answers;
}

/** Name and value of a line of a head. */
export function fieldIn(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** A body, and the place behind it. */
function bodyAt(received: string, begin: number, fields: Readonly<Record<string, string>>): [string, number] {
  if (fields["transfer-encoding"] !== "chunked") {
    const end = fields["content-length"] === undefined ? received.length : begin + Number(fields["content-length"]);
    return [received.slice(begin, end), end];
  }
  let body = "";
  for (let at = begin; ; ) {
    const lineEnd = received.indexOf("\r\n", at);
    const length = Number.parseInt(received.slice(at, lineEnd), 16);
    if (length === 0) return [body, lineEnd + 4];
    body += received.slice(lineEnd + 2, lineEnd + 2 + length);
    at = lineEnd + 2 + length + 2;
  }
}

/** Whether somebody listens on a socket. */
function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(socket.destroy() !== null)).on("error", () => resolve(false));
  });
}

/** A file of a configuration as this nginx runs it. Nothing that decides about requests is changed. */
function moved(
  text: string,
  folder: string,
  { name, originPort }: { readonly name: string; readonly originPort: number },
): string {
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (each) => `${each}_temp_path ${folder}/${each};`,
  );
  const idle = `server { listen unix:${folder}/idle; return 204; }`;
  let caches = 0;
  return text
    .replace(/^(?:user|pid|error_log|worker_processes) .*;$/gm, "")
    .replace(/^\s*access_log .*;$/gm, "")
    .replace(/^events/m, `${user} worker_processes 1; pid ${folder}/pid; events`)
    .replace(/^http \{/m, `http { access_log off; ${temporary.join(" ")} ${idle}`)
    .replace(/listen 80/g, `listen unix:${folder}/socket`)
    .replace(/proxy_cache_path \S+/g, () => `proxy_cache_path ${folder}/cache/${name}-${caches++}`)
    .replace(/127\.0\.0\.1:800\d/g, `127.0.0.1:${originPort}`);
}
