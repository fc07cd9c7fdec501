import { FrequencySketch, MAX_COUNT } from "./frequency-sketch.ts";

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

/** A new entry has to be worth less by this factor than one that was requested only once. */
const ABOUT_AS_MUCH = 1.02;

/** After this many hits for each entry all counts are halved, so that old requests are forgotten. */
const HITS_PER_ENTRY = 6;
const MIN_HITS = 1024;
/**
 * A miss counts as this part of a hit: while most requests are for pages that never come back, the counts of the others
 * have to last longer.
 */
const MISS_IN_HITS = 1 / 16;

interface Entry<Value> {
  readonly key: string;
  readonly value: Value;
  bytes: number;
  queue: Queue<Value> | undefined;
  /** Its neighbours in the queue. */
  before: Entry<Value> | undefined;
  after: Entry<Value> | undefined;
  /** How often the entry was requested. It is halved whenever the counters of the sketch are. */
  uses: number;
  /** The halvings that `uses` includes. */
  halvings: number;
  /** Whether it was requested since the hand last met it. */
  isUsed: boolean;
}

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
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #new: Queue<Value>;
  readonly #returning: Queue<Value>;
  readonly #established: Queue<Value>;
  #hits = 0;

  /** `evicted` hears of each entry that had to leave, a new one too, but not of those that are deleted or replaced. */
  constructor(
    maxBytes: number,
    evicted: (key: string, value: Value) => void = () => undefined,
    frequency = new FrequencySketch(),
  ) {
    this.#maxBytes = maxBytes;
    this.#evicted = evicted;
    this.#frequency = frequency;
    this.#new = new Queue(maxBytes * NEW_SHARE);
    this.#returning = new Queue(maxBytes * RETURNING_SHARE);
    this.#established = new Queue(maxBytes);
  }

  get heldBytes(): number {
    return this.#new.bytes + this.#returning.bytes + this.#established.bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key. Counts a request. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Hits of the queues do not count: a crawler that requests everything twice must not age the counts of the others.
    if (entry.queue === this.#established) this.#hits++;
    entry.isUsed = true;
    if (entry.halvings !== this.#frequency.halvings) this.#age(entry);
    if (entry.uses < MAX_COUNT) entry.uses++;
    return entry.value;
  }

  /** The value of a key, without counting a request. */
  peek(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
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
    const held = this.#entries.get(key);
    this.delete(key);
    if (bytes > this.#maxBytes) return false;
    if (held) this.#age(held);
    const uses = held?.uses ?? (isAdmitted ? this.#frequency.estimate(key) : this.#count(key));
    const entry: Entry<Value> = {
      key,
      value,
      bytes,
      queue: undefined,
      before: undefined,
      after: undefined,
      uses,
      halvings: this.#frequency.halvings,
      isUsed: false,
    };
    this.#entries.set(key, entry);
    if (isAdmitted || held)
      this.#compete(entry); // It has waited before.
    else this.#new.add(entry);
    this.#shortenQueues();
    return this.#entries.has(key);
  }

  /** Changes the bytes of an entry, without a request. It may have to leave, or others for it. */
  resize(key: string, bytes: number): void {
    const entry = this.#entries.get(key);
    if (!entry?.queue) return;
    entry.queue.bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    this.#shortenQueues();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) this.#remove(entry);
  }

  /** Evicts entries until no more than `bytes` are held, whatever they are worth. */
  shrinkTo(bytes: number): void {
    while (this.heldBytes > bytes && this.size > 0) {
      const oldest = this.#new.first ?? this.#returning.first;
      this.#drop(this.#established.size > 0 ? this.#leastAtHand() : oldest!);
    }
  }

  #shortenQueues(): void {
    for (let entry = this.#new.takeOverflow(); entry; entry = this.#new.takeOverflow()) {
      if (entry.uses > 1) this.#returning.add(entry);
      else this.#compete(entry);
    }
    for (let entry = this.#returning.takeOverflow(); entry; entry = this.#returning.takeOverflow()) {
      this.#compete(entry);
    }
    // The established entries may have used the room of a queue that was shorter until now.
    this.shrinkTo(this.#maxBytes);
  }

  /** Establishes an entry, or drops it. It is in no queue. */
  #compete(candidate: Entry<Value>): void {
    this.#age(candidate);
    if (this.#makeRoom(candidate.bytes, candidate.uses)) {
      candidate.isUsed = false;
      this.#established.add(candidate);
    } else this.#drop(candidate);
  }

  /** Evicts entries that are worth less, until `bytes` fit. Returns false, without evicting any, if there are too few. */
  #makeRoom(bytes: number, uses: number): boolean {
    let missingBytes = this.heldBytes + bytes - this.#maxBytes;
    if (missingBytes <= 0) return true;
    // The request that brings the candidate is not counted: in a loop the others are still waiting for theirs.
    const worthOfNew = worth(Math.max(1, uses - 1), bytes);
    const losers = new Set<Entry<Value>>();
    let lost = 0;
    // The hand passes over an entry at most once, so two rounds are enough.
    for (let left = 2 * this.#established.size; left > 0; left--) {
      const entry = this.#established.next();
      if (losers.has(entry)) return false;
      if (entry.isUsed) {
        entry.isUsed = false;
        continue;
      }
      this.#age(entry);
      const itsWorth = worth(entry.uses, entry.bytes);
      // Of equals the established one stays, or a loop would replace them all; but one that was requested only once gives
      // way to a newer one that is worth about as much.
      const isWorthMore = entry.uses > 1 ? itsWorth >= worthOfNew : itsWorth > worthOfNew * ABOUT_AS_MUCH;
      if (isWorthMore) {
        if (++lost > MAX_LOST_COMPARISONS) return false;
        continue;
      }
      losers.add(entry);
      missingBytes -= entry.bytes;
      if (missingBytes > 0) continue;
      for (const loser of losers) this.#drop(loser);
      return true;
    }
    return false;
  }

  /** The entry that is worth least among the next ones that were not requested since the last round. */
  #leastAtHand(): Entry<Value> {
    let least = this.#established.next();
    for (let left = COMPARED; left > 0; left--) {
      const entry = this.#established.next();
      this.#age(entry);
      if (!entry.isUsed && (least.isUsed || worth(entry.uses, entry.bytes) < worth(least.uses, least.bytes))) {
        least = entry;
      }
    }
    return least;
  }

  #drop(entry: Entry<Value>): void {
    this.#remove(entry);
    this.#frequency.raise(entry.key, entry.uses);
    this.#evicted(entry.key, entry.value);
  }

  #remove(entry: Entry<Value>): void {
    this.#entries.delete(entry.key);
    entry.queue?.take(entry);
  }

  /** Counts a request for a key that is not held. */
  #count(key: string): number {
    this.#hits += MISS_IN_HITS;
    const limit = Math.max(MIN_HITS, this.size * HITS_PER_ENTRY);
    // With more counted misses than counters, collisions would raise all of them.
    if (this.#hits >= Math.min(limit, this.#frequency.slots * MISS_IN_HITS)) {
      this.#hits = 0;
      this.#frequency.halve();
    }
    return this.#frequency.count(key);
  }

  #age(entry: Entry<Value>): void {
    const { halvings } = this.#frequency;
    entry.uses >>= Math.min(31, halvings - entry.halvings);
    entry.halvings = halvings;
  }
}

