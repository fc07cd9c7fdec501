import { Turns } from "../../package/turns.ts";
import type { StreamedBody } from "../../worker/ports/bodies.ts";
import type { Found } from "../../worker/ports/store.ts";
import { isAgeUnknown } from "../../worker/rules/freshness/current-age.ts";
import type { BytePart } from "../../worker/rules/ranges/range.ts";
import { isMarker, isNewer, type Stored } from "../../worker/rules/storing/stored-response.ts";
import { writeHead } from "../../worker/store/envelope.ts";
import { RecentHeads } from "../../worker/store/recent-heads.ts";
import type { SharedTier } from "../../worker/store/tiered-store.ts";
import { Backlog } from "./backlog.ts";
import { BatchedPuts } from "./batched-puts.ts";
import { OpenPages } from "./bodies/open-pages.ts";
import { StoredBodies, type StoredBodiesParts } from "./bodies/stored-bodies.ts";
import type { CacheFolder } from "./cache-folder.ts";
import { CompressionFiles } from "./compression-files.ts";
import { type DiskFiles, diskFiles } from "./disk-files.ts";
import { DiskHealth } from "./disk-health.ts";
import type { JanitorLine } from "./eviction/janitor-line.ts";
import { Room } from "./eviction/room.ts";
import { fileBytes, readHead, readPrefix, readWholeBody } from "./file-format.ts";
import { FileStore, type FileStoreParts } from "./file-store.ts";
import type { FileWriter } from "./file-writer.ts";
import { LikelyCached } from "./likely-cached.ts";

/** Larger files are streamed. Up to this size, reading a file at once costs less. */
const MAX_SMALL_FILE_BYTES = 320 * 1024;
/**
 * How many blocks of bodies are read at a time. Node reads files in four threads, and their results come to the event
 * loop together. A few hundred downloads at once would take all threads and whole turns of the loop: a small file would
 * wait for hundreds of blocks to be read, and a new client for all of them to be written.
 */
const MAX_READS = 2;

export interface DiskTierParts {
  readonly folder: CacheFolder;
  readonly janitor: JanitorLine;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set back. Default: that of the process. */
  readonly monotonicNow?: () => number;
  /** Gets a line for the owner's log when the disk fails, and when that is over. */
  readonly say: (line: string) => void;
  readonly files?: DiskFiles;
  readonly likelyCached?: LikelyCached;
  /** Writes the files of small entries. Default: they are written by `files`. */
  readonly writer?: FileWriter;
  /** How many files of pages may be open for their readers. Default: any number. */
  readonly mostOpen?: number | null;
}

/** What the tiers of several sites share in one process. */
type SharedParts = Pick<FileStoreParts, "room" | "health" | "cached" | "backlog"> &
  Pick<StoredBodiesParts, "turns" | "pages">;

/*
 * The shared tier on files, one for each entry and one for each body that is stored apart. The file system's guarantees,
 * on which this code relies:
 * - A rename replaces a file at once: a reader has the old one or the new one, whole. A crash leaves at most a draft.
 * - A loss of power may tear any file, also a renamed one, because nothing is synced. So all bytes have checksums, and a
 *   file that is torn, of another format, or of another key with the same hash is a miss.
 * - An open file can be read to its end, even if it is deleted or replaced in the meantime. One that was closed because too many
 *   were open is opened again: then the checksums tell another file, and the body is cut off.
 * - All processes see each other's files at once. But two that write the same file
 *   do not wait for each other: the later rename stays. So an older response may replace a newer one of another process.
 *   If a purge came between them, its stamp shows that (R23).
 */
export class DiskTier implements SharedTier {
  readonly readsWhilePut = true;
  readonly compression: CompressionFiles;
  readonly #parts: DiskTierParts;
  readonly #shared: SharedParts;
  readonly #folder: CacheFolder;
  readonly #cached: LikelyCached;
  readonly #store: FileStore;
  readonly #bodies: StoredBodies;
  readonly #batched: BatchedPuts | undefined;
  readonly #heads = new RecentHeads();

