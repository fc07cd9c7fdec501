import type { PopNotes } from "../ports.ts";

/*
 * The Cache API of this PoP as a place for notes. What the platform does and what is relied on:
 * - `put` resolves whether or not it stored, is invisible until done, and of two the later one to land stays. A note may be
 *   old, or not be there: whoever reads it goes by what stands in it.
 * - A PoP's machines share it, each with a clock of its own. Other PoPs never see it.
 * - Bytes come back as they were put. A cut is not noticed: the reader has to tell whether they are whole.
 */

/** Longer than any lease: when a note is too old its reader decides. */
const RETENTION_SECONDS = 60;

/** Its methods reject if the platform does. */
export class CacheApiNotes implements PopNotes {
  readonly #cache: Cache;
  readonly #prefix: string;

  /**
   * The host is one of this site's. `of` stands for what the notes are about: whoever goes by something else has notes of
   * its own, as a version of the worker that is bound to another log.
   */
  constructor(cache: Cache, host: string, of: string) {
    this.#cache = cache;
    // Below the control plane's prefix, so that no page of the site can share a key with a note.
    this.#prefix = `https://${host}/_tidemark/note/${of}/`;
  }

  async read(name: string): Promise<Uint8Array | null> {
    const response = await this.#cache.match(this.#prefix + name);
    return response ? new Uint8Array(await response.arrayBuffer()) : null;
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const headers = {
      "cache-control": `public, max-age=${RETENTION_SECONDS}`,
      "content-type": "application/octet-stream",
    };
    await this.#cache.put(this.#prefix + name, new Response(bytes, { headers }));
  }
}
