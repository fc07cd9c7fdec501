import { AsyncLocalStorage } from "node:async_hooks";
import { TAG_FIELD } from "../../wire/fields.ts";
import { purgeRequestSchema } from "../../wire/purge-request.ts";
import type { PurgeBatch } from "../batch.ts";
import { shown } from "../errors.ts";
import { type ItemList, itemsOf, type PurgeInput, type PurgeOptions } from "../purge-request.ts";
import type { Purger } from "../purger.ts";
import type { Receipt } from "../receipt.ts";
import { tagResponse } from "../tag-response.ts";
import { editorCookieField } from "./editor-cookie.ts";

export interface RequestOptions {
  /** Sends what `purgeLater` collects. Default: none; then `purgeLater` is a `TypeError`. */
  purger?: Pick<Purger, "batch"> | undefined;
  /**
   * The most tags of one response: `limits.tags` of the site, because the edge stores no response with more. A call of
   * `tag` that would pass it is a `RangeError`. Default: 1000.
   */
  maxTags?: number | undefined;
  /**
   * Called if the purge at the end of a request fails. The answer goes out in any case, because the change is
   * committed. Default: `console.error`.
   */
  onPurgeError?: ((error: unknown) => void) | undefined;
}

/** The items that a request may collect: those of a purge. */
export type PurgeLaterInput = Pick<PurgeInput, "urls" | "tags" | "prefixes" | "hosts" | "everything">;

const DEFAULT_MAX_TAGS = 1000;

/** The most bytes of the field that carries the tags: half of what the Workers runtime takes for all fields of an answer. */
const MAX_TAG_FIELD_BYTES = 64 * 1024;

const KINDS = ["urls", "tags", "prefixes", "hosts"] as const;

/** What one request has collected: the tags of its response, and the purges of its changes. */
export class RequestScope {
  readonly #options: RequestOptions;
  readonly #tags = new Set<string>();
  #tagBytes = 0;
  #isHeadSent = false;
  #isOver = false;
  #batch: PurgeBatch | undefined;
  #cookieField: string | null = null;

  constructor(options: RequestOptions) {
    this.#options = options;
  }

