import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenLocally, localUrl } from "../../suite/local-url.ts";
import type { AuditedEdge } from "./edges.ts";

/** A small cache with the faults that a test asks for. */
export interface ToyCacheOptions {
  /** Whether the answer to a request is stored for all. Default: every 200 is. */
  readonly stores?: (path: string, status: number, url: string) => boolean;
  /** The key of a URL. Default: the URL. */
  readonly keyOf?: (url: string) => string;
  /** Whether answers say in `X-Cache` where they come from, or hits by `Age` alone. Default true. */
  readonly tells?: boolean | "by-age";
  /** Whether a request is answered with 503 instead. */
  readonly isBusy?: (url: string) => boolean;
  /** Called for a request for /hold, which is never answered. */
  readonly holds?: () => void;
}

interface Stored {
  readonly status: number;
  readonly fields: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A cache in front of an origin, with the keys of what it has stored. */
export interface ToyCache extends AuditedEdge {
  readonly keys: () => readonly string[];
}

export async function toyCache(origin: URL, options: ToyCacheOptions = {}): Promise<ToyCache> {
  const { stores = (_path, status) => status === 200, keyOf = (url) => url, tells = true, isBusy } = options;
  const store = new Map<string, Stored>();
  const server = createServer(async (incoming, outgoing) => {
    const url = incoming.url!;
    const path = url.split("?", 1)[0]!;
    if (path === "/hold") return options.holds?.();
    if (isBusy?.(url)) return outgoing.writeHead(503).end("Service Temporarily Unavailable");
    const found = store.get(keyOf(url));
    const answer = found ?? (await ask(origin, url, incoming.headers));
    if (!found && stores(path, answer.status, url)) store.set(keyOf(url), answer);
    const words = tells === true && { "x-cache": found ? "HIT" : "MISS" };
    const age = tells === "by-age" && found && { age: "0" };
    outgoing.writeHead(answer.status, { ...answer.fields, ...words, ...age });
    outgoing.end(answer.body);
  });
  await listenLocally(server);
  return {
    url: new URL(localUrl(server)),
    keys: () => [...store.keys()],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function ask(origin: URL, path: string, headers: object): Promise<Stored> {
  const sent = httpRequest(origin, { path, headers: { ...headers }, agent: false });
  sent.end();
  const [answer] = await once(sent, "response");
  const { connection: _, "keep-alive": __, "transfer-encoding": ___, ...fields } = answer.headers;
  return { status: answer.statusCode, fields, body: await buffer(answer) };
}
