import { nodeBodies } from "../../server/bodies/node-bodies.ts";
import { PushedBody } from "../../server/bodies/pushed-body.ts";
import type { Found, StreamedBody } from "../../worker/ports.ts";
import type { BytePart } from "../../worker/rules/ranges/range.ts";
import { isMarker, type Stored } from "../../worker/rules/storing/stored-response.ts";
import { headText, readEnvelope, writeEnvelope } from "../../worker/store/envelope.ts";
import type { SharedTier } from "../../worker/store/tiered-store.ts";

/** A shared tier in memory, with the bodies of Node. */
export class TestTier implements SharedTier {
  readonly #entries = new Map<string, { readonly text: string | null; readonly body: Uint8Array<ArrayBuffer> }>();
  readonly #bodies = new Map<string, Uint8Array<ArrayBuffer>>();

  async get(key: string): Promise<Found | undefined> {
    const entry = this.#entries.get(key);
    const found = entry && readEnvelope(key, entry.text);
    if (!found || isMarker(found)) return found;
    return { head: found.head, body: found.head.bodyKey === null ? bodyOf(entry.body) : null };
  }

  async put(stored: Stored): Promise<void> {
    const { fields, body } = writeEnvelope(stored);
    this.#entries.set(stored.head.key, { text: headText(new Headers(fields)), body: body.slice() });
  }

  async delete(key: string): Promise<void> {
    this.#entries.delete(key);
  }

  async getBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    const whole = this.#bodies.get(bodyKey);
    return whole && bodyOf(part ? whole.slice(part.first, part.last + 1) : whole);
  }

  async putBody(bodyKey: string, body: StreamedBody): Promise<void> {
    const reader = nodeBodies.read(body);
    const pieces: Uint8Array[] = [];
    try {
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) pieces.push(piece);
    } catch {
      // Like the Cache API, it takes what arrived for the whole body.
    }
    this.#bodies.set(bodyKey, new Uint8Array(Buffer.concat(pieces)));
  }

  empty(): void {
    this.#entries.clear();
    this.#bodies.clear();
  }
}

function bodyOf(bytes: Uint8Array<ArrayBuffer>): PushedBody {
  const none = () => undefined;
  const body: PushedBody = new PushedBody(bytes.byteLength, {
    begin: () => {
      if (bytes.byteLength > 0) body.push(bytes);
      body.end();
    },
    pause: none,
    resume: none,
    cancel: none,
  });
  return body;
}
