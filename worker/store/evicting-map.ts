import { FrequencySketch, MAX_COUNT } from "../rules/hashing/frequency-sketch.ts";
import { EntryTable, worth } from "./entry-table.ts";

/** The shares of the bytes that belong to new entries, and to those of them that were requested again. */
const NEW_SHARE = 0.16;
const RETURNING_SHARE = 0.07;

/**
 * A candidate may lose to this many entries before it has to leave. With fewer, entries that are worth less than it are
 * often not found; each comparison costs a miss a few nanoseconds.
 */
const MAX_LOST_COMPARISONS = 512;

/** If an entry has to leave and there is no candidate, it is the one of this many that is worth least. */
const COMPARED = 128;

/** An entry that was requested only once gives way to a new one unless it is worth more by this factor. */
const ABOUT_AS_MUCH = 1.02;

/** After this many hits for each entry all counts are halved, so that old requests are forgotten. */
const HITS_PER_ENTRY = 6;
const MIN_HITS = 1024;
/**
 * A miss counts as this part of a hit: while most requests are for pages that never come back, the counts of the others
 * have to last longer.
 */
const MISS_IN_HITS = 1 / 16;

/**
 * A map bounded in bytes, which a scan cannot spoil, for the memory tier and for the index of a disk
 * (docs/decisions/0020-which-entries-leave.md).
 *
 * New entries wait in a queue. Those that are requested there, or were before, wait in a second one, so that a page that
 * has just become popular has time to be requested again. An entry that leaves a queue competes for its bytes with the
 * established ones (TinyLFU): a clock hand passes over those that were requested since its last round, and evicts those
 * that are worth less than the candidate. If the hand meets too many that are worth as much, the candidate has to leave.
 * A hit does no more than raise a counter.
 */
export class EvictingMap<Value> {
  readonly #maxBytes: number;
  readonly #evicted: (key: string, value: Value) => void;
  readonly #frequency: FrequencySketch;
  /** The number of each key's entry. */
  readonly #numbers = new Map<string, number>();
  readonly #entries = new EntryTable<Value, Queue>();
  readonly #new: Queue;
  readonly #returning: Queue;
  readonly #established: Queue;
  #hits = 0;

  /** `evicted` is called for each entry that had to leave, even a new one, but not for deleted or replaced ones. */
  constructor(
    maxBytes: number,
    evicted: (key: string, value: Value) => void = () => undefined,
    frequency = new FrequencySketch(),
  ) {
    this.#maxBytes = maxBytes;
    this.#evicted = evicted;
    this.#frequency = frequency;
    this.#new = new Queue(this.#entries, maxBytes * NEW_SHARE);
    this.#returning = new Queue(this.#entries, maxBytes * RETURNING_SHARE);
    this.#established = new Queue(this.#entries, maxBytes);
  }

  get heldBytes(): number {
    return this.#new.bytes + this.#returning.bytes + this.#established.bytes;
  }

  get size(): number {
    return this.#numbers.size;
  }

