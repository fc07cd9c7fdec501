import type { Socket } from "node:net";
import { SocketOrigin } from "../runtime/socket-origin.ts";
import { readStrictly, type StrictRequest } from "../runtime/strict-requests.ts";

/**
 * An origin that parses strictly, shows everything that it received on its page, and takes one request per connection.
 * Any bytes after that request were part of it, and are now a request that nobody sent.
 */
export class StrictOrigin {
  readonly #origin = new SocketOrigin((text, socket) => this.#take(text, socket));
  readonly #received = new WeakMap<Socket, string>();
  readonly #answered = new WeakSet<Socket>();
  #requests: StrictRequest[] = [];
  #faults: string[] = [];

  start(): Promise<string> {
    return this.#origin.start();
  }

  stop(): Promise<void> {
    return this.#origin.stop();
  }

  /** The requests since the last call, and the bytes that no strict parser accepts. */
  takeSeen(): { readonly requests: readonly StrictRequest[]; readonly faults: readonly string[] } {
    const seen = { requests: this.#requests, faults: this.#faults };
    this.#requests = [];
    this.#faults = [];
    return seen;
  }

  #take(text: string, socket: Socket): void {
    const bytes = (this.#received.get(socket) ?? "") + text;
    this.#received.set(socket, bytes);
    try {
      if (this.#answered.has(socket)) throw new Error(`after the end of a request: ${text}`);
      const read = readStrictly(bytes);
      if (read.kind === "cut") return;
      if (read.rest !== "") throw new Error(`a request within a request: ${bytes}`);
      this.#requests.push(read.request);
      this.#answered.add(socket);
      socket.end(answerTo(read.request), "latin1");
    } catch (fault) {
      this.#faults.push((fault as Error).message);
      socket.destroy();
    }
  }
}

function answerTo(request: StrictRequest): string {
  const page = pageFor(request);
  const fields = ["connection: close", "cache-control: max-age=60", `content-length: ${page.length}`];
  const body = request.line.startsWith("HEAD ") ? "" : page;
  return ["HTTP/1.1 200 OK", ...fields, "", body].join("\r\n");
}

/**
 * Everything that was received, so that any input of one visitor that reached the origin shows in other visitors'
 * answers.
 */
export function pageFor({ line, fields, body }: StrictRequest): string {
  return [line, ...fields.toSorted(), `${body.length} bytes`].join("\n");
}
