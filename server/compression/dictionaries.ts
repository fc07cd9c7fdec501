import type { BackgroundWork } from "../../worker/ports/background-work.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import type { PurgeState } from "../../worker/ports/purge-state.ts";
import type { BodyHash } from "../../worker/rules/deltas/available-dictionary.ts";
import type { PurgeableHead, Stamp } from "../../worker/rules/storing/stored-response.ts";
import type { DictionaryFiles } from "./coded-files.ts";
import type { DictionaryMemory, HeldVersion } from "./dictionary-memory.ts";

/** Bytes that everybody may see. Other versions of the same family may be compressed by them. */
export interface Dictionary {
  readonly hash: BodyHash;
  /** The family: versions that may be compressed by each other. */
  readonly family: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How long it stays a dictionary after it was last sent, in milliseconds. */
  readonly keepMs: number;
  /** The head by which purges find it: only a purge of everything covers it. */
  readonly head: PurgeableHead;
  /** When it was last sent, so that a visitor may hold it: epoch milliseconds. */
  readonly sentAt: number;
}

/** The parts of a request that dictionaries need. */
export interface DictionaryRequest {
  readonly ports: { readonly clock: Clock; readonly purges: Pick<PurgeState, "check"> };
  readonly background: BackgroundWork;
}

/** The most versions that are read from disk at a time. */
const MAX_READS = 4;

/** Only a purge of everything covers a response without a URL. */
const OF_NO_URL = { key: "", givenPurgeKeys: [] } as const;

interface Kept extends Dictionary, HeldVersion {
  readonly bytes: Uint8Array<ArrayBuffer>;
  head: PurgeableHead;
  keepMs: number;
  sentAt: number;
  /** `sentAt` as the disk has it. */
  writtenAt: number;
  isHeld: boolean;
}

/**
 * The versions of a site's pages and files that visitors may still hold, in memory and on disk. Memory has bounds
 * for all sites together. On disk, the bound of all files holds. A version that is no longer sent, because it was purged
 * or replaced, is a dictionary for `keepMs` more. A hard purge of everything ends all of them; so does a log that cannot
 * tell whether there was one.
 */
export class Dictionaries {
  readonly #files: DictionaryFiles | null;
  readonly #memory: DictionaryMemory;
  readonly #digest: (body: Uint8Array<ArrayBuffer>) => Promise<BodyHash>;
  readonly #held = new Map<string, Kept>();
  readonly #reading = new Map<string, Promise<Kept | undefined>>();
  #bytes = 0;

  constructor(
    files: DictionaryFiles | null,
    memory: DictionaryMemory,
    digest: (body: Uint8Array<ArrayBuffer>) => Promise<BodyHash>,
  ) {
    this.#files = files;
    this.#memory = memory;
    this.#digest = digest;
  }

