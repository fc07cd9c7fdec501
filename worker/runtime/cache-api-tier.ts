import type { StreamedBody } from "../ports/bodies.ts";
import { waitByTimer } from "../ports/clock.ts";
import type { Found } from "../ports/store.ts";
import type { BytePart } from "../rules/ranges/range.ts";
import { isMarker, type Stored } from "../rules/storing/stored-response.ts";
import { ENVELOPE_FIELDS, headText, writeEnvelope } from "../store/envelope.ts";
import { RecentHeads } from "../store/recent-heads.ts";
import type { SharedTier } from "../store/tiered-store.ts";
import { within } from "../within.ts";
import { streamOf } from "./web-bodies.ts";

/*
 * The Cache API of this PoP. The platform's guarantees, on which this code relies:
 * - `put` resolves whether or not the response was stored, and is invisible until it is done. Only a match proves it.
 * - A truncated stream is stored as complete. So heads are put with whole buffers, and a body that is put as a stream
 *   gets a key that nothing points to before all its bytes have been counted.
 * - `match` with a request obeys its Range and its conditions, and partly wrongly. So only URL strings are matched, and
 *   well-formed ranges of bodies that are stored apart.
 * - `delete` loses to a put under way. So it only saves space: entries are invalidated by sequence number.
 */

/** The path is below the control plane's prefix, so that no page of the site can share a key with an entry. */
const ENTRY_PATH = "/_tidemark/entry";
const VARIANT_PATH = "/_tidemark/variant/";
const BODY_PATH = "/_tidemark/body/";

/** The longest wait for an answer of the platform: milliseconds. The origin may take less. */
const PATIENCE_MS = 2_000;

/** The methods reject if the platform does, or if it does not answer what somebody waits for. */
export class CacheApiTier implements SharedTier {
  readonly #cache: Cache;
  readonly #heads = new RecentHeads();

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  async get(key: string): Promise<Found | undefined> {
    const response = await soon(this.#cache.match(entryUrl(key)));
    if (!response) return undefined;
    const { headers, body } = response;
    const found = this.#heads.read(key, headText(headers));
    if (found && !isMarker(found)) {
      const { head } = found;
      if (head.bodyKey !== null) return drop(body, { head, body: null });
      if (headers.get("content-length") === String(head.bodyBytes)) return { head, body };
    }
    return drop(body, found && isMarker(found) ? found : undefined);
  }

  async put(stored: Stored): Promise<void> {
    const { fields, body } = writeEnvelope(stored);
    await this.#cache.put(entryUrl(stored.head.key), new Response(body, { headers: fields }));
  }

  async delete(key: string): Promise<void> {
    await soon(this.#cache.delete(entryUrl(key)));
  }

  async getBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    const url = bodyUrl(bodyKey);
    const range = part && `bytes=${part.first}-${part.last}`;
    const response = await soon(this.#cache.match(range ? new Request(url, { headers: { range } }) : url));
    if (response?.status === (part ? 206 : 200)) return response.body ?? undefined;
    await response?.body?.cancel();
    return undefined;
  }

  async putBody(bodyKey: string, body: StreamedBody): Promise<void> {
    await this.#cache.put(bodyUrl(bodyKey), new Response(streamOf(body), { headers: ENVELOPE_FIELDS }));
  }
}

/** Its answer, unless that is late. */
function soon<T>(answer: Promise<T>): Promise<T> {
  const late = () => Promise.reject(new Error("no answer in time"));
  return within({ wait: waitByTimer }, PATIENCE_MS, answer, late);
}

/** The result, while nobody reads the body. */
async function drop<T>(body: ReadableStream | null, result: T): Promise<T> {
  await body?.cancel();
  return result;
}

/** The key of a variant is the primary key, a space, which no URL contains, and the selecting fields. */
function entryUrl(key: string): string {
  const [primary, variant] = splitOnce(key, " ");
  const prefix = variant === undefined ? ENTRY_PATH : VARIANT_PATH + encodeURIComponent(variant);
  return belowHost(primary, prefix);
}

/** The key of a body is the key of its entry, a line break, and a number of its own. */
function bodyUrl(bodyKey: string): string {
  const [key, own] = splitOnce(bodyKey, "\n");
  return belowHost(splitOnce(key, " ")[0], BODY_PATH + own);
}

function belowHost(primary: string, prefix: string): string {
  const hostEnd = primary.indexOf("/", primary.indexOf("//") + 2);
  return primary.slice(0, hostEnd) + prefix + primary.slice(hostEnd);
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
