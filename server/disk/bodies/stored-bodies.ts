import type { Turns } from "../../../package/turns.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import type { BytePart } from "../../../worker/rules/ranges/range.ts";
import { type NodeBody, nodeBody } from "../../bodies/node-body.ts";
import { messageOf } from "../../message-of.ts";
import { roomOf } from "../disk-blocks.ts";
import { writeAll } from "../disk-files.ts";
import {
  BLOCK_BYTES,
  BlockSums,
  fileBytes,
  frameOf,
  isBlockIntact,
  PREFIX_BYTES,
  type Prefix,
} from "../file-format.ts";
import type { FileStore, FileStoreParts } from "../file-store.ts";
import { FileBody } from "./file-body.ts";
import { GrowingBody } from "./growing-body.ts";
import { type OpenPages, PageFile } from "./open-pages.ts";

/** A body up to this size is soon in the buffers of its socket, so the janitor need not know who reads it. */
const SOON_READ_BYTES = 1024 * 1024;
/**
 * A rest that begins further behind what is written is left to the origin: who jumps to the end of a film would wait for all
 * of it.
 */
const SOON_WRITTEN_BYTES = 4 * 1024 * 1024;
/** A body of which nothing has come for so long is left to the origin: this fetch may have stalled. Milliseconds. */
const STALLED_MS = 5_000;
/** A body of unknown length reserves room in pieces of this size. */
const BODY_ROOM_BYTES = 8 * 1024 * 1024;
const CANNOT_WRITE = "the disk tier cannot write now";

export interface StoredBodiesParts
  extends Pick<FileStoreParts, "folder" | "files" | "room" | "health" | "monotonicNow"> {
  readonly store: FileStore;
  /** The order in which bodies are read: each reads one block, and then waits behind the others. */
  readonly turns: Turns;
  readonly pages: OpenPages;
}

/** The bodies that are stored apart from their entries, also while they come. */
export class StoredBodies {
  readonly #parts: StoredBodiesParts;
  readonly #store: FileStore;
  /** The bodies of announced length that are being written, by the names of their files. */
  readonly #growing = new Map<string, GrowingBody>();

  constructor(parts: StoredBodiesParts) {
    this.#parts = parts;
    this.#store = parts.store;
  }

  async getBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    const name = this.#parts.folder.nameOf(bodyKey, "body");
    try {
      const growing = this.#growing.get(name);
      const coming = growing && (await this.#comingBody(name, growing, part));
      if (coming) return coming;
      const file = await this.#store.open(name, "body");
      let isStreamed = false;
      try {
        if (file.isTorn) return await this.#store.drop(name);
        if (file.head !== bodyKey || (part !== null && part.last >= file.prefix.bodyBytes)) return undefined;
        const table = await file.readTable();
        if (!table) return await this.#store.drop(name);
        this.#store.hit(name);
        isStreamed = true;
        return this.bodyOf(name, file, part, table);
      } finally {
        if (!isStreamed) file.close();
      }
    } catch (cause) {
      return this.#store.missUnlessBug(cause);
    }
  }

  /** A body that this process was still writing; `undefined` if it is not, or if what is asked for may come much later. */
  async #comingBody(name: string, growing: GrowingBody, part: BytePart | null): Promise<StreamedBody | undefined> {
    const isWhole = growing.writtenBytes === growing.bodyBytes;
    if (!isWhole && this.#parts.monotonicNow() - growing.cameAt > STALLED_MS) return undefined;
    if (!(await growing.hasBegun())) return undefined;
    const { headBytes, bodyBytes, writtenBytes } = growing;
    // Who downloads in parts gets all of them from the origin, which may have another version by now.
    const isRest = part === null || (part.last === bodyBytes - 1 && !part.hasGaps);
    if (!isRest || (part && part.first - writtenBytes > SOON_WRITTEN_BYTES)) return undefined;
    try {
      const fd = await this.#parts.files.open(growing.path!, "r");
      return this.bodyOf(name, { fd, prefix: { headBytes, bodyBytes } }, part, growing);
    } catch (cause) {
      return this.#store.missUnlessBug(cause); // It has got its name meanwhile.
    }
  }