/**
 * Entries in the order in which they came, and their bytes. They are linked, because an iterator of a `Set` that rests
 * would keep all in memory that leaves the set meanwhile.
 */
class Queue<Value> {
  readonly #maxBytes: number;
  first: Entry<Value> | undefined;
  #last: Entry<Value> | undefined;
  /** The entry that the hand has met last; `undefined` if it begins with the first. */
  #hand: Entry<Value> | undefined;
  size = 0;
  bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The entry that the hand meets next. There has to be one. After the last comes the first. */
  next(): Entry<Value> {
    this.#hand = this.#hand?.after ?? this.first!;
    return this.#hand;
  }

  add(entry: Entry<Value>): void {
    entry.queue = this;
    entry.before = this.#last;
    if (this.#last) this.#last.after = entry;
    else this.first = entry;
    this.#last = entry;
    this.size++;
    this.bytes += entry.bytes;
  }

  /** Takes an entry of this queue out. */
  take(entry: Entry<Value>): void {
    const { before, after } = entry;
    if (this.#hand === entry) this.#hand = before;
    if (before) before.after = after;
    else this.first = after;
    if (after) after.before = before;
    else this.#last = before;
    entry.queue = undefined;
    entry.before = undefined;
    entry.after = undefined;
    this.size--;
    this.bytes -= entry.bytes;
  }

  /** Takes the oldest entry, if all together are over the bound. */
  takeOverflow(): Entry<Value> | undefined {
    const oldest = this.first;
    if (oldest === undefined || this.bytes <= this.#maxBytes) return undefined;
    this.take(oldest);
    return oldest;
  }
}

/**
 * The worth of an entry by how often it was requested, for its bytes. With a share in proportion to the uses, small entries
 * that are seldom requested would fill the cache; without the bytes, one large entry would take the room of a hundred.
 */
function worth(uses: number, bytes: number): number {
  return (uses * uses) / bytes;
}