  get heldBytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#held.size;
  }

  /**
   * A dictionary that may be used now. A dictionary that is only on disk is read after the answer, for later requests.
   * An unknown hash costs two look-ups and no memory.
   */
  find(request: DictionaryRequest, family: string, hash: BodyHash): Dictionary | undefined {
    const held = this.#held.get(nameOf(family, hash));
    if (held) return this.#mayBeUsed(request, held) ? held : undefined;
    this.#read(request, family, hash);
    return undefined;
  }

  /** The same without effects. */
  peek(request: DictionaryRequest, family: string, hash: BodyHash): Dictionary | undefined {
    const held = this.#held.get(nameOf(family, hash));
    return held && isCurrent(request, held) && isInForce(request, held) ? held : undefined;
  }

  /** Whether bytes that are being sent were admitted before, here or by another process. */
  async recognize(request: DictionaryRequest, family: string, hash: BodyHash): Promise<Dictionary | null> {
    const known = this.#held.get(nameOf(family, hash)) ?? (await this.#read(request, family, hash));
    return known && isInForce(request, known) ? known : null;
  }

  /** Admits a copy of bytes, or admits them anew with a later stamp. `null` if there is no room. */
  admit(
    request: DictionaryRequest,
    { stamp, ...made }: Pick<Dictionary, "hash" | "family" | "bytes" | "keepMs"> & { readonly stamp: Stamp },
  ): Dictionary | null {
    const sentAt = request.ports.clock.now();
    const known = this.#held.get(nameOf(made.family, made.hash));
    if (known) {
      const isNews = known.head.stamp?.seq !== stamp.seq || known.head.stamp.logId !== stamp.logId;
      if (isNews) known.head = { ...OF_NO_URL, stamp };
      known.sentAt = sentAt;
      known.keepMs = made.keepMs;
      if (isNews) request.background.run(this.#write(known));
      return known;
    }
    const head = { ...OF_NO_URL, stamp };
    // A copy: the page's own bytes would keep the page's coded forms in memory.
    const bytes = new Uint8Array(made.bytes);
    const kept: Kept = { ...made, bytes, head, sentAt, inLineSince: sentAt, writtenAt: sentAt, isHeld: false };
    if (!this.#hold(kept)) return null;
    request.background.run(this.#write(kept));
    return kept;
  }

  /** Whether it is still in memory. */
  holds(dictionary: Dictionary): boolean {
    return (dictionary as Kept).isHeld;
  }

  /** Notes that a version is sent. Returns false if it is no longer held. */
  sent(request: DictionaryRequest, dictionary: Dictionary): boolean {
    const kept = dictionary as Kept;
    if (!this.holds(kept)) return false;
    kept.sentAt = request.ports.clock.now();
    // While a version is sent all the time, its file is updated four times per lifetime.
    if (this.#files && kept.sentAt - kept.writtenAt > kept.keepMs / 4) request.background.run(this.#write(kept));
    return true;
  }

  #mayBeUsed(request: DictionaryRequest, kept: Kept): boolean {
    if (!isInForce(request, kept)) {
      for (const each of [...this.#held.values()]) if (hasEnded(request, each)) this.#leave(each);
      return false;
    }
    return isCurrent(request, kept);
  }

  /** Reads it behind the answer, once. `undefined` at once if the disk has none, or if too many are being read. */
  #read(request: DictionaryRequest, family: string, hash: BodyHash): Promise<Kept | undefined> | undefined {
    const name = nameOf(family, hash);
    const underWay = this.#reading.get(name);
    if (underWay) return underWay;
    if (!this.#files || this.#reading.size >= MAX_READS || this.#files.hasDictionary(name) === false) return undefined;
    const reading = this.#readFile(request, this.#files, family, hash).finally(() => this.#reading.delete(name));
    this.#reading.set(name, reading);
    request.background.run(reading);
    return reading;
  }

  /** Deletes a file that can never be used again, so that it is not read for each request. */
  async #readFile(
    request: DictionaryRequest,
    files: DictionaryFiles,
    family: string,
    hash: BodyHash,
  ): Promise<Kept | undefined> {
    const name = nameOf(family, hash);
    const file = await files.readDictionary(name);
    if (!file) return undefined;
    const known = readAbout(file.about);
    const isUsable = known && !hasEnded(request, known) && (await this.#digest(file.bytes)) === hash;
    const held = this.#held.get(name); // It may have been admitted meanwhile.
    if (held) return held;
    if (!isUsable) {
      await files.dropDictionary(name);
      return undefined;
    }
    const { head, sentAt, keepMs } = known;
    const times = { sentAt, inLineSince: sentAt, writtenAt: sentAt };
    const kept: Kept = { hash, family, bytes: file.bytes, keepMs, head, ...times, isHeld: false };
    return this.#hold(kept) ? kept : undefined;
  }

  async #write(kept: Kept): Promise<void> {
    kept.writtenAt = kept.sentAt;
    const { family, hash, bytes, head, sentAt, keepMs } = kept;
    const about = JSON.stringify({ stamp: head.stamp!, sentAt, keepMs } satisfies About);
    await this.#files?.writeDictionary(nameOf(family, hash), { about, bytes });
  }

  /** Returns false if it is too large. */
  #hold(kept: Kept): boolean {
    const { byteLength } = kept.bytes;
    if (byteLength > this.#memory.maxBytes) return false;
    this.#held.set(nameOf(kept.family, kept.hash), kept);
    this.#bytes += byteLength;
    kept.isHeld = true;
    this.#memory.add(kept, () => this.#leave(kept));
    return true;
  }

  #leave(kept: Kept): void {
    this.#held.delete(nameOf(kept.family, kept.hash));
    this.#bytes -= kept.bytes.byteLength;
    this.#memory.remove(kept);
    kept.isHeld = false;
  }
}

/** What the file of a dictionary holds besides its bytes and its name. */
interface About {
  readonly stamp: Stamp;
  readonly sentAt: number;
  readonly keepMs: number;
}

function readAbout(text: string): Pick<Dictionary, "head" | "sentAt" | "keepMs"> | undefined {
  try {
    const { stamp, sentAt, keepMs } = JSON.parse(text);
    const isWhole = typeof stamp?.logId === "string" && [stamp.seq, sentAt, keepMs].every(Number.isFinite);
    if (!isWhole) return undefined;
    return { head: { ...OF_NO_URL, stamp: { logId: stamp.logId, seq: stamp.seq } }, sentAt, keepMs };
  } catch {
    return undefined; // It is of another version.
  }
}

function nameOf(family: string, hash: BodyHash): string {
  return `${family} ${hash}`;
}

function isCurrent({ ports }: DictionaryRequest, { sentAt, keepMs }: Dictionary): boolean {
  return ports.clock.now() - sentAt <= keepMs;
}

/** After a soft purge pages stay in use, and so do dictionaries. */
function isInForce({ ports }: DictionaryRequest, { head }: Pick<Dictionary, "head">): boolean {
  const answer = ports.purges.check(head, true);
  return answer === "not-purged" || answer === "soft";
}

/** For good: before the log has been read, a version is not in force, and nothing is known of it. */
function hasEnded(request: DictionaryRequest, known: Pick<Dictionary, "head">): boolean {
  return !isInForce(request, known) && request.ports.purges.check(known.head) !== "unknown";
}