  /** The body of an open file, or a part of it. `known`: its checksums, or itself if it is still being written. */
  bodyOf(
    name: string,
    { fd, prefix }: { readonly fd: number; readonly prefix: Pick<Prefix, "headBytes" | "bodyBytes"> },
    part: BytePart | null,
    known: Buffer | GrowingBody,
  ): FileBody {
    const growing = known instanceof GrowingBody ? known : null;
    const isIntact = (bytes: Uint8Array, at: number) =>
      known instanceof GrowingBody ? known.isIntact(bytes, at) : isBlockIntact(bytes, at / BLOCK_BYTES, known);
    const path = () => growing?.path ?? this.#parts.folder.pathOf(name);
    const page = new PageFile(this.#parts.files, path, fd, this.#parts.pages);
    const mayStayOpen = prefix.bodyBytes > SOON_READ_BYTES;
    let isNoted = false;
    const note = () => {
      this.#parts.room.opened(name, fileBytes(prefix));
      isNoted = true;
    };
    // The room of one that is being written is known already.
    if (mayStayOpen && growing?.hasEnded === false) growing.onEnded.add(note);
    else if (mayStayOpen) note();
    const close = () => {
      page.close();
      growing?.onEnded.delete(note);
      if (isNoted) this.#parts.room.closed(name);
    };
    const { headBytes, bodyBytes } = prefix;
    const file = { page, bodyAt: PREFIX_BYTES + headBytes, bodyBytes, growing, isIntact, close };
    return new FileBody(this.#parts.turns, file, part, () => {
      void this.#store.dropInTurn(name).catch(() => undefined); // The next look-up is a miss, too.
    });
  }

  /** Writes a body while it comes. Its prefix is written last, when its length and its checksums are known. */
  async putBody(bodyKey: string, body: StreamedBody): Promise<void> {
    const name = this.#parts.folder.nameOf(bodyKey, "body");
    if (!this.#parts.health.mayWrite()) {
      await body.cancel();
      throw new Error(CANNOT_WRITE);
    }
    const source = nodeBody(body);
    const { lengthBytes } = source;
    const sums = new BlockSums();
    const growing = new GrowingBody(Buffer.byteLength(bodyKey), lengthBytes ?? 0, sums, this.#parts.monotonicNow());
    if (lengthBytes !== null) this.#growing.set(name, growing);
    try {
      await this.#writeGrowing(name, bodyKey, source, growing, sums);
    } catch (cause) {
      growing.fail(cause);
      throw cause;
    } finally {
      this.#growing.delete(name);
    }
  }

  async #writeGrowing(
    name: string,
    bodyKey: string,
    source: NodeBody,
    growing: GrowingBody,
    sums: BlockSums,
  ): Promise<void> {
    const { headBytes } = growing;
    let takenBytes = 0;
    /** What the janitor knows to be written. */
    let draftBytes = 0;
    const reader = source.read();
    // A connection can fail with the same codes as a disk, so its error is wrapped.
    const next = () =>
      reader.next().catch((cause: unknown) => {
        throw new Error(`the body was cut off: ${messageOf(cause)}`, { cause });
      });
    const take = async (bytes: number) => {
      const room = roomOf(bytes); // in the unit of the grants, so that the pieces add up
      if (!(await this.#parts.room.take(room))) throw new Error("the disk has no room for this body");
      takenBytes += room;
    };
    try {
      if (source.lengthBytes !== null) await take(fileBytes({ headBytes, bodyBytes: source.lengthBytes }));
      const isWritten = await this.#store.writeFile(name, async (fd, draft) => {
        growing.begin(draft);
        let at = PREFIX_BYTES + headBytes;
        for (let piece = await next(); piece !== null; piece = await next()) {
          growing.cameAt = this.#parts.monotonicNow();
          sums.add(piece);
          const needed = fileBytes({ headBytes, bodyBytes: sums.bodyBytes });
          if (needed > takenBytes) await take(Math.max(needed - takenBytes, BODY_ROOM_BYTES));
          await writeAll(this.#parts.files, fd, piece, at);
          at += piece.byteLength;
          growing.grewBy(piece.byteLength);
          if (at - draftBytes < BLOCK_BYTES) continue;
          this.#parts.room.draft(at - draftBytes);
          draftBytes = at;
        }
        const { start, table } = frameOf("body", bodyKey, sums);
        await writeAll(this.#parts.files, fd, table, at);
        await writeAll(this.#parts.files, fd, start, 0);
      });
      if (!isWritten) throw new Error(CANNOT_WRITE);
      const bytes = fileBytes({ headBytes, bodyBytes: sums.bodyBytes });
      this.#parts.room.draft(-draftBytes);
      this.#parts.room.used(name, bytes, takenBytes);
      growing.end(this.#parts.folder.pathOf(name));
    } catch (cause) {
      this.#parts.room.draft(-draftBytes);
      if (takenBytes > 0) this.#parts.room.unused(takenBytes);
      await reader.cancel().catch(() => undefined);
      throw cause;
    }
  }
}
