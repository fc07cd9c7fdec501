import type { Found, StreamedBody } from "../../worker/ports.ts";
import type { BytePart } from "../../worker/rules/ranges/range.ts";
import { isMarker, type Stored } from "../../worker/rules/storing/stored-response.ts";
import type { Coding } from "../../worker/rules/variants/accept-encoding.ts";
import { writeHead } from "../../worker/store/envelope.ts";
import { isNewer } from "../../worker/store/memory-tier.ts";
import { RecentHeads } from "../../worker/store/recent-heads.ts";
import type { SharedTier } from "../../worker/store/tiered-store.ts";
import { nodeBody } from "../bodies/node-body.ts";
import type { CodedFile, CodedFiles } from "../compression/coded-files.ts";
import { Turns } from "../turns.ts";
import { Backlog } from "./backlog.ts";
import { BatchedPuts } from "./batched-puts.ts";
import type { CacheFolder } from "./cache-folder.ts";
import { type DiskFiles, diskFiles, readAll, writeAll } from "./disk-files.ts";
import { DiskHealth } from "./disk-health.ts";
import { FileBody } from "./file-body.ts";
import {
  BlockSums,
  blockCount,
  type FileKind,
  fileBytes,
  frameOf,
  isSmallFile,
  isTableOf,
  PREFIX_BYTES,
  type Prefix,
  readHead,
  readPrefix,
  readWholeBody,
  writeSmallFile,
} from "./file-format.ts";
import type { FileWriter } from "./file-writer.ts";
import { type JanitorLine, roomOf } from "./janitor.ts";
import { LikelyCached } from "./likely-cached.ts";
import { RecentMisses } from "./recent-misses.ts";
import { Room } from "./room.ts";

/** The first read of a file: most files whole. */
const FIRST_READ_BYTES = 64 * 1024;
/** A larger file is streamed. Up to this size it costs less to read it at once. */
const MAX_SMALL_FILE_BYTES = 320 * 1024;
/** A body of unknown length asks for room in pieces of this size. */
const BODY_ROOM_BYTES = 8 * 1024 * 1024;
/**
 * How many blocks of bodies are read at a time. Node reads files in four threads, and their results come to the event
 * loop together. With a few hundred downloads at once, all threads and whole turns of the loop would be theirs: a small
 * file would wait for hundreds of blocks to be read, and a new client for all of them to be written.
 */
const MAX_READS = 2;

export interface DiskTierParts {
  readonly folder: CacheFolder;
  readonly janitor: JanitorLine;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Gets a line for the owner's log when the disk fails, and when that is over. */
  readonly say: (line: string) => void;
  readonly files?: DiskFiles;
  readonly likelyCached?: LikelyCached;
  /** Writes the files of small entries. Default: they are written by `files`. */
  readonly writer?: FileWriter;
}

/** What the tiers of several sites have in common in one process. */
interface SharedParts {
  readonly room: Room;
  readonly health: DiskHealth;
  readonly cached: LikelyCached;
  /** In which the bodies are read: each asks for one block, and then waits behind the others. */
  readonly turns: Turns;
  readonly backlog: Backlog;
}

/*
 * The shared tier on files, one for each entry and one for each body that is stored apart. The file system's guarantees,
 * on which this code relies:
 * - A rename replaces a file at once: a reader has the old one or the new one, whole. A crash leaves at most a draft.
 * - A loss of power may tear any file, also a renamed one, because nothing is synced. So all bytes have checksums, and a
 *   file that is torn, of another format, or of another key with the same hash is a miss.
 * - An open file can be read to its end, even if it is deleted or replaced in the meantime.
 * - All processes see each other's files at once, but two that write the same one do not wait for each other: the later
 *   rename stays. Nor does a process look again before it stores what it has missed less than a second ago. So an older
 *   response may replace a newer one of another process. If a purge came between them, its stamp shows that (R23).
 */