  /** Adds tags to the response: all of them, or none if one of them cannot be right. */
  tag(given: readonly string[]): void {
    if (this.#isHeadSent) {
      throw new Error(`tag: the head of this response has been sent, so ${shown(given[0])} would not be on it`);
    }
    for (const tag of given) {
      const issue = purgeRequestSchema.shape.tags.safeParse([tag]).error?.issues[0];
      if (issue) throw new TypeError(`tag: ${shown(tag)} is not a valid tag: ${issue.message}`);
    }
    const added = [...new Set(given)].filter((tag) => !this.#tags.has(tag));
    const bytes = added.reduce((sum, tag) => sum + tag.length + 1, this.#tagBytes);
    const { maxTags = DEFAULT_MAX_TAGS } = this.#options;
    if (this.#tags.size + added.length > maxTags || bytes > MAX_TAG_FIELD_BYTES) {
      throw new RangeError(
        `tag: this response would have ${this.#tags.size + added.length} tags of ${bytes} bytes. The edge stores none ` +
          `with more than ${maxTags}, and ${MAX_TAG_FIELD_BYTES} bytes are the most that can be sent. Name a tag for all of them.`,
      );
    }
    for (const tag of added) this.#tags.add(tag);
    this.#tagBytes = bytes;
  }

  /** Collects items for the purge at the end of the request. */
  purgeLater(input: PurgeLaterInput): void {
    if (this.#isOver) {
      throw new Error("purgeLater: the request has been answered and its purge sent. Call the purger itself.");
    }
    const { purger } = this.#options;
    if (!purger) throw new TypeError("purgeLater: the middleware was given no purger. Give it one: { purger }.");
    const unknown = Object.keys(input).find((key) => key !== "everything" && !KINDS.some((kind) => kind === key));
    if (unknown)
      throw new TypeError(`purgeLater: there is no ${shown(unknown)}; name ${KINDS.join(", ")} or everything`);
    this.#batch ??= purger.batch();
    if (input.everything) this.#batch.everything();
    if (input.urls) this.#batch.urls(input.urls);
    if (input.tags) this.#batch.tags(input.tags);
    if (input.prefixes) this.#batch.prefixes(input.prefixes);
    if (input.hosts) this.#batch.hosts(input.hosts);
  }

  /** True if there is something to send at the end. */
  get hasPurge(): boolean {
    return this.#batch !== undefined;
  }

  /** Sends what was collected up to now. */
  async purgeNow(options?: PurgeOptions): Promise<Receipt | null> {
    const batch = this.#batch;
    this.#batch = undefined;
    const receipt = (await batch?.commit(options)) ?? null;
    if (receipt) this.#cookieField = editorCookieField(receipt) ?? this.#cookieField;
    return receipt;
  }

  /** Ends the collection: sends the purge, or drops it after a failure of the request. It never rejects. */
  async finish(outcome: "succeeded" | "failed"): Promise<void> {
    this.#isOver = true;
    if (outcome === "failed") {
      this.#batch = undefined;
      return;
    }
    try {
      await this.purgeNow();
    } catch (error) {
      const { onPurgeError = reportPurgeError } = this.#options;
      onPurgeError(error);
    }
  }

  /**
   * The fields for the head of the response, which is sent next: the tags, beside those in `held`, which is the
   * response's own `Cache-Tag`, and the editor's cookie if a purge was sent.
   */
  takeFields(held: string | null): { readonly cacheTag: string | null; readonly setCookie: string | null } {
    const setCookie = this.#isHeadSent ? null : this.#cookieField;
    this.#isHeadSent = true;
    if (this.#tags.size === 0) return { cacheTag: null, setCookie };
    const fields = new Headers(held === null ? {} : { [TAG_FIELD]: held });
    return { cacheTag: tagResponse(fields, [...this.#tags]).get(TAG_FIELD), setCookie };
  }
}

/** After an answer of 400 or above nothing was changed. */
export function outcomeOf(status: number): "succeeded" | "failed" {
  return status >= 400 ? "failed" : "succeeded";
}

function reportPurgeError(error: unknown): void {
  console.error("The purge at the end of a request failed, and pages may be stale:", error);
}

// One for the process, also where a bundler makes several copies of this module.
const STORAGE = Symbol.for("tidemark.request-scope");
const registry = globalThis as { [STORAGE]?: AsyncLocalStorage<RequestScope> };
registry[STORAGE] ??= new AsyncLocalStorage();
const storage = registry[STORAGE];

/** Runs the rest of a request in its scope. */
export function inScope<T>(scope: RequestScope, work: () => T): T {
  return storage.run(scope, work);
}

function currentScope(caller: string): RequestScope {
  const scope = storage.getStore();
  if (scope) return scope;
  throw new Error(
    `${caller}: this code runs outside of a request. Install the middleware before the routes; in a job, call the purger itself.`,
  );
}

/**
 * Adds tags to the response of the current request, from anywhere below the middleware: `tag("song:42", "songs")`. They
 * go into the field `Cache-Tag`, beside those that stand there already and each of them once.
 *
 * It adds all of them or none. A tag that the edge would not take is a `TypeError`, too many of them are a `RangeError`,
 * and a call outside of a request, or after the head of the response was sent, is an `Error`: the page would be stored
 * and could not be purged by the tag.
 */
export function tag(...tags: (string | ItemList<string>)[]): void {
  currentScope("tag").tag(itemsOf(tags));
}

/**
 * Collects a change of the current request: `purgeLater({ tags: ["song:42"] })`. When the handler has answered, one
 * purge of everything that was collected is sent; the answer leaves after it, with the editor's cookie. After an answer
 * of 400 or above, or an error, nothing is sent.
 */
export function purgeLater(items: PurgeLaterInput): void {
  currentScope("purgeLater").purgeLater(items);
}

/**
 * Sends at once what `purgeLater` has collected, for a handler that goes on after the commit of its database and may yet
 * fail. Resolves to `null` if there was nothing; rejects like a purge of the purger. The answer carries the editor's
 * cookie if its head has not been sent.
 */
export function purgeNow(options?: PurgeOptions): Promise<Receipt | null> {
  return currentScope("purgeNow").purgeNow(options);
}
