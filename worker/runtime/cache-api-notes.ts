import type { PopNotes } from "../ports/store.ts";

/*
 * Notes in the Cache API of this PoP. The platform's guarantees, on which this code relies:
 * - `put` resolves whether or not it stored, and is invisible until it is done; of two puts the one that ends later
 *   stays. A note may be old or missing, so its reader decides by its contents.
 * - All machines of a PoP share the notes, each with its own clock. Other PoPs never see them.
 * - Bytes come back unchanged, but may be cut off, so the reader has to check that they are complete.
 */

/** Longer than any lease: the reader decides whether a note is too old. */
const RETENTION_SECONDS = 60;

/** The methods reject if the platform does. */
export class CacheApiNotes implements PopNotes {
  readonly #cache: Cache;
  readonly #prefix: string;

  /**
   * `host` is one of this site's hosts. `subject` names the log that the notes are about, because a version of the
   * worker that is bound to another log has its own notes.
   */
  constructor(cache: Cache, host: string, subject: string) {
    this.#cache = cache;
    // The path is below the control plane's prefix, so that no page of the site can share a key with a note.
    this.#prefix = `https://${host}/_tidemark/note/${subject}/`;
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
