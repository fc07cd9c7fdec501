import { type Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";

/** A request whose target and fields are sent exactly as given. */
export interface WireRequest {
  readonly method?: string;
  readonly path: string;
  readonly host: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Gets the interim responses. Default: they are dropped. */
  readonly onInterim?: (status: number, fields: Readonly<Record<string, string>>) => void;
}

export interface WireAnswer {
  readonly status: number;
  /** By name in lower case. Several lines of one field are joined by commas. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
  /** True if the connection ended before the body did. */
  readonly cutOff: boolean;
}

/**
 * One exchange over a real socket. Rejects with the socket's error, like `ECONNREFUSED`, or when nothing has arrived
 * within the agent's `timeout`.
 */
export async function exchange(edge: URL, agent: Agent, request: WireRequest): Promise<WireAnswer> {
  const { bytes, ...answer } = await exchangeBytes(edge, agent, request);
  return { ...answer, body: bytes.toString() };
}

/** The same, with the bytes of the body. The socket of a request that became a tunnel or another protocol is closed. */
export function exchangeBytes(
  edge: URL,
  agent: Agent,
  request: WireRequest,
): Promise<Omit<WireAnswer, "body"> & { readonly bytes: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof readAnswer>>>();
  const { method = "GET", path, host, fields = {}, body, onInterim } = request;
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  const outgoing = (edge.protocol === "https:" ? httpsRequest : httpRequest)(
    {
      host: edge.hostname.replace(/^\[|\]$/g, ""),
      port: edge.port,
      agent,
      method,
      path,
      headers: { host, ...length, ...fields },
      joinDuplicateHeaders: true,
    },
    (incoming) => void readAnswer(incoming).then(resolve, reject),
  );
  // Without a listener Node ends the request for such an answer, and tells nobody.
  for (const event of ["upgrade", "connect"]) {
    outgoing.on(event, (incoming: IncomingMessage, socket: Duplex) => {
      socket.destroy();
      resolve(answerOf(incoming, Buffer.alloc(0), false));
    });
  }
  if (onInterim) {
    outgoing.on("information", ({ statusCode, headers }) => onInterim(statusCode, headers as Record<string, string>));
  }
  outgoing.on("error", reject);
  outgoing.on("timeout", () => outgoing.destroy(new Error(`${method} ${path} of ${host} got no answer in time`)));
  outgoing.end(body);
  return promise;
}

async function readAnswer(incoming: IncomingMessage) {
  const chunks: Buffer[] = [];
  let cutOff = false;
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    cutOff = true; // Node throws for a body that ends before its length.
  }
  return answerOf(incoming, Buffer.concat(chunks), cutOff);
}

function answerOf(incoming: IncomingMessage, bytes: Buffer, cutOff: boolean) {
  const fields = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : (value ?? ""),
  ]);
  return {
    status: incoming.statusCode ?? 0,
    fields: Object.fromEntries(fields),
    bytes,
    cutOff,
  };
}
