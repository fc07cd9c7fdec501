import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type GeneratedRequest, generatedRequests } from "../../test/tools/generated-log.ts";
import { analyseLogs } from "../../tools/report/analyse-logs.ts";
import { nginxConfig } from "../nginx/nginx-config.ts";
import { BenchFailure } from "../report/bench-failure.ts";

const REQUESTS = 20_000;
const SECONDS = 30;
const LIFETIME_SECONDS = 5;
const START_MS = 5_000;

/** What nginx said of its own cache, and what the report says of the same log. Shares of all requests. */
export interface NginxWords {
  readonly requests: number;
  readonly nginx: number;
  readonly predicted: number;
}

/**
 * Sends generated traffic through nginx with a `proxy_cache`, and lets the report read the log that nginx wrote. nginx
 * has no rules for queries, so its words are compared with the prediction without them.
 */
export async function compareWithNginx(seed: number): Promise<NginxWords> {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-nginx-log-"));
  await chmod(folder, 0o755); // nginx's workers may run as another user
  const origin = createServer(answer).listen(0, "127.0.0.1");
  await once(origin, "listening");
  const socketPath = join(folder, "socket");
  const file = join(folder, "nginx.conf");
  await writeFile(file, nginxConfig(folder, { workers: 1, http: httpBlock(folder, origin, socketPath) }));
  const nginx = spawn("nginx", ["-c", file, "-e", join(folder, "error")], { stdio: "ignore" });
  try {
    for (const startedAt = performance.now(); !existsSync(socketPath); await wait(10)) {
      if (nginx.exitCode !== null || performance.now() - startedAt > START_MS)
        throw new BenchFailure("nginx did not start.");
    }
    await send(socketPath, seed);
    nginx.kill("SIGQUIT"); // it writes the rest of its log
    await once(nginx, "exit");
    const report = await analyseLogs({ files: [join(folder, "access.log")], lifetimeSeconds: LIFETIME_SECONDS });
    const { loggedCache, prediction, requests } = report;
    if (loggedCache === null) throw new BenchFailure("nginx did not log what its cache did.");
    return {
      requests: requests.all,
      nginx: (loggedCache.hitRatio * loggedCache.requests) / requests.all,
      predicted: prediction.hitRatioWithoutKeyRules,
    };
  } finally {
    if (nginx.exitCode === null) {
      nginx.kill();
      await once(nginx, "exit");
    }
    origin.close();
    origin.closeAllConnections();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function httpBlock(folder: string, origin: Server, socketPath: string): string {
  const { port } = origin.address() as AddressInfo;
  return `log_format words escape=json '{"msec":"$msec","request_method":"$request_method","request_uri":"$request_uri","status":"$status","body_bytes_sent":"$body_bytes_sent","upstream_cache_status":"$upstream_cache_status"}';
    proxy_cache_path ${folder}/cache levels=1:2 keys_zone=pages:64m inactive=1h use_temp_path=off;
    upstream origin { server 127.0.0.1:${port}; keepalive 32; }
    server { listen unix:${socketPath}; access_log ${folder}/access.log words;
      location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
        proxy_cache pages; proxy_cache_key $request_uri; proxy_cache_valid 200 301 308 404 410 ${LIFETIME_SECONDS}s; } }`;
}

/** Sends a day of traffic in half a minute. */
async function send(socketPath: string, seed: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const requests = [...generatedRequests({ seed, requests: REQUESTS, days: 1 })];
  const first = requests[0]!.at;
  const faster = (requests.at(-1)!.at - first) / (SECONDS * 1_000);
  const startedAt = performance.now();
  const underway: Promise<void>[] = [];
  for (const each of requests) {
    const early = startedAt + (each.at - first) / faster - performance.now();
    if (early > 1) await wait(early);
    underway.push(ask(each, { agent, socketPath }));
  }
  await Promise.all(underway);
  agent.destroy();
}

async function ask({ method, target, status, bytes }: GeneratedRequest, to: { agent: Agent; socketPath: string }) {
  // What the visitor of a 304 had, others have not.
  const headers = { host: "www.example.com", "x-status": status === 304 ? 200 : status, "x-bytes": bytes };
  const sent = request({ ...to, method, path: encodeURI(target).replaceAll("%25", "%"), headers });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
}

/** The origin says what the request asks it to say. */
function answer(incoming: IncomingMessage, response: ServerResponse): void {
  const bytes = Number(incoming.headers["x-bytes"]);
  response.writeHead(Number(incoming.headers["x-status"]), { "content-length": bytes });
  response.end(incoming.method === "HEAD" ? undefined : Buffer.alloc(bytes));
}
