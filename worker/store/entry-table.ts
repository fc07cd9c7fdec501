/**
 * The entries of a map, by number, with the facts about all of them in one array. An entry is compared with hundreds of
 * others before it stays: as objects, they would be scattered in memory, and the processor would wait for each.
 */
export class EntryTable<Value, Queue> {
  readonly keys: (string | undefined)[] = [];
  readonly values: (Value | undefined)[] = [];
  readonly bytes: number[] = [];
  /** How often an entry was requested. It is halved whenever the counters of the sketch are. */
  readonly uses: number[] = [];
  /** For an established entry: whether it was requested since the hand last met it. */
  readonly isUsed: boolean[] = [];
  /** The queue in which an entry waits, and its neighbours there. */
  readonly queues: (Queue | undefined)[] = [];
  readonly before: number[] = [];
  readonly after: number[] = [];
  readonly #free: number[] = [];

  /** Adds an entry that is in no queue, and returns its number. */
  add(key: string | undefined, value: Value | undefined, bytes: number, uses: number): number {
    const entry = this.#free.pop() ?? this.keys.length;
    this.keys[entry] = key;
    this.values[entry] = value;
    this.bytes[entry] = bytes;
    this.uses[entry] = uses;
    this.before[entry] = entry;
    this.after[entry] = entry;
    return entry;
  }

  remove(entry: number): void {
    this.keys[entry] = undefined;
    this.values[entry] = undefined;
    this.#free.push(entry);
  }

  /**
   * The worth of an entry by how often it was requested, for its bytes. With a share in proportion to the uses, small
   * entries that are seldom requested would fill the cache; without the bytes, one large entry would take the room of a
   * hundred.
   */
  worthOf(entry: number): number {
    return worth(this.uses[entry]!, this.bytes[entry]!);
  }

  halveUses(): void {
    for (let entry = 0; entry < this.uses.length; entry++) this.uses[entry]! >>= 1;
  }
}

export function worth(uses: number, bytes: number): number {
  return (uses * uses) / bytes;
}
