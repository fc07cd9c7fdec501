import { AsyncLocalStorage } from "node:async_hooks";
import * as z from "zod/mini";
import { DEFAULT_MAX_RESPONSE_FIELD_BYTES, DEFAULT_MAX_TAGS, TAG_FIELD } from "../../wire/fields.ts";
import { type BatchOptions, type BatchReceipt, parseBatchOptions } from "../batch/batch.ts";
import { WITHOUT_VALUES } from "../check.ts";
import { misuse, shown } from "../errors.ts";
import { type ItemList, itemsOf, type PurgeInput, parseItems } from "../purge-request.ts";
import type { Purger } from "../purger.ts";
import { checkTag } from "../tags/define-tags.ts";
import { type TagLimits, tagResponse } from "../tags/tag-response.ts";
import { tellError } from "../tell-error.ts";
import { editorCookieField } from "./editor-cookie.ts";

/** Options of the middleware. A call of `tag` that would exceed a limit is a `TypeError`. */
export interface RequestOptions extends TagLimits {
  /** Sends what `purgeLater` collects. Default: none; then `purgeLater` is a `TypeError`. */
  purger?: Pick<Purger, "batch"> | undefined;
  /**
   * Called if the purge at the end of a request fails. The answer is sent anyway, because the change is committed.
   * Default: `console.error`.
   */
  onPurgeError?: ((error: unknown) => void) | undefined;
}

const isFunction = (value: unknown) => typeof value === "function";

/** It is strict, so that a misspelt option is an error and is not ignored. */
const requestOptionsSchema = z.strictObject({
  purger: z.optional(
    z.custom<Pick<Purger, "batch">>((value) => isFunction((value as Purger | null)?.batch), "must be a purger"),
  ),
  maxTags: z.optional(z.int().check(z.positive())),
  maxFieldBytes: z.optional(z.int().check(z.positive())),
  onPurgeError: z.optional(z.custom<NonNullable<RequestOptions["onPurgeError"]>>(isFunction, "must be a function")),
});

/** Throws a `TypeError` that begins with the name of the call if the options are invalid. */
export function checkRequestOptions(call: string, options: RequestOptions): void {
  const parsed = requestOptionsSchema.safeParse(options, WITHOUT_VALUES);
  if (!parsed.success) throw misuse(`${call}, options`, parsed.error, requestOptionsSchema);
}

/** The items that a request may collect: those of a purge. */
export type PurgeLaterInput = Pick<PurgeInput, "urls" | "tags" | "prefixes" | "hosts" | "everything">;

/** Milliseconds without another change, after which those of a request whose client has left are sent. */
const PAUSE_MS = 1_000;

/** The tags and purges that one request has collected. Scopes call no private method of each other: see `STORAGE`. */
export class RequestScope {
  readonly #options: RequestOptions;
  /** The scope of the request whose handler asks its own app for this one, and shows what that answers. */
  readonly #outer: RequestScope | undefined;
  readonly #tags = new Set<string>();
  #tagBytes = 0;
  #isHeadSent = false;
  #isOver = false;
  #pause: ReturnType<typeof setTimeout> | undefined;
  /** Checked and copied, in the order of their calls. */
  #changes: PurgeLaterInput[] = [];
  #finished: Promise<void> | undefined;
  #cookieField: string | null = null;

  constructor(options: RequestOptions) {
    this.#options = options;
    this.#outer = storage.getStore()?.nearestOpen();
  }

  /** This scope, or the nearest one around it whose answer is still being made. */
  nearestOpen(): RequestScope | undefined {
    return this.#isOver || this.#isHeadSent ? this.#outer?.nearestOpen() : this;
  }

  /** Adds tags to the response: all of them, or none if one is invalid. */
  tag(given: readonly string[]): void {
    if (this.#isHeadSent) {
      throw new Error(
        `tag: the response head was sent already, so it cannot carry ${shown(given[0])}. Call it before the first byte: in ` +
          "Astro in the page's frontmatter, elsewhere not in a streamed promise.",
      );
    }
    for (const tag of given) checkTag("tag", tag);
    this.add(given);
  }

