import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Fields } from "../../worker/rules/fields/fields.ts";

/** A connection to the origin that now speaks another protocol, as the origin's adapter hands it over. */
export interface SwitchedConnection {
  /** The fields of the origin's 101 response. */
  readonly fields: Fields;
  readonly socket: Duplex;
}

/** The head of the 101 for the client. RFC 9110 §15.2.2. */
export function switchingHead({ fields }: SwitchedConnection): string {
  const own = ["connection: upgrade", `upgrade: ${fields.get("upgrade") ?? "websocket"}`];
  const rest = [...fields].filter(([name]) => !HOP.has(name)).map(([name, value]) => `${name}: ${value}`);
  return ["HTTP/1.1 101 Switching Protocols", ...own, ...rest, "", ""].join("\r\n");
}

const HOP: ReadonlySet<string> = new Set([
  "connection",
  "upgrade",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "proxy-authenticate",
  "trailer",
  "te",
]);

/**
 * Joins two connections. Each side may end its half, and `halfEnded` is called then. A failure of one side ends both,
 * and so does a side that closes before it got all bytes.
 */
export function join(client: Socket, origin: Duplex, halfEnded: () => void): void {
  // Otherwise Node would end the other half of a connection by itself.
  origin.allowHalfOpen = true;
  client.setTimeout(0);
  for (const [from, to] of [
    [client, origin],
    [origin, client],
  ] as const) {
    from.on("error", () => to.destroy());
    from.once("end", halfEnded);
    from.on("close", () => {
      if (!from.readableEnded || !from.writableFinished) to.destroy();
    });
    from.pipe(to);
  }
}
