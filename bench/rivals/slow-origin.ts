import type { IncomingMessage, ServerResponse } from "node:http";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import { LocalOrigin } from "../processes/local-origin.ts";

/** How long an answer takes. */
const ANSWERS_AFTER_MS = 40;
export const SLOW_BYTES = 1000;
const BODY = pageOfBytes(SLOW_BYTES);

/** A slow origin with a page that must not be stored. It counts its requests. */
export class SlowOrigin extends LocalOrigin {
  #requests = 0;

  /** How many requests have come in. */
  async requests(): Promise<number> {
    return this.#requests;
  }

  protected override answer(_: IncomingMessage, response: ServerResponse): void {
    this.#requests++;
    setTimeout(() => {
      const fields = { "content-type": "text/html", "content-length": SLOW_BYTES, "cache-control": "no-store" };
      response.writeHead(200, fields).end(BODY);
    }, ANSWERS_AFTER_MS);
  }
}