  /** `shared`: what this tier shares with those of other sites in the same folder. */
  constructor(parts: DiskTierParts, shared?: SharedParts) {
    const { folder, janitor, now, monotonicNow = () => performance.now() } = parts;
    const { say, files = diskFiles, likelyCached, writer } = parts;
    this.#parts = parts;
    this.#folder = folder;
    this.#shared = shared ?? {
      room: new Room(janitor),
      health: new DiskHealth(folder.path, now, say),
      cached: likelyCached ?? new LikelyCached(),
      turns: new Turns(MAX_READS),
      backlog: new Backlog(folder.path, say),
      pages: new OpenPages(parts.mostOpen ?? null),
    };
    this.#cached = this.#shared.cached;
    const store = new FileStore({ ...this.#shared, folder, files, monotonicNow, writer });
    this.#store = store;
    this.#bodies = new StoredBodies({ ...this.#shared, folder, files, monotonicNow, store });
    this.compression = new CompressionFiles(folder, store);
    this.#batched = writer && new BatchedPuts({ ...this.#shared, writer, changes: store.changes });
  }

  /**
   * The tier of one of several sites in this folder. Its files have names of their own, and all sites share the room on
   * the disk.
   */
  ofSite(site: string): DiskTier {
    return new DiskTier({ ...this.#parts, folder: this.#folder.ofSite(site) }, this.#shared);
  }

  get(key: string): Promise<Found | undefined> | undefined {
    const name = this.#folder.nameOf(key, "entry");
    try {
      if (this.#cached.sizeOf(name) !== undefined) return this.#getFile(key, name);
      // Most misses end here: a look for the file costs half as much as a non-blocking open.
      const size = this.#store.sizeNow(name);
      return size === null ? undefined : this.#getFile(key, name, size);
    } catch (bug) {
      return Promise.reject(bug);
    }
  }

  /** `size`: that of the file, if it is known. */
  async #getFile(key: string, name: string, size?: number): Promise<Found | undefined> {
    try {
      const found = this.#readCached(key, name) ?? (await this.#readFile(key, name, size));
      this.#shared.health.worked("read");
      if (found === "torn") return await this.#store.drop(name);
      if (found) this.#shared.room.hit(name);
      return found;
    } catch (cause) {
      this.#cached.forget(name);
      return this.#store.missUnlessBug(cause);
    }
  }

  /** Changes nothing on the disk either: a torn file stays until it is requested. */
  async peek(key: string): Promise<Found | undefined> {
    const name = this.#folder.nameOf(key, "entry");
    try {
      const found = this.#readCached(key, name) ?? (await this.#readFile(key, name));
      return found === "torn" ? undefined : found;
    } catch (cause) {
      return this.#store.missUnlessBug(cause);
    }
  }

  put(stored: Stored): Promise<void> {
    const { key } = stored.head;
    const name = this.#folder.nameOf(key, "entry");
    const body = heldBody(stored);
    try {
      const isMissing = !this.#store.changes.has(name) && this.#store.existsNow(name) === false;
      return (
        (isMissing ? this.#batched?.put(name, stored, body) : undefined) ??
        this.#store.changeInMemory(name, body, async () => {
          const held = isMissing ? undefined : await this.#heldAt(key, name);
          // One from before the clock was set back only looks newer.
          if (held && isNewer(held, stored) && !isAgeUnknown(held.head.fetchedAt, this.#parts.now())) return;
          const bytes = await this.#store.write(name, "entry", writeHead(stored), body);
          if (bytes !== null) this.#cached.touch(name, bytes);
        })
      );
    } catch (bug) {
      return Promise.reject(bug);
    }
  }

  /**
   * Whether there is a file for this key. A cold disk is not asked: then only what this process has just stored or read
   * counts.
   */
  hasEntry(key: string): boolean {
    const name = this.#folder.nameOf(key, "entry");
    return this.#store.existsNow(name) ?? this.#cached.sizeOf(name) !== undefined;
  }

  async delete(key: string): Promise<void> {
    const name = this.#folder.nameOf(key, "entry");
    await this.#store.dropInTurn(name); // The janitor deletes its coded forms.
  }

  getBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    return this.#bodies.getBody(bodyKey, part);
  }

  putBody(bodyKey: string, body: StreamedBody): Promise<void> {
    return this.#bodies.putBody(bodyKey, body);
  }

  /** Resolves when no file is being changed. The janitor knows of all changes then. */
  async settled(): Promise<void> {
    while (this.#store.changes.size > 0) await Promise.allSettled(this.#store.changes.values());
    await this.#shared.room.settled();
  }

  /** The same, before this process ends: the janitor then has nothing to look for that it has left. */
  async end(): Promise<void> {
    await this.settled();
    await this.#shared.room.end();
  }

  /** Reads a small file at once if the kernel probably has it in memory. */
  #readCached(key: string, name: string): Found | "torn" | undefined {
    const size = this.#cached.sizeOf(name);
    if (size === undefined || size > MAX_SMALL_FILE_BYTES) return undefined;
    const bytes = this.#store.readNow(name, size);
    return bytes && this.#smallEntry(key, bytes);
  }

  /** Reads a file without blocking: whole if it is small, otherwise its head, with the body to be streamed. */
  async #readFile(key: string, name: string, likelySize?: number): Promise<Found | "torn" | undefined> {
    const firstBytes = likelySize !== undefined && likelySize <= MAX_SMALL_FILE_BYTES ? likelySize : undefined;
    const file = await this.#store.open(name, "entry", firstBytes);
    let isStreamed = false;
    try {
      if (file.isTorn) return "torn";
      const size = fileBytes(file.prefix);
      if (size <= MAX_SMALL_FILE_BYTES) {
        const bytes = await file.readWhole();
        if (!bytes) return "torn";
        this.#cached.touch(name, size);
        return this.#smallEntry(key, bytes);
      }
      const text = file.head;
      const table = text === undefined ? undefined : await file.readTable();
      if (text === undefined || !table) return "torn";
      const read = this.#heads.read(key, text);
      if (!read || isMarker(read) || read.head.bodyBytes !== file.prefix.bodyBytes) return undefined;
      isStreamed = true;
      return { head: read.head, body: this.#bodies.bodyOf(name, file, null, table) };
    } finally {
      if (!isStreamed) file.close();
    }
  }

  #smallEntry(key: string, bytes: Buffer): Found | "torn" | undefined {
    const prefix = readPrefix(bytes, "entry");
    const text = prefix && readHead(bytes, prefix);
    const body = prefix && readWholeBody(bytes, prefix);
    if (text === undefined || body === undefined) return "torn";
    const read = this.#heads.read(key, text);
    if (!read || isMarker(read)) return read;
    const { head } = read;
    if (head.bodyKey !== null) return { head, body: null };
    if (head.bodyBytes !== body.length) return undefined;
    // A `Buffer` is no `Uint8Array` in all it does: its `slice` shares memory.
    return { head, body: new Uint8Array(bytes.buffer as ArrayBuffer, body.byteOffset, body.length) };
  }

  /** The head that a file has; `undefined` if there is none that can be used. */
  async #heldAt(key: string, name: string): Promise<Stored | undefined> {
    const file = await this.#store.open(name, "entry").catch(() => undefined);
    if (!file) return undefined;
    file.close();
    const text = file.head;
    const read = text === undefined ? undefined : this.#heads.read(key, text);
    return read && (isMarker(read) ? read : { head: read.head, body: null });
  }
}

function heldBody(stored: Stored): Uint8Array {
  return (isMarker(stored) ? null : stored.body) ?? new Uint8Array(0);
}
