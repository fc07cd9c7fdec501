import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from "node:http2";
import type { WireAnswer, WireRequest } from "../../../local/cdn/exchange.ts";

/** A client that sends requests in HTTP/2, all of them over one connection while it lasts. */
export class Http2Client {
  readonly #edge: URL;
  #session: ClientHttp2Session | undefined;

  constructor(edge: URL) {
    this.#edge = edge;
  }

  /** An answer with status 0: the request was refused as malformed, by Node's client or by the other side. */
  async exchange({ method = "GET", path, host, fields = {}, body }: WireRequest): Promise<WireAnswer> {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const head = { ":method": method, ":path": path, ":authority": host, ...length, ...fields };
    const answer = { status: 0, fields: {} as Record<string, string>, body: "", cutOff: false };
    const { promise, resolve } = Promise.withResolvers<void>();
    try {
      const stream = this.#connected().request(head as OutgoingHttpHeaders, { endStream: body === undefined });
      stream.on("response", ({ ":status": status = 0, ...rest }) => {
        answer.status = status;
        for (const [name, value] of Object.entries(rest)) answer.fields[name] = [value].flat().join(", ");
      });
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("error", () => undefined);
      stream.on("close", () => {
        answer.body = Buffer.concat(chunks).toString();
        answer.cutOff = stream.rstCode !== 0;
        resolve();
      });
      if (body !== undefined) stream.end(body);
      await promise;
    } catch {
      // Node's client refuses fields of connections.
    }
    return answer;
  }

  destroy(): void {
    this.#session?.destroy();
  }

  #connected(): ClientHttp2Session {
    if (!this.#session || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(this.#edge, { rejectUnauthorized: false });
      this.#session.on("error", () => undefined);
    }
    return this.#session;
  }
}
