import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { FrequencySketch } from "../../../worker/rules/hashing/frequency-sketch.ts";
import { EvictingMap } from "../../../worker/store/evicting-map.ts";
import { failureCode } from "../../failure-code.ts";
import { inBackground, isPaused } from "../../pause.ts";
import { CacheFolder } from "../cache-folder.ts";
import { roomOf } from "../disk-blocks.ts";
import { type DiskFiles, diskFiles } from "../disk-files.ts";
import { isComing, type Kept, type Lacking, type Line, LOOK_EVERY_MS, lackingIn, mostPieceBytes } from "./free-room.ts";
import { mostFiles, sketchSlots } from "./index-bounds.ts";
import type { DiskNote, JanitorLine } from "./janitor-line.ts";
import { DRAFT_LIVES_MS, deleteLeftovers } from "./leftovers.ts";
import { Readers } from "./readers.ts";

export interface JanitorParts {
  readonly files?: DiskFiles;
  /** The most entries of the index. Default: as many as the heap of this process has room for. */
  readonly maxFiles?: number;
  /**
   * The bytes that stay free in the file system of the folder for other users: files are deleted before there would be
   * less. Default: 0.
   */
  readonly keptFreeBytes?: number;
  /** The same for the number of files that can still be created. */
  readonly keptFreeFiles?: number;
  /** Receives lines for the owner. Default: nobody does. */
  readonly say?: (line: string) => void;
}

/** Room that is kept free for files that are being written, as a share of the disk's bound. */
const ROOM_SHARE = 1 / 16;
/** At most this share may be reserved at a time. */
const MAX_RESERVED_SHARE = 1 / 2;
/** Files that are small may have so much at a time, too, while large bodies use up the room for them. */
const SMALL_PIECE_BYTES = 256 * 1024;
/** While little room is left, there is some for one page and none for the next: it is over when all had some for so long. */
const CROWDED_OUT_MS = 60_000;
/** A folder that could not be read is tried again after this time. Milliseconds. */
const SCAN_AGAIN_MS = 60 * 1000;
/** After so many names other work gets its turn. */
const NAMES_PER_TURN = 4096;

/**
 * The largest body for which a disk with this bound can have room once its folder has been read: the most that may be
 * reserved at a time, less the room that processes keep for small files.
 */
export function largestBodyBytes(maxBytes: number): number {
  return Math.floor(maxBytes * (MAX_RESERVED_SHARE - ROOM_SHARE));
}

/**
 * Keeps the index of all files in the cache's folder, and deletes those that have to leave, so that they never take
 * more than `maxBytes`. One process of a machine runs it. Other processes tell it of hits and new files. What a killed
 * process did not tell of is in the room that it had asked for, which counts as taken until a scan has found it.
 */
export class Janitor {
  readonly maxBytes: number;
  readonly #folder: CacheFolder;
  readonly #files: DiskFiles;
  readonly #maxFiles: number;
  readonly #kept: Kept;
  readonly #say: (line: string) => void;
  /** Until when others count as having left no room, which is said once, and its end once: epoch milliseconds, or `null`. */
  #crowdedOutUntil: number | null = null;
  readonly #index: EvictingMap<number>;
  readonly #lines = new Set<Line>();
  /** The files that have left the index and are being deleted, and their bytes. */
  #leavingFiles = 0;
  #leavingBytes = 0;
  readonly #readers = new Readers<Line>();
  /** How often something that was leaving has made room. */
  #departures = 0;
  /** The last look for each file that a process has deleted, unless the file was put since. */
  readonly #looks = new Map<string, Promise<void>>();
  #evictions = 0;
  #deleting: Promise<void> = Promise.resolve();
  #scan: Promise<void> | null = null;
  #isScanned = false;
  /** What files have left for, and until when their room may come: epoch milliseconds. `null` once there has been room since. */
  #left: { readonly for: Lacking; readonly until: number } | null = null;
  /** The bytes that were put before the folder was read. */
  #unscannedBytes = 0;
  /** The room of processes that have ended: a scan finds what they have written there since their last notes. */
  #lostBytes = 0;
  #isClosed = false;
  readonly #beganAt = Date.now();