  /** The value of a key. Counts a request. */
  get(key: string): Value | undefined {
    const entry = this.#numbers.get(key);
    if (entry === undefined) return undefined;
    const { values, queues, uses, isUsed } = this.#entries;
    // Hits of the queues do not count: a crawler that requests everything twice must not age the counts of the others.
    if (queues[entry] === this.#established) this.#hits++;
    isUsed[entry] = true;
    if (uses[entry]! < MAX_COUNT) uses[entry]!++;
    return values[entry];
  }

  /** The value of a key, without counting a request. */
  peek(key: string): Value | undefined {
    const entry = this.#numbers.get(key);
    return entry === undefined ? undefined : this.#entries.values[entry];
  }

  keys(): Iterable<string> {
    return this.#numbers.keys();
  }

  /**
   * Counts a request for a key that is not held, and tells whether it would be kept. If so, others have been evicted to
   * make room for it.
   */
  admits(key: string, bytes: number): boolean {
    return this.#makeRoom(bytes, this.#count(key));
  }

  /**
   * Adds an entry, or replaces one, whose count it takes over. Returns whether it is held. `isAdmitted`: `admits` has
   * counted the request.
   */
  set(key: string, value: Value, bytes: number, isAdmitted = false): boolean {
    const held = this.#numbers.get(key);
    const usesBefore = held && this.#entries.uses[held];
    if (held !== undefined) this.#remove(held);
    if (bytes > this.#maxBytes) return false;
    const uses = usesBefore ?? (isAdmitted ? this.#frequency.estimate(key) : this.#count(key));
    const entry = this.#entries.add(key, value, bytes, uses);
    this.#numbers.set(key, entry);
    if (isAdmitted || held !== undefined)
      this.#compete(entry); // It has waited before.
    else this.#new.add(entry);
    this.#shortenQueues();
    return this.#entries.keys[entry] === key;
  }

  /**
   * Takes back an entry that was evicted and could not leave. There may be too many bytes until the next `set`, so that
   * entries that can never leave do not evict each other without end.
   */
  restore(key: string, value: Value, bytes: number): void {
    const entry = this.#entries.add(key, value, bytes, this.#frequency.estimate(key));
    this.#numbers.set(key, entry);
    this.#established.add(entry);
  }

  /** Changes the bytes of an entry, without counting a request. It may have to leave, or others may. */
  resize(key: string, bytes: number): void {
    const entry = this.#numbers.get(key);
    if (entry === undefined) return;
    const { queues, bytes: held } = this.#entries;
    queues[entry]!.bytes += bytes - held[entry]!;
    held[entry] = bytes;
    this.#shortenQueues();
  }

  delete(key: string): void {
    const entry = this.#numbers.get(key);
    if (entry !== undefined) this.#remove(entry);
  }

  /**
   * Evicts entries, whatever they are worth, for a new one for which the queue of new ones is too small: it would have
   * to compete before it can be requested again.
   */
  makeWayFor(bytes: number): void {
    if (bytes > this.#maxBytes * NEW_SHARE) this.shrinkTo(this.#maxBytes - bytes);
  }

  /** Evicts entries until no more than `bytes` are held, whatever they are worth. */
  shrinkTo(bytes: number): void {
    while (this.heldBytes > bytes && this.size > 0) {
      const oldest = this.#new.size > 0 ? this.#new : this.#returning;
      this.#drop(this.#established.size > 0 ? this.#leastAtHand() : oldest.first);
    }
  }

  #shortenQueues(): void {
    while (this.#new.isOver) {
      const entry = this.#new.take(this.#new.first);
      if (this.#entries.uses[entry]! > 1) this.#returning.add(entry);
      else this.#compete(entry);
    }
    while (this.#returning.isOver) this.#compete(this.#returning.take(this.#returning.first));
    // The established entries may have used the room of a queue that was shorter until now.
    this.shrinkTo(this.#maxBytes);
  }

  /** Establishes an entry, or drops it. It is in no queue. */
  #compete(candidate: number): void {
    const { bytes, uses, isUsed } = this.#entries;
    if (this.#makeRoom(bytes[candidate]!, uses[candidate]!)) {
      isUsed[candidate] = false;
      this.#established.add(candidate);
    } else this.#drop(candidate);
  }

  /** Evicts entries that are worth less, until `bytes` fit. Returns false, without evicting any, if there are too few. */
  #makeRoom(neededBytes: number, usesOfNew: number): boolean {
    let missingBytes = this.heldBytes + neededBytes - this.#maxBytes;
    if (missingBytes <= 0) return true;
    const entries = this.#entries;
    // The request that brings the candidate is not counted: in a loop the others are still waiting for theirs.
    const worthOfNew = worth(Math.max(1, usesOfNew - 1), neededBytes);
    const losers: number[] = [];
    let lost = 0;
    // The hand passes over an entry at most once, so two rounds are enough.
    for (let left = 2 * this.#established.size; left > 0; left--) {
      const entry = this.#established.next();
      if (entry === losers[0]) return false; // A round is over.
      if (entries.isUsed[entry]) {
        entries.isUsed[entry] = false;
        continue;
      }
      const itsWorth = entries.worthOf(entry);
      // Between equals the established one stays, because a loop would otherwise replace them all; but one that was
      // requested only once gives way to a newer one that is worth about as much.
      const isWorthMore = entries.uses[entry]! > 1 ? itsWorth >= worthOfNew : itsWorth > worthOfNew * ABOUT_AS_MUCH;
      if (isWorthMore) {
        if (++lost > MAX_LOST_COMPARISONS) return false;
        continue;
      }
      losers.push(entry);
      missingBytes -= entries.bytes[entry]!;
      if (missingBytes > 0) continue;
      for (const loser of losers) this.#drop(loser);
      return true;
    }
    return false;
  }

  /** The entry that is worth least among the next ones that were not requested since the last round. */
  #leastAtHand(): number {
    const entries = this.#entries;
    let least = this.#established.next();
    for (let left = COMPARED; left > 0; left--) {
      const entry = this.#established.next();
      if (entries.isUsed[entry]) continue;
      if (entries.isUsed[least] || entries.worthOf(entry) < entries.worthOf(least)) least = entry;
    }
    return least;
  }

  #drop(entry: number): void {
    const key = this.#entries.keys[entry]!;
    const value = this.#entries.values[entry]!;
    this.#frequency.raise(key, this.#entries.uses[entry]!);
    this.#remove(entry);
    this.#evicted(key, value);
  }

  #remove(entry: number): void {
    this.#numbers.delete(this.#entries.keys[entry]!);
    this.#entries.queues[entry]?.take(entry);
    this.#entries.remove(entry);
  }

  /** Counts a request for a key that is not held. */
  #count(key: string): number {
    this.#hits += MISS_IN_HITS;
    const limit = Math.max(MIN_HITS, this.size * HITS_PER_ENTRY);
    // With more counted misses than counters, collisions would raise all of them.
    if (this.#hits >= Math.min(limit, this.#frequency.slots * MISS_IN_HITS)) {
      this.#hits = 0;
      this.#frequency.halve();
      this.#entries.halveUses();
    }
    return this.#frequency.count(key);
  }
}

