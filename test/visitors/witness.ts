import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Reply, SeenRequest } from "../../local/cdn/scripted-origin.ts";
import { listenLocally } from "../suite/local-url.ts";
import type { Answering } from "./case.ts";

/**
 * The origin: a real server that answers by a function of the request, even with answers that no proper server would
 * write.
 */
export class Witness {
  readonly #server: Server;
  /** The function that answers from now on. */
  answering: Answering = () => ({ status: 404 });
  asked = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        this.asked++;
        const reply = this.answering(seenOf(request, Buffer.concat(chunks).toString()));
        if (response.socket) write(response.socket, reply, request.method !== "HEAD");
      });
    });
  }

  async start(): Promise<string> {
    return listenLocally(this.#server);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function seenOf({ method = "GET", url = "/", headers }: IncomingMessage, body: string): SeenRequest {
  return { method, target: url, fields: headers, body };
}

/** Writes an answer unchanged, even if it is malformed, and closes the connection. */
function write(
  socket: Socket,
  { status = 200, fields = {}, body = "", framing = "length", cutAfterBytes }: Reply,
  withBody: boolean,
): void {
  const hasBody = withBody && status !== 204 && status !== 304;
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((line) => `${name}: ${line}`),
  );
  if (framing === "length" && status !== 304) lines.push(`content-length: ${Buffer.byteLength(body)}`);
  if (framing === "chunked" && !("transfer-encoding" in fields)) lines.push("transfer-encoding: chunked");
  const head = [`HTTP/1.1 ${status} Any`, `date: ${new Date().toUTCString()}`, "connection: close", ...lines, "", ""];
  socket.write(head.join("\r\n"), "latin1");
  if (!hasBody) return void socket.end();
  const sent = cutAfterBytes === undefined ? body : body.slice(0, cutAfterBytes);
  const size = Buffer.byteLength(cutAfterBytes === undefined ? body : sent);
  if (framing === "chunked") socket.write(size === 0 ? "" : `${size.toString(16)}\r\n${sent}\r\n`);
  else socket.write(sent);
  if (cutAfterBytes !== undefined) return void socket.end();
  socket.end(framing === "chunked" ? "0\r\n\r\n" : "");
}