  constructor(folder: CacheFolder, maxBytes: number, parts: JanitorParts = {}) {
    const { files = diskFiles, maxFiles = mostFiles() } = parts;
    this.#kept = { bytes: parts.keptFreeBytes ?? 0, files: parts.keptFreeFiles ?? 0 };
    this.#say = parts.say ?? (() => undefined);
    this.#folder = folder;
    this.#files = files;
    this.#maxFiles = maxFiles;
    this.maxBytes = maxBytes;
    const indexBytes = maxBytes * (1 - ROOM_SHARE);
    const evicted = (file: string, bytes: number) => {
      this.#evictions++;
      this.#delete(file, bytes);
    };
    this.#index = new EvictingMap<number>(indexBytes, evicted, new FrequencySketch(sketchSlots(maxFiles)));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Files that had to leave for others. */
  get evictions(): number {
    return this.#evictions;
  }

  get heldBytes(): number {
    return this.#index.heldBytes;
  }

  get heldFiles(): number {
    return this.#index.size;
  }

  /** The files, those being written, those being deleted, and those that are still read after that. */
  get usedBytes(): number {
    return this.#index.heldBytes + this.#leavingBytes + this.#reservedBytes + this.#readers.goneBytes;
  }

  /** A line for one process. `close`: it has ended. The room that it did not give back is free after a scan. */
  connect(): JanitorLine & { close(): void } {
    const line: Line = { reservedBytes: 0, draftBytes: 0 };
    this.#lines.add(line);
    return {
      ask: (bytes, orUpTo) => this.#ask(line, bytes, orUpTo),
      tell: (notes) => {
        for (const note of notes) this.#hear(line, note);
      },
      close: () => this.#onGone(line),
    };
  }

  /**
   * Reads the folder: the files of an earlier run are in the index then, and what processes that have died left behind is
   * deleted. Files can be read and written while it runs. Files that are not the cache's are left alone. Rejects if the
   * folder cannot be read.
   */
  scan(): Promise<void> {
    this.#scan ??= this.#scanOnce().finally(() => {
      this.#scan = null;
    });
    return this.#scan;
  }

  /**
   * Scans until the folder has been read or the janitor is closed. Most of the disk is not used before. Then it waits for
   * drafts to grow old that a killed process may have left, and for what processes of an earlier janitor still write, and
   * scans again. Never rejects.
   */
  async scanUntilRead(wait: (ms: number) => Promise<unknown> = inBackground): Promise<void> {
    while (!this.#isScanned && !this.#isClosed) await this.scan().catch(() => wait(SCAN_AGAIN_MS));
    if (!this.#isClosed) await wait(DRAFT_LIVES_MS);
    if (!this.#isClosed) await this.scan().catch(() => undefined);
  }

  /**
   * Keeps free what has to stay free, also when others use more and nobody asks for room, and finds what killed processes
   * have left, until it is closed. Never rejects.
   */
  async keepRoom(wait: (ms: number) => Promise<unknown> = inBackground): Promise<void> {
    for (;;) {
      await wait(LOOK_EVERY_MS);
      if (this.#isClosed) return;
      if (this.#isScanned && this.#lostBytes > 0) await this.scan().catch(() => undefined);
      await this.#makeRoom();
    }
  }

  /** Resolves when nothing is being deleted or scanned any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#scan?.catch(() => undefined);
    await this.settled();
  }

  /** Resolves when all files that had to leave until now are deleted. */
  async settled(): Promise<void> {
    for (let last: unknown; last !== this.#deleting; ) {
      last = this.#deleting;
      await last;
    }
  }

  /** `settled` resolves only after this work. */
  #settleAfter(work: Promise<void>): void {
    this.#deleting = this.#deleting.then(() => work);
  }

  #onGone(line: Line): void {
    if (!this.#lines.delete(line)) return;
    for (const file of this.#readers.files) while (this.#readers.end(line, file));
    this.#lostBytes += line.reservedBytes;
  }

  async #ask(line: Line, leastBytes: number, orUpTo: number): Promise<number> {
    if (this.#isClosed || !(leastBytes > 0)) return 0;
    const freeRoom = this.maxBytes * ROOM_SHARE - this.#reservedBytes - this.#unscannedBytes;
    // Until the folder has been read, it may be full except for the room that is always kept free.
    const most = this.#isScanned ? this.maxBytes * MAX_RESERVED_SHARE - this.#reservedBytes : freeRoom;
    if (leastBytes > most) return 0;
    const isPlenty = orUpTo <= freeRoom / 4;
    const small = SMALL_PIECE_BYTES <= most / 4 ? Math.min(orUpTo, SMALL_PIECE_BYTES) : 0;
    const mostBytes = mostPieceBytes(this.#kept, this.#lines.size);
    const bytes = Math.max(leastBytes, Math.min(isPlenty ? orUpTo : small, mostBytes));
    line.reservedBytes += bytes; // at once, so that no other request gets the same room
    const isRoom = await this.#makeRoom();
    // For a body that is large by itself there may be no room where there is some for others.
    if (orUpTo > leastBytes && (isRoom || (this.#isScanned && this.#index.size === 0 && this.#readers.isEmpty)))
      this.#noteRoom(isRoom);
    if (isRoom && this.#lines.has(line)) return bytes;
    line.reservedBytes -= bytes;
    return 0;
  }

  #noteRoom(isRoom: boolean): void {
    const until = this.#crowdedOutUntil;
    if (!isRoom) this.#crowdedOutUntil = Date.now() + CROWDED_OUT_MS;
    else if (until !== null && !isPaused(until, Date.now(), CROWDED_OUT_MS)) this.#crowdedOutUntil = null;
    const isOver = this.#crowdedOutUntil === null;
    if (isOver === (until === null)) return;
    const { path } = this.#folder;
    this.#say(
      isOver
        ? `There is room for the cache in ${path} again.`
        : `Others have left no room in the file system of ${path}. For now, pages are kept only in memory.`,
    );
  }

  /** Deletes files until everything that was granted has room. Returns false if no more can be deleted. */
  async #makeRoom(): Promise<boolean> {
    for (;;) {
      const lacking = await lackingIn(this.#folder.path, this.#files, this.#kept, this.#lines);
      const excessBytes = Math.max(this.usedBytes - this.maxBytes, lacking.bytes);
      if (excessBytes <= 0 && lacking.files <= 0) {
        this.#left = null;
        return true;
      }
      if (this.usedBytes - this.maxBytes > this.#deletableBytes) return false;
      if (this.usedBytes <= this.maxBytes) {
        const isLeaving = this.#leavingFiles > 0 || this.#leavingBytes > 0;
        if (this.#left && !isLeaving && isComing(this.#left.for, this.#left.until, lacking)) return false;
        this.#left = { for: lacking, until: Date.now() + LOOK_EVERY_MS };
      }
      if (excessBytes > this.#leavingBytes)
        this.#index.shrinkTo(this.#index.heldBytes - excessBytes + this.#leavingBytes);
      const leavingFiles = Math.min(lacking.files, NAMES_PER_TURN);
      while (this.#leavingFiles < leavingFiles && this.#index.size > 0) this.#index.shrinkTo(this.#index.heldBytes - 1);
      const before = this.#departures;
      await this.settled();
      if (this.#departures === before) return false;
    }
  }

  get #reservedBytes(): number {
    let bytes = this.#lostBytes;
    for (const line of this.#lines) bytes += line.reservedBytes;
    return bytes;
  }

  /** The most that deleting files can free now. */
  get #deletableBytes(): number {
    let bytes = this.#index.heldBytes + this.#leavingBytes;
    for (const file of this.#readers.files) bytes -= this.#index.peek(file) ?? 0;
    return bytes;
  }

  #hear(line: Line, note: DiskNote): void {
    if (note.kind === "hit") this.#index.get(note.file);
    else if (note.kind === "gone") this.#forgetIfMissing(note.file);
    else if (note.kind === "unused") line.reservedBytes = Math.max(0, line.reservedBytes - note.bytes);
    else if (note.kind === "draft") line.draftBytes += note.bytes;
    else if (note.kind === "opened") {
      const isGuess = this.#isScanned && this.#index.peek(note.file) === undefined;
      this.#readers.begin(line, note.file, roomOf(note.bytes), isGuess);
    } else if (note.kind === "closed") this.#readers.end(line, note.file);
    else if (!this.#folder.isFileName(note.file)) return;
    else if (this.#isClosed) {
      // Another janitor has begun, whose last scan may be over. An entry is smaller, and may be a newer one by now.
      if (!this.#folder.isEntryName(note.file)) this.#delete(note.file, 0);
    } else {
      const bytes = roomOf(note.bytes);
      line.reservedBytes = Math.max(0, line.reservedBytes - bytes);
      this.#looks.delete(note.file);
      if (!this.#isScanned) this.#unscannedBytes += bytes;
      const replacedBytes = this.#index.peek(note.file);
      this.#readers.gone(note.file, replacedBytes ?? 0);
      if (replacedBytes === undefined) {
        this.#makePlace();
        this.#index.makeWayFor(bytes);
      }
      this.#index.set(note.file, bytes, bytes);
      if (this.#isScanned && this.#isOrphan(note.file)) this.#leave(note.file);
    }
  }

  /** Another process may have stored a file anew since one deleted it, and its note may have come earlier. */
  #forgetIfMissing(file: string): void {
    const look = this.#files
      .sizeOf(this.#folder.pathOf(file))
      .then(
        () => false,
        (cause) => failureCode(cause) === "ENOENT",
      )
      .then((isMissing) => {
        if (this.#looks.get(file) !== look) return;
        this.#looks.delete(file);
        if (!isMissing) return;
        const bytes = this.#index.peek(file);
        if (bytes !== undefined) this.#readers.gone(file, bytes);
        this.#index.delete(file);
        for (const coded of this.#folder.codedOf(file)) this.#leave(coded);
      });
    this.#looks.set(file, look);
    this.#settleAfter(look);
  }

  /** For one more file in the index. */
  #makePlace(): void {
    if (this.#index.size >= this.#maxFiles) this.#index.shrinkTo(this.#index.heldBytes - 1);
  }

  /** Whether a coded form has lost its entry. */
  #isOrphan(file: string): boolean {
    const entry = this.#folder.entryOf(file);
    return entry !== null && this.#index.peek(entry) === undefined;
  }

  #leave(file: string): void {
    const bytes = this.#index.peek(file);
    if (bytes === undefined) return;
    this.#index.delete(file);
    this.#delete(file, bytes);
  }

  #delete(file: string, bytes: number): void {
    this.#leavingBytes += bytes;
    this.#leavingFiles++;
    const deleted = this.#files
      .unlink(this.#folder.pathOf(file))
      .then(
        () => true,
        (cause) => failureCode(cause) === "ENOENT",
      )
      .then((isGone) => {
        this.#leavingBytes -= bytes;
        this.#leavingFiles--;
        if (isGone) {
          this.#departures++;
          this.#readers.gone(file, bytes);
          // The coded forms of an entry leave with it.
          for (const coded of this.#folder.codedOf(file)) this.#leave(coded);
        } else if (this.#index.peek(file) === undefined) this.#index.restore(file, bytes, bytes);
      });
    this.#settleAfter(deleted);
  }

  async #scanOnce(): Promise<void> {
    const lostBytes = this.#lostBytes;
    CacheFolder.open(this.#folder.path); // deleting may have failed while the disk took no writes
    await deleteLeftovers(this.#folder, this.#files, this.#beganAt);
    let names = 0;
    for (const folder of this.#folder.folders) {
      for (const name of await this.#files.list(folder)) {
        if (++names % NAMES_PER_TURN === 0) await nextTurn();
        if (this.#isClosed) return;
        if (!this.#folder.isFileName(name) || this.#index.peek(name) !== undefined) continue;
        const bytes = await this.#files.sizeOf(join(folder, name)).catch(() => null);
        // A process may have told of it in the meantime.
        if (bytes === null || this.#index.peek(name) !== undefined) continue;
        const room = roomOf(bytes);
        this.#makePlace();
        // It was stored before, so it skips the queue of new files.
        if (this.#index.admits(name, room)) this.#index.set(name, room, room, true);
        else this.#delete(name, room);
      }
    }
    this.#isScanned = true;
    this.#unscannedBytes = 0;
    this.#lostBytes -= lostBytes;
    for (const file of this.#index.keys()) {
      if (this.#isOrphan(file)) this.#leave(file);
      if (++names % NAMES_PER_TURN === 0) await nextTurn();
      if (this.#isClosed) return;
    }
    await this.#makeRoom(); // if earlier versions, or other users, have left too little
  }
}