/**
 * Entries in the order in which they came, and their bytes. It is a linked list, because a resting iterator of a `Set`
 * keeps everything in memory that leaves the set meanwhile.
 */
class Queue {
  readonly #entries: EntryTable<unknown, Queue>;
  readonly #maxBytes: number;
  /** An entry of no key, between the last and the first one. */
  readonly #end: number;
  /** The entry that the hand has met last. */
  #hand: number;
  size = 0;
  bytes = 0;

  constructor(entries: EntryTable<unknown, Queue>, maxBytes: number) {
    this.#entries = entries;
    this.#maxBytes = maxBytes;
    this.#end = entries.add(undefined, undefined, 0, 0);
    this.#hand = this.#end;
  }

  get first(): number {
    return this.#entries.after[this.#end]!;
  }

  get isOver(): boolean {
    return this.bytes > this.#maxBytes;
  }

  /** The entry that the hand reaches next; after the last, the first. The list must not be empty. */
  next(): number {
    const { after } = this.#entries;
    const next = after[this.#hand]!;
    this.#hand = next === this.#end ? after[next]! : next;
    return this.#hand;
  }

  add(entry: number): void {
    const { queues, before, after, bytes } = this.#entries;
    const last = before[this.#end]!;
    queues[entry] = this;
    before[entry] = last;
    after[entry] = this.#end;
    after[last] = entry;
    before[this.#end] = entry;
    this.size++;
    this.bytes += bytes[entry]!;
  }

  /** Takes an entry of this queue out. */
  take(entry: number): number {
    const { queues, before, after, bytes } = this.#entries;
    if (this.#hand === entry) this.#hand = before[entry]!;
    after[before[entry]!] = after[entry]!;
    before[after[entry]!] = before[entry]!;
    queues[entry] = undefined;
    this.size--;
    this.bytes -= bytes[entry]!;
    return entry;
  }
}
