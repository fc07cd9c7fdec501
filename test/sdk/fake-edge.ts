import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { ReceiptBody } from "../../sdk/index.ts";
import { PROBLEM_CODES, PROBLEM_MEDIA_TYPE, type ProblemCode } from "../../wire/problem.ts";
import { freePort } from "../suite/free-ports.ts";
import { listenLocally, localUrl } from "../suite/local-url.ts";

/** The fake edge's act for one request. */
export interface Act {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
  /** Closes the connection after this many bytes of a body that was announced in full; 0 closes it before any answer. */
  hangsUpAfterBytes?: number;
  /** Sends this many bytes of the body and then nothing more; 0 sends not even the head of an answer. */
  stallsAfterBytes?: number;
  /** Runs when the request has arrived. */
  before?: () => void;
  /** Runs when the request has been answered as far as it will be. */
  afterwards?: () => void;
}

export interface ReceivedPurge {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export interface FakeEdge extends AsyncDisposable {
  endpoint: string;
  requests: readonly ReceivedPurge[];
  /** The number of connections that were opened. */
  connections(): number;
  /** Resolves when none of the connections is open. */
  allClosed(): Promise<void>;
}

export const receiptBody: ReceiptBody = {
  seq: 7,
  logId: "log-1",
  token: "log-1.7",
  at: "2026-01-02T03:04:05.678Z",
  settlesInMs: 1_250,
  accepted: { urls: 0, tags: 1, prefixes: 0, hosts: 0, everything: false },
  replayed: false,
  dryRun: false,
};

/** That purge in the audit trail, once it has settled. */
export const purgeRecord = {
  seq: receiptBody.seq,
  at: receiptBody.at,
  by: "tests",
  reason: null,
  mode: "hard",
  accepted: receiptBody.accepted,
  items: ["#a"],
  itemCount: 1,
  id: null,
  repeatOf: null,
  settled: true,
};

export const accepts: Act = { json: receiptBody };

/** An edge's refusal, with its problem report. */
export function refuses(code: ProblemCode, more: object = {}, headers: Record<string, string> = {}): Act {
  const { status, title } = PROBLEM_CODES[code];
  return {
    status,
    headers: { "content-type": PROBLEM_MEDIA_TYPE, ...headers },
    json: { type: `https://tidemark.example/problems/${code}`, title, status, code, ...more },
  };
}

/** A server that plays an edge: one act for each request, and the last act for every further one. */
export async function startFakeEdge(...acts: Act[]): Promise<FakeEdge> {
  const requests: ReceivedPurge[] = [];
  const open = new Set<Socket>();
  let connections = 0;

  const server = createServer(async (request, response) => {
    const act = acts[Math.min(requests.length, acts.length - 1)] ?? accepts;
    requests.push(await received(request));
    act.before?.();
    play(act, response);
  });
  // The server never ends an idle connection, so that only the client can.
  server.keepAliveTimeout = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  await listenLocally(server);

  return {
    endpoint: localUrl(server),
    requests,
    connections: () => connections,
    async allClosed() {
      await Promise.all([...open].map((socket) => once(socket, "close")));
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An address where nothing listens, and whose port the system gives to nobody meanwhile. */
export async function deadEndpoint(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

async function received(request: IncomingMessage): Promise<ReceivedPurge> {
  const { method, url, headers } = request;
  const body = await text(request);
  return { method, path: url, headers, body: body === "" ? {} : JSON.parse(body) };
}

function play(act: Act, response: ServerResponse): void {
  const { status = 200, headers, hangsUpAfterBytes, stallsAfterBytes, afterwards = () => {} } = act;
  const end = hangsUpAfterBytes ?? stallsAfterBytes;
  const stop = () => {
    if (hangsUpAfterBytes !== undefined) response.destroy();
    afterwards();
  };
  if (end === 0) {
    stop();
    return;
  }
  const body = act.text ?? JSON.stringify(act.json);
  const contentType = act.json === undefined ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...contentType, "content-length": Buffer.byteLength(body), ...headers });
  if (end === undefined) response.end(body, afterwards);
  else response.write(body.slice(0, end), stop);
}