  /** Adds valid tags, also to the responses around this one that are still being made: to all of them, or to none. */
  add(given: readonly string[]): void {
    const added = [...new Set(given)].filter((tag) => !this.#tags.has(tag));
    const count = this.#tags.size + added.length;
    const bytes = added.reduce((sum, tag) => sum + tag.length + 1, this.#tagBytes);
    const { maxTags = DEFAULT_MAX_TAGS, maxFieldBytes = DEFAULT_MAX_RESPONSE_FIELD_BYTES } = this.#options;
    if (count > maxTags || bytes > maxFieldBytes) {
      throw new TypeError(
        `tag: this response would have ${count} tags of ${bytes} bytes. The edge stores none with more than ${maxTags} ` +
          `tags (limits.tags), and answers 502 to one with more than ${maxFieldBytes} bytes of fields ` +
          "(limits.responseFieldBytes). If the page is a list, use one tag for the list.",
      );
    }
    this.#outer?.nearestOpen()?.add(given);
    for (const tag of added) this.#tags.add(tag);
    this.#tagBytes = bytes;
  }

  /** Collects items for the purge at the end of the request. */
  purgeLater(input: PurgeLaterInput): void {
    if (this.#isOver) {
      throw new Error("purgeLater: the request was answered and its purge sent already. Call the purger itself.");
    }
    const { purger } = this.#options;
    if (!purger) throw new TypeError("purgeLater: the middleware has no purger. Give it one: { purger }.");
    const { everything, ...items } = input;
    // The items are checked first, so that a misspelt kind is an error even beside `everything`.
    this.#changes.push({ ...parseItems("purgeLater", items), ...(everything && { everything }) });
    if (this.#pause) this.sendAfterPause();
  }

  /** True if there is something to send at the end. */
  get hasPurge(): boolean {
    return this.#changes.length > 0;
  }

  /** Sends the items collected so far. If that fails, they stay collected. */
  async purgeNow(options?: BatchOptions): Promise<BatchReceipt | null> {
    parseBatchOptions("purgeNow", options);
    const changes = this.#takeChanges();
    try {
      return await this.#commit(changes, options);
    } catch (error) {
      this.#changes.unshift(...changes);
      if (this.#pause) this.sendAfterPause();
      throw error;
    }
  }

  #takeChanges(): PurgeLaterInput[] {
    return this.#changes.splice(0);
  }

  async #commit(changes: readonly PurgeLaterInput[], options?: BatchOptions): Promise<BatchReceipt | null> {
    if (changes.length === 0) return null;
    const batch = this.#options.purger!.batch();
    for (const { everything, ...items } of changes) {
      batch.add(items);
      if (everything) batch.everything();
    }
    const receipt = await batch.commit(options);
    if (receipt) this.#cookieField = editorCookieField(receipt) ?? this.#cookieField;
    return receipt;
  }

  /**
   * Ends the collection: sends the purge, or drops it after a failure of the request. It never rejects. The first call
   * counts, and later ones wait for the same purge.
   */
  finish(outcome: "succeeded" | "failed"): Promise<void> {
    this.#finished ??= this.#finish(outcome);
    return this.#finished;
  }

  async #finish(outcome: "succeeded" | "failed"): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#pause);
    if (outcome === "failed") this.#takeChanges();
    else await this.#send();
  }

  /**
   * For a request whose client has left, because nobody may end it: sends the items collected so far, and later ones, also
   * after a pause. The end does not send those again, although their commit may have come after the pause, because a
   * handler that never ends would keep all of them.
   */
  sendAfterPause(): void {
    if (this.#isOver) return;
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => void this.#send(), PAUSE_MS);
  }

  /** Sends the items collected so far, and drops them if that fails. It never rejects. */
  async #send(): Promise<void> {
    try {
      await this.#commit(this.#takeChanges());
    } catch (error) {
      const { onPurgeError = reportPurgeError } = this.#options;
      tellError("onPurgeError", onPurgeError, error);
    }
  }

  /**
   * The fields for the head of the response, which is sent next: the tags together with those in `held` (the response's
   * own `Cache-Tag`), and the editor's cookie if a purge was sent.
   */
  takeFields(held: string | null): { readonly cacheTag: string | null; readonly setCookie: string | null } {
    const setCookie = this.#isHeadSent ? null : this.#cookieField;
    this.#isHeadSent = true;
    if (this.#tags.size === 0) return { cacheTag: null, setCookie };
    const fields = new Headers(held === null ? {} : { [TAG_FIELD]: held });
    // The tags were within the limits when they were added. Here it is too late for an error.
    const noLimits = { maxTags: Number.POSITIVE_INFINITY, maxFieldBytes: Number.POSITIVE_INFINITY };
    return { cacheTag: tagResponse(fields, this.#tags, noLimits).get(TAG_FIELD), setCookie };
  }
}

/** An answer of 400 or above means that nothing was changed. */
export function outcomeOf(status: number): "succeeded" | "failed" {
  return status >= 400 ? "failed" : "succeeded";
}

function reportPurgeError(error: unknown): void {
  console.error("The purge at the end of a request failed, and pages may be stale:", error);
}

// One for the process, even if a bundler makes several copies of this module.
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
    `${caller}: this code runs outside a request. Install the middleware before the routes; in a job, call the purger itself.`,
  );
}

/**
 * Adds tags to the response of the current request, from anywhere below the middleware: `tag("song:42", "songs")`. They
 * are added to the field `Cache-Tag`, each once. If the handler of another request asks its own app for this one, as by
 * SvelteKit's `fetch`, Hono's `app.request` or Fastify's `inject`, its response gets them, too, unless its head was sent.
 *
 * It adds all of them or none. A tag that the edge would not store is a `TypeError`, and so are too many tags. A call
 * outside a request, or after the response head was sent, is an `Error`, because the page would be stored and could not
 * be purged by the tag. In a callback of a pooled driver, such as `pg`, it may tag the response of another request, and
 * nothing can tell: use promises, `AsyncResource.bind` or `tagResponse(response, …)`.
 */
export function tag(...tags: (string | ItemList<string>)[]): void {
  currentScope("tag").tag(itemsOf(tags));
}

/**
 * Collects a change of the current request: `purgeLater({ tags: ["song:42"] })`. When the handler has answered, one
 * purge of all collected items is sent, and then the answer, with the editor's cookie. After an answer of 400 or above,
 * or an error, nothing is sent. In a callback of a pooled driver, such as `pg`, the change may count for another request,
 * and nothing can tell: use promises, `AsyncResource.bind` or the purger itself.
 */
export function purgeLater(items: PurgeLaterInput): void {
  currentScope("purgeLater").purgeLater(items);
}

/**
 * Sends at once the items that `purgeLater` has collected, for a handler that continues after its database commit and
 * may still fail. Resolves to `null` if there were none; rejects like a purge of the purger. The items then stay collected
 * for the next call, or for the purge at the end. The answer carries the editor's cookie if its head has not been sent.
 */
export function purgeNow(options?: BatchOptions): Promise<BatchReceipt | null> {
  return currentScope("purgeNow").purgeNow(options);
}
