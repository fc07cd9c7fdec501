import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { roomOf } from "../../../server/disk/disk-blocks.ts";
import { type DiskFiles, diskFiles } from "../../../server/disk/disk-files.ts";
import { DiskTier, type DiskTierParts } from "../../../server/disk/disk-tier.ts";
import { Janitor } from "../../../server/disk/eviction/janitor.ts";
import type { FileWriter } from "../../../server/disk/file-writer.ts";
import { LikelyCached } from "../../../server/disk/likely-cached.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import {
  changedHead,
  isMarker,
  type StoredHead,
  type StoredResponse,
} from "../../../worker/rules/storing/stored-response.ts";
import { storedHead } from "../../rules/storing/stored-head.ts";
import { overQuota } from "../../suite/over-quota.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";

/** A folder of its own for a test, deleted when the test has finished. */
export function temporaryFolder(finished: (deletes: () => void) => void = onTestFinished): string {
  const path = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-disk-"));
  // Tried again where something that ends writes its last file meanwhile.
  finished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

export interface DiskOptions {
  readonly maxBytes?: number;
  readonly files?: DiskFiles;
  /** False reads every file without blocking. */
  readonly cached?: boolean;
  readonly isScanned?: boolean;
  /** Default: a clock that stands still, so that no read takes long, whatever else the machine does. */
  readonly monotonicNow?: () => number;
  /** Default: small files are written by `files`, too. */
  readonly writer?: (folder: CacheFolder) => FileWriter;
}

/** A file system, and the descriptors of the files that are open in it. None may be closed twice. */
export function countedFiles(): { readonly files: DiskFiles; readonly open: ReadonlySet<number> } {
  const open = new Set<number>();
  const added = (fd: number) => {
    open.add(fd);
    return fd;
  };
  const files: DiskFiles = {
    ...diskFiles,
    open: async (...args) => added(await diskFiles.open(...args)),
    openNow: (...args) => added(diskFiles.openNow(...args)),
    closeNow: (fd) => {
      if (!open.delete(fd)) throw new Error(`the descriptor ${fd} is not open`);
      diskFiles.closeNow(fd);
    },
  };
  return { files, open };
}

/** An error of the file system. */
export function failure(code: string, syscall: string): Error {
  if (code === "EDQUOT") return overQuota(syscall);
  return Object.assign(new Error(`${code}: injected`), { code, syscall });
}

/** Whether a call to the file system is about a page: an entry, a body or a coded form. */
export function isOfPage(path: string): boolean {
  return path.includes("/files-");
}

export function openDisk(path: string, maxBytes = 64 * 1024 * 1024): { folder: CacheFolder; janitor: Janitor } {
  const folder = CacheFolder.open(path);
  return { folder, janitor: new Janitor(folder, maxBytes) };
}

/** A disk tier with its janitor in one process. */
export class DiskUnderTest {
  readonly path: string;
  readonly folder: CacheFolder;
  readonly janitor: Janitor;
  readonly tier: DiskTier;
  readonly lines: string[] = [];
  /** After all pages were fetched. */
  now = Date.UTC(2028);
  readonly #writer: DiskOptions["writer"];
  readonly #monotonicNow: () => number;

  private constructor(
    path: string,
    { maxBytes = 64 * 1024 * 1024, files = diskFiles, cached = true, monotonicNow = () => 5_000, writer }: DiskOptions,
  ) {
    this.path = path;
    this.folder = CacheFolder.open(path);
    this.janitor = new Janitor(this.folder, maxBytes, { files });
    this.#monotonicNow = monotonicNow;
    this.#writer = writer;
    this.tier = this.otherTier({ files, likelyCached: new LikelyCached(cached ? undefined : 0) });
  }

  static async open(path: string, options: DiskOptions = {}): Promise<DiskUnderTest> {
    const disk = new DiskUnderTest(path, options);
    if (options.isScanned !== false) await disk.janitor.scan();
    return disk;
  }

  /** The tier of another process that has this janitor. */
  otherTier(parts: Partial<DiskTierParts> = {}): DiskTier {
    const folder = CacheFolder.at(this.path);
    return new DiskTier({
      folder,
      janitor: this.janitor.connect(),
      now: () => this.now,
      monotonicNow: this.#monotonicNow,
      say: (line) => this.lines.push(line),
      ...(this.#writer && { writer: this.#writer(folder) }),
      ...parts,
    });
  }

  /** Resolves when the janitor knows of every change and has deleted what had to leave. */
  async settled(): Promise<void> {
    await this.tier.settled();
    await this.janitor.settled();
  }

  /** Resolves when the janitor has looked after the disk once more, as it does every few seconds. */
  nextLook(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let waits = 0;
    void this.janitor.keepRoom(async () => {
      if (waits++ === 0) return;
      resolve();
      await Promise.withResolvers<void>().promise;
    });
    return promise;
  }

  /** The body of an entry as text; `undefined` for a miss. Rejects if it is cut off. */
  async textOf(key: string): Promise<string | undefined> {
    return (await this.bytesOf(key))?.toString();
  }

  async bytesOf(key: string): Promise<Buffer | undefined> {
    const found = await this.tier.get(key);
    if (!found || isMarker(found)) return undefined;
    return found.body instanceof Uint8Array || found.body === null
      ? Buffer.from(found.body ?? [])
      : readWhole(found.body);
  }

  /** The paths of all files with entries and bodies. */
  paths(): string[] {
    return this.folder.folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  }

  /** What all files in the folder take, those that are being written too. */
  bytesOnDisk(): number {
    const drafts = readdirSync(this.folder.draftsFolder).map((name) => join(this.folder.draftsFolder, name));
    let bytes = 0;
    for (const path of [...this.paths(), ...drafts]) {
      try {
        bytes += roomOf(statSync(path).size);
      } catch {
        // It was deleted since it was listed.
      }
    }
    return bytes;
  }
}

export async function readWhole(body: StreamedBody): Promise<Buffer> {
  const reader = nodeBodies.read(body);
  const pieces: Uint8Array[] = [];
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** A body that comes in these pieces. */
export function bodyOf(pieces: Iterable<Uint8Array>, lengthBytes: number | null = null): StreamedBody {
  const pipe = nodeBodies.pipe(lengthBytes);
  void (async () => {
    for (const piece of pieces) await pipe.writable.write(piece);
    await pipe.writable.close();
  })().catch(() => undefined);
  return pipe.readable;
}

export function page(path: string, body: string | Uint8Array, change: Partial<StoredHead> = {}): StoredResponse {
  const bytes = new Uint8Array(Buffer.from(body as string));
  return {
    head: changedHead(
      storedHead({ key: `https://www.example.test${path}`, bodyBytes: bytes.byteLength, ...change }),
      {},
    ),
    body: bytes,
  };
}

/** Bytes that differ everywhere, the same for the same seed. */
export function noise(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}