export class DiskTier implements SharedTier, CodedFiles {
  readonly #parts: DiskTierParts;
  readonly #shared: SharedParts;
  readonly #folder: CacheFolder;
  readonly #files: DiskFiles;
  readonly #room: Room;
  readonly #health: DiskHealth;
  readonly #cached: LikelyCached;
  readonly #writer: FileWriter | undefined;
  readonly #batched: BatchedPuts | undefined;
  readonly #heads = new RecentHeads();
  readonly #misses = new RecentMisses();
  readonly #turns: Turns;
  /** The last change of each file that is under way in this process. */
  readonly #changes = new Map<string, Promise<void>>();

  /** `shared`: what this tier has in common with those of other sites in the same folder. */
  constructor(parts: DiskTierParts, shared?: SharedParts) {
    const { folder, janitor, now, say, files = diskFiles, likelyCached, writer } = parts;
    this.#parts = parts;
    this.#folder = folder;
    this.#files = files;
    this.#writer = writer;
    this.#shared = shared ?? {
      room: new Room(janitor),
      health: new DiskHealth(folder.path, now, say),
      cached: likelyCached ?? new LikelyCached(),
      turns: new Turns(MAX_READS),
      backlog: new Backlog(folder.path, say),
    };
    const { room, health, cached, turns, backlog } = this.#shared;
    this.#room = room;
    this.#health = health;
    this.#cached = cached;
    this.#turns = turns;
    const changes = this.#changes;
    this.#batched = writer && new BatchedPuts({ writer, room, health, cached, backlog, changes });
  }

  /** The tier of one of several sites in this folder. Its files have other names; the room on the disk is one. */
  ofSite(site: string): DiskTier {
    return new DiskTier({ ...this.#parts, folder: this.#folder.ofSite(site) }, this.#shared);
  }

  get(key: string): Promise<Found | undefined> | undefined {
    const name = this.#folder.nameOf(key, "entry");
    try {
      if (this.#cached.sizeOf(name) === undefined && this.#isSurelyMissing(key, name)) return undefined;
    } catch (cause) {
      return this.#missOrReject(cause);
    }
    return this.#getFile(key, name);
  }

  /** Nobody who looks or stores expects a tier to throw. */
  async #missOrReject(cause: unknown): Promise<undefined> {
    return this.#missUnlessBug(cause);
  }

  async #getFile(key: string, name: string): Promise<Found | undefined> {
    try {
      const found = this.#readCached(key, name) ?? (await this.#readFile(key, name));
      this.#health.worked("read");
      if (found === "torn") return await this.#drop(name);
      if (found) this.#room.hit(name);
      return found;
    } catch (cause) {
      this.#cached.forget(name);
      return this.#missUnlessBug(cause);
    }
  }

  /** Changes nothing on the disk either: a file that is torn stays until it is requested. */
  async peek(key: string): Promise<Found | undefined> {
    const name = this.#folder.nameOf(key, "entry");
    try {
      const found = this.#readCached(key, name) ?? (await this.#readFile(key, name));
      return found === "torn" ? undefined : found;
    } catch (cause) {
      return this.#missUnlessBug(cause);
    }
  }

  put(stored: Stored): Promise<void> {
    const { key } = stored.head;
    const missing = this.#misses.take(key, performance.now());
    const name = missing ?? this.#folder.nameOf(key, "entry");
    const isMissing = missing !== undefined && !this.#changes.has(name);
    const body = heldBody(stored);
    try {
      return (
        (isMissing ? this.#batched?.put(name, stored, body) : undefined) ??
        this.#changeInMemory(name, body, async () => {
          const held = isMissing ? undefined : await this.#heldAt(key, name);
          if (held && isNewer(held, stored)) return;
          const bytes = await this.#write(name, "entry", writeHead(stored), body);
          if (bytes !== null) this.#cached.touch(name, bytes);
        })
      );
    } catch (bug) {
      return Promise.reject(bug);
    }
  }

  /** Whether there is an entry under this key, as far as its name tells. */
  hasEntry(key: string): boolean {
    return this.#exists(this.#folder.nameOf(key, "entry"));
  }

  async delete(key: string): Promise<void> {
    const name = this.#folder.nameOf(key, "entry");
    await this.#dropInTurn(name); // The janitor deletes its coded forms.
  }

  hasCoded(key: string, coding: Coding): boolean {
    return this.#exists(this.#folder.nameOf(key, coding));
  }

  async readCoded(key: string, coding: Coding): Promise<CodedFile | undefined> {
    const name = this.#folder.nameOf(key, coding);
    try {
      const file = await this.#openFile(name, coding);
      if (!file) return undefined;
      const { fd, prefix, start } = file;
      try {
        const text = start && readHead(start, prefix);
        if (start === undefined || text === undefined) return await this.#drop(name);
        if (text.slice(text.indexOf(" ") + 1) !== key) return undefined;
        const whole = await this.#readRest(fd, prefix, start);
        const body = whole && readWholeBody(whole, prefix);
        if (!whole || !body) return await this.#drop(name);
        this.#health.worked("read");
        this.#room.hit(name);
        const bytes = new Uint8Array(whole.buffer as ArrayBuffer, body.byteOffset, body.length);
        return { digest: text.slice(0, text.indexOf(" ")), bytes };
      } finally {
        this.#files.closeNow(fd);
      }
    } catch (cause) {
      return this.#missUnlessBug(cause);
    }
  }

  async writeCoded(key: string, coding: Coding, { digest, bytes }: CodedFile): Promise<void> {
    const entry = this.#folder.nameOf(key, "entry");
    const name = this.#folder.nameOf(key, coding);
    await this.#changeInMemory(name, bytes, async () => {
      if (!this.#exists(entry)) return;
      await this.#write(name, coding, `${digest} ${key}`, bytes);
      if (!this.#exists(entry)) await this.#drop(name);
    });
  }

  async dropCoded(key: string, coding: Coding): Promise<void> {
    await this.#dropInTurn(this.#folder.nameOf(key, coding));
  }

  async getBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    const name = this.#folder.nameOf(bodyKey, "body");
    try {
      const file = await this.#openFile(name, "body");
      if (!file) return undefined;
      const { fd, prefix, start } = file;
      const isOfKey = start !== undefined && readHead(start, prefix) === bodyKey;
      const table = isOfKey ? await this.#readTable(fd, prefix) : undefined;
      const isPart = part === null || part.last < prefix.bodyBytes;
      if (!table || !isPart) {
        this.#files.closeNow(fd);
        const isTorn = start === undefined || (isOfKey && isPart);
        return isTorn ? await this.#drop(name) : undefined;
      }
      this.#health.worked("read");
      this.#room.hit(name);
      return this.#bodyOf(name, fd, prefix, table, part);
    } catch (cause) {
      return this.#missUnlessBug(cause);
    }
  }

  async putBody(bodyKey: string, body: StreamedBody): Promise<void> {
    const name = this.#folder.nameOf(bodyKey, "body");
    if (this.#health.mayWrite()) return this.#writeBody(name, bodyKey, body);
    await body.cancel();
    throw new Error("the disk tier cannot write at present");
  }

  /** Resolves when no file is being changed, and tells the janitor of all changes. */
  async settled(): Promise<void> {
    while (this.#changes.size > 0) await Promise.allSettled(this.#changes.values());
    this.#room.flush();
  }

  #dropInTurn(name: string): Promise<void> {
    return this.#change(name, () => this.#drop(name));
  }

  #exists(name: string): boolean {
    try {
      return this.#files.existsNow(this.#folder.pathOf(name));
    } catch (cause) {
      this.#missUnlessBug(cause);
      return false;
    }
  }

  /** Most misses end here: a look for a name costs a fifth of an open that does not block. */
  #isSurelyMissing(key: string, name: string): boolean {
    const startedAt = performance.now();
    if (!this.#cached.holdsFolders(startedAt)) return false;
    const exists = this.#files.existsNow(this.#folder.pathOf(name));
    const now = performance.now();
    this.#cached.took(now - startedAt, now);
    if (!exists && !this.#changes.has(name)) this.#misses.remember(key, name, now);
    return !exists;
  }

  /** Reads a small file at once, if the kernel is likely to have it in memory. */
  #readCached(key: string, name: string): Found | "torn" | undefined {
    const size = this.#cached.sizeOf(name);
    if (size === undefined || size > MAX_SMALL_FILE_BYTES) return undefined;
    const startedAt = performance.now();
    const fd = this.#files.openNow(this.#folder.pathOf(name));
    // One byte more shows whether another process has replaced the file by a longer one.
    const bytes = Buffer.allocUnsafeSlow(size + 1);
    let read: number;
    try {
      read = this.#files.readNow(fd, bytes, size + 1);
    } finally {
      this.#files.closeNow(fd);
    }
    const now = performance.now();
    this.#cached.took(now - startedAt, now);
    if (read !== size) {
      this.#cached.forget(name);
      return undefined;
    }
    return this.#smallEntry(key, bytes.subarray(0, size));
  }

  /** Reads a file without blocking: whole if it is small, otherwise its head, with the body to be streamed. */
  async #readFile(key: string, name: string): Promise<Found | "torn" | undefined> {
    const file = await this.#openFile(name, "entry");
    if (!file) return undefined;
    const { fd, prefix, start } = file;
    let isStreamed = false;
    try {
      if (start === undefined) return "torn";
      const size = fileBytes(prefix);
      if (size <= MAX_SMALL_FILE_BYTES) {
        const bytes = await this.#readRest(fd, prefix, start);
        if (!bytes) return "torn";
        this.#cached.touch(name, size);
        return this.#smallEntry(key, bytes);
      }
      const text = readHead(start, prefix);
      const table = text === undefined ? undefined : await this.#readTable(fd, prefix);
      if (text === undefined || !table) return "torn";
      const read = this.#heads.read(key, text);
      if (!read || isMarker(read) || read.head.bodyBytes !== prefix.bodyBytes) return undefined;
      isStreamed = true;
      return { head: read.head, body: this.#bodyOf(name, fd, prefix, table, null) };
    } finally {
      if (!isStreamed) this.#files.closeNow(fd);
    }
  }

  /** The whole file, whose start has been read; `undefined` if it is shorter than it says. */
  async #readRest(fd: number, prefix: Prefix, start: Buffer): Promise<Buffer | undefined> {
    const size = fileBytes(prefix);
    const bytes = Buffer.allocUnsafeSlow(size);
    start.copy(bytes);
    const rest = bytes.subarray(Math.min(start.length, size));
    const read = await readAll(this.#files, fd, rest, rest.length, start.length);
    return read < rest.length ? undefined : bytes;
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

  /** Opens a file and reads its prefix and head. `start` is the beginning of the file; `undefined` if it is torn. */
  async #openFile(
    name: string,
    kind: FileKind,
  ): Promise<{ fd: number; prefix: Prefix; start: Buffer | undefined } | undefined> {
    const fd = await this.#files.open(this.#folder.pathOf(name), "r");
    try {
      const first = Buffer.allocUnsafe(FIRST_READ_BYTES);
      const read = await readAll(this.#files, fd, first, FIRST_READ_BYTES, 0);
      const start = first.subarray(0, read);
      const prefix = readPrefix(start, kind);
      if (!prefix) return { fd, prefix: TORN, start: undefined };
      const missing = PREFIX_BYTES + prefix.headBytes - read;
      if (missing <= 0) return { fd, prefix, start };
      const rest = Buffer.allocUnsafe(missing);
      await readAll(this.#files, fd, rest, missing, read);
      return { fd, prefix, start: Buffer.concat([start, rest]) };
    } catch (cause) {
      this.#files.closeNow(fd);
      throw cause;
    }
  }

  async #readTable(fd: number, prefix: Prefix): Promise<Buffer | undefined> {
    const table = Buffer.alloc(4 * blockCount(prefix.bodyBytes));
    const read = await readAll(this.#files, fd, table, table.length, fileBytes(prefix) - table.length);
    return read === table.length && isTableOf(prefix, table) ? table : undefined;
  }

  #bodyOf(name: string, fd: number, prefix: Prefix, table: Buffer, part: BytePart | null): FileBody {
    const file = { fd, bodyAt: PREFIX_BYTES + prefix.headBytes, bodyBytes: prefix.bodyBytes, table };
    return new FileBody(this.#files, this.#turns, file, part, () => {
      void this.#dropInTurn(name).catch(() => undefined); // It is a miss at the next look, too.
    });
  }

  /** The head that a file has; `undefined` if there is none that can be used. */
  async #heldAt(key: string, name: string): Promise<Stored | undefined> {
    if (!this.#exists(name)) return undefined;
    const file = await this.#openFile(name, "entry").catch(() => undefined);
    if (!file) return undefined;
    this.#files.closeNow(file.fd);
    const text = file.start && readHead(file.start, file.prefix);
    const read = text === undefined ? undefined : this.#heads.read(key, text);
    return read && (isMarker(read) ? read : { head: read.head, body: null });
  }

  /** Writes a file whose body is in memory. Returns its size, or `null` if it was not written. */
  async #write(name: string, kind: FileKind, head: string, body: Uint8Array): Promise<number | null> {
    if (!this.#health.mayWrite()) return null;
    const bytes = fileBytes({ headBytes: Buffer.byteLength(head), bodyBytes: body.byteLength });
    if (!(await this.#room.take(bytes))) return null;
    let isWritten = false;
    try {
      isWritten = isSmallFile(bytes)
        ? await this.#writeSmall(name, kind, head, body, bytes)
        : await this.#writeLarge(name, kind, head, body);
    } finally {
      if (isWritten) this.#room.used(name, bytes, bytes);
      else this.#room.unused(bytes);
    }
    return isWritten ? bytes : null;
  }

  #writeSmall(name: string, kind: FileKind, head: string, body: Uint8Array, bytes: number): Promise<boolean> {
    const writer = this.#writer;
    if (writer) {
      return this.#asTheDiskCan(async () => {
        const failed = await writer.write(name, kind, head, body);
        if (failed.has(name)) throw failed.get(name);
      });
    }
    // A small body is copied once more, which costs less than another call.
    const file = Buffer.allocUnsafeSlow(bytes);
    writeSmallFile(file, 0, kind, head, body);
    return this.#writeFile(name, (fd) => writeAll(this.#files, fd, file, 0));
  }

  #writeLarge(name: string, kind: FileKind, head: string, body: Uint8Array): Promise<boolean> {
    const sums = new BlockSums();
    sums.add(body);
    const { start, table } = frameOf(kind, head, sums);
    return this.#writeFile(name, async (fd) => {
      let at = 0;
      for (const part of [start, body, table]) {
        await writeAll(this.#files, fd, part, at);
        at += part.byteLength;
      }
    });
  }

  /** Writes a body while it comes. Its prefix is written last, when its length and its checksums are known. */
  async #writeBody(name: string, bodyKey: string, body: StreamedBody): Promise<void> {
    const source = nodeBody(body);
    const headBytes = Buffer.byteLength(bodyKey);
    const sums = new BlockSums();
    let takenBytes = 0;
    const reader = source.read();
    const take = async (bytes: number) => {
      const room = roomOf(bytes); // in what the disk gives out, so that the pieces add up
      if (!(await this.#room.take(room))) throw new Error("the disk has no room for this body");
      takenBytes += room;
    };
    try {
      if (source.lengthBytes !== null) {
        const bytes = fileBytes({ headBytes, bodyBytes: source.lengthBytes });
        await take(bytes);
      }
      const isWritten = await this.#writeFile(name, async (fd) => {
        let at = PREFIX_BYTES + headBytes;
        for (let piece = await reader.next(); piece !== null; piece = await reader.next()) {
          sums.add(piece);
          const needed = fileBytes({ headBytes, bodyBytes: sums.bodyBytes });
          if (needed > takenBytes) await take(Math.max(needed - takenBytes, BODY_ROOM_BYTES));
          await writeAll(this.#files, fd, piece, at);
          at += piece.byteLength;
        }
        const { start, table } = frameOf("body", bodyKey, sums);
        await writeAll(this.#files, fd, table, at);
        await writeAll(this.#files, fd, start, 0);
      });
      if (!isWritten) throw new Error("the disk tier cannot write at present");
      const bytes = fileBytes({ headBytes, bodyBytes: sums.bodyBytes });
      this.#room.used(name, bytes, takenBytes);
    } catch (cause) {
      if (takenBytes > 0) this.#room.unused(takenBytes);
      await reader.cancel().catch(() => undefined);
      throw cause;
    }
  }

  /** Writes a draft, and renames it when it is whole. */
  #writeFile(name: string, write: (fd: number) => Promise<void>): Promise<boolean> {
    const draft = this.#folder.draft();
    return this.#asTheDiskCan(async () => {
      try {
        const fd = await this.#files.open(draft, "wx");
        try {
          await write(fd);
        } finally {
          this.#files.closeNow(fd);
        }
        await this.#files.rename(draft, this.#folder.pathOf(name));
      } catch (cause) {
        await this.#files.unlink(draft).catch(() => undefined);
        throw cause;
      }
    });
  }

  /** Returns false if the disk failed. Rejects if the content did, or if there is a bug. */
  async #asTheDiskCan(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
    } catch (cause) {
      if (this.#health.failed(cause, "write")) return false;
      throw cause;
    }
    this.#health.worked("write");
    return true;
  }

  /** A change whose bytes wait in memory. It does not happen if too many do. */
  async #changeInMemory(name: string, { byteLength }: Uint8Array, change: () => Promise<void>): Promise<void> {
    const { backlog } = this.#shared;
    if (!backlog.enter(byteLength)) return;
    try {
      await this.#change(name, change);
    } finally {
      backlog.leave(byteLength);
    }
  }

  /** Makes changes of one file one after the other, so that a late put of an older response finds the newer one. */
  async #change(name: string, change: () => Promise<void>): Promise<void> {
    const before = this.#changes.get(name) ?? Promise.resolve();
    const done = before.then(change, change);
    this.#changes.set(name, done);
    try {
      await done;
    } finally {
      if (this.#changes.get(name) === done) this.#changes.delete(name);
    }
  }

  /** Deletes a file. */
  async #drop(name: string): Promise<undefined> {
    this.#cached.forget(name);
    try {
      await this.#files.unlink(this.#folder.pathOf(name));
      this.#room.gone(name);
    } catch (cause) {
      this.#missUnlessBug(cause);
    }
  }

  #missUnlessBug(cause: unknown): undefined {
    if (this.#health.failed(cause, "read")) return undefined;
    if ((cause as { code?: unknown }).code === "ENOENT") return undefined;
    throw cause;
  }
}

function heldBody(stored: Stored): Uint8Array {
  return (isMarker(stored) ? null : stored.body) ?? new Uint8Array(0);
}

const TORN: Prefix = { kind: "entry", headBytes: 0, bodyBytes: 0, headSum: 0, tableSum: 0 };
