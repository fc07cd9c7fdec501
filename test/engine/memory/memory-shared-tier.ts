import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import type { Found } from "../../../worker/ports/store.ts";
import type { BytePart } from "../../../worker/rules/ranges/range.ts";
import { isMarker, type Stored } from "../../../worker/rules/storing/stored-response.ts";
import { streamOf } from "../../../worker/runtime/web-bodies.ts";
import { headText, readEnvelope, writeEnvelope } from "../../../worker/store/envelope.ts";
import type { SharedTier } from "../../../worker/store/tiered-store.ts";
import { Holds } from "../holds.ts";
import type { Scheduler } from "../scheduler.ts";

type BodyOf = (bytes: Uint8Array<ArrayBuffer>) => StreamedBody;

/** The faults of the tier, each as a probability. */
export interface Treachery {
  /** A put is acknowledged and stores nothing. */
  readonly lostPuts: number;
  /** An entry is evicted when it is looked up. */
  readonly evictions: number;
  /** Whether it says at once that it holds nothing, as a disk can. Default: nothing is known without a wait. */
  readonly missesAtOnce?: boolean;
}

/**
 * A shared tier with the platform's faults: a put is invisible until it is done, ends late, or stores nothing, and
 * entries disappear. Entries have the form of the real envelope.
 */
export class MemorySharedTier implements SharedTier {
  readonly #scheduler: Scheduler;
  readonly #treachery: Treachery;
  readonly #holds: Holds;
  readonly #bodyOf: BodyOf;
  readonly #entries = new Map<string, { fields: Headers; body: ArrayBuffer }>();
  readonly #bodies = new Map<string, Uint8Array<ArrayBuffer>>();
  /** The number of bytes read of bodies stored apart. */
  bodyBytesRead = 0;

  /** `bodyOf`: bytes as a body of the platform. Default: the web's stream. */
  constructor(scheduler: Scheduler, treachery: Treachery, holds: Holds = new Holds(), bodyOf: BodyOf = streamOfBytes) {
    this.#scheduler = scheduler;
    this.#treachery = treachery;
    this.#holds = holds;
    this.#bodyOf = bodyOf;
  }

  get(key: string): Promise<Found | undefined> | undefined {
    const isKnown = this.#treachery.missesAtOnce && !this.#holds.holds("look-up");
    return isKnown && !this.has(key) ? undefined : this.#look(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  async #look(key: string): Promise<Found | undefined> {
    await this.#scheduler.turn();
    if (this.#scheduler.random() < this.#treachery.evictions) this.#entries.delete(key);
    const entry = this.#entries.get(key);
    await this.#holds.pass("look-up");
    await this.#scheduler.turn();
    if (!entry) return undefined;
    const found = readEnvelope(key, headText(entry.fields));
    if (!found || isMarker(found)) return found;
    return { head: found.head, body: found.head.bodyKey === null ? this.#bodyOf(new Uint8Array(entry.body)) : null };
  }

  async put(stored: Stored): Promise<void> {
    const { fields, body } = writeEnvelope(stored);
    await this.#scheduler.turn();
    await this.#scheduler.turn();
    if (this.#scheduler.random() < this.#treachery.lostPuts) return;
    this.#entries.set(stored.head.key, { fields: new Headers(fields), body: body.slice().buffer });
  }

  /** Like the platform's, it loses to a put under way. */
  async delete(key: string): Promise<void> {
    await this.#holds.pass("removal");
    await this.#scheduler.turn();
    this.#entries.delete(key);
  }

  empty(): void {
    this.#entries.clear();
    this.#bodies.clear();
  }

  async getBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    await this.#scheduler.turn();
    if (this.#scheduler.random() < this.#treachery.evictions) this.#bodies.delete(bodyKey);
    const whole = this.#bodies.get(bodyKey);
    if (!whole) return undefined;
    const bytes = part ? whole.slice(part.first, part.last + 1) : whole.slice();
    this.bodyBytesRead += bytes.length;
    return this.#bodyOf(bytes);
  }

  /** Like the platform's, it stores the bytes that arrived before a stream broke off. */
  async putBody(bodyKey: string, body: StreamedBody): Promise<void> {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of streamOf(body)) chunks.push(chunk);
    } catch {
      // Like the platform, it treats the bytes that arrived as the whole body.
    }
    await this.#scheduler.turn();
    if (this.#scheduler.random() < this.#treachery.lostPuts) return;
    this.#bodies.set(bodyKey, Buffer.concat(chunks));
  }
}

function streamOfBytes(bytes: Uint8Array): StreamedBody {
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (bytes.length > 0) controller.enqueue(bytes);
      controller.close();
    },
  });
}
