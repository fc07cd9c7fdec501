import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { listenLocally } from "../suite/local-url.ts";

/** The edge's request to the origin. */
export interface OriginAsk {
  readonly method: string;
  readonly target: string;
  readonly fields: Readonly<Record<string, string | undefined>>;
  /** The isolate that sent it. */
  readonly isolate: string;
}

/** An answer, or the end of the connection instead. */
export type OriginReply =
  | {
      readonly status: number;
      readonly fields: Readonly<Record<string, string>>;
      readonly body: string | null;
      /** Close the connection after this many bytes. */
      readonly cutAfterBytes?: number;
    }
  | "hang-up";

export type OriginOfHost = (ask: OriginAsk) => Promise<OriginReply>;

/** One HTTP server that answers for all stories, each under its own public host. */
export class HttpOrigin {
  readonly #server: Server;
  readonly #hosts = new Map<string, OriginOfHost>();

  constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      request.on("end", () => void this.#answer(request, response));
    });
    this.#server.keepAliveTimeout = 60_000;
  }

  async start(): Promise<string> {
    return listenLocally(this.#server);
  }

  serve(host: string, origin: OriginOfHost): void {
    this.#hosts.set(host, origin);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer({ method = "", url = "", headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const fields = headers as OriginAsk["fields"];
    const isolate = (fields["cf-worker"] ?? "").split(".")[0]!;
    const origin = this.#hosts.get(fields["x-forwarded-host"] ?? "")!;
    write(response, await origin({ method, target: url, fields, isolate }));
  }
}

function write(response: ServerResponse, reply: OriginReply): void {
  if (reply === "hang-up") return void response.socket?.destroy();
  response.sendDate = false;
  response.writeHead(reply.status, reply.fields);
  if (reply.cutAfterBytes === undefined) response.end(reply.body ?? undefined);
  else response.write(reply.body!.slice(0, reply.cutAfterBytes), () => response.socket?.destroy());
}
