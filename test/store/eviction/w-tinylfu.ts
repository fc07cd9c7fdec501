import type { Policy } from "./policy.ts";

interface Held {
  readonly bytes: number;
  segment: Segment;
}

type Segment = "window" | "probation" | "protected";

const FIRST_WINDOW_SHARE = 0.01;
const PROTECTED_SHARE = 0.8;
const MAX_COUNT = 15;
/** After this many requests for each page in the cache all counts are halved, and the window is adapted. */
const REQUESTS_A_PAGE = 10;
const FIRST_STEP = 0.0625;
const STEP_DECAY = 0.98;
/** The climb begins anew when the hit ratio changes by this much. */
const RESTART_AT = 0.05;

/**
 * W-TinyLFU (Einziger, Friedman and Manes, 2017) as Caffeine has it: a window of recent pages, whose last one competes
 * with the last one of a segmented LRU by how often both were requested, and a hill climber that adapts the size of the
 * window (Einziger, Eytan, Friedman and Manes, "Adaptive Software Cache Management", 2018). The counts here are exact,
 * which is in its favour.
 */
export class WTinyLfu implements Policy {
  readonly name = "W-TinyLFU";
  readonly #maxBytes: number;
  readonly #held = new Map<number, Held>();
  readonly #order = {
    window: new Map<number, Held>(),
    probation: new Map<number, Held>(),
    protected: new Map<number, Held>(),
  };
  readonly #bytes = { window: 0, probation: 0, protected: 0 };
  readonly #counts = new Map<number, number>();
  #counted = 0;
  #windowShare = FIRST_WINDOW_SHARE;
  #step = FIRST_STEP;
  #hits = 0;
  #requests = 0;
  #ratioBefore = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  request(page: number, bytes: number): boolean {
    this.#count(page);
    this.#requests++;
    const held = this.#held.get(page);
    if (held) {
      this.#hits++;
      this.#use(page, held);
    } else if (bytes <= this.#maxBytes) {
      const added: Held = { bytes, segment: "window" };
      this.#held.set(page, added);
      this.#put(page, added, "window");
    }
    this.#fit();
    if (this.#requests >= REQUESTS_A_PAGE * Math.max(100, this.#held.size)) this.#climb();
    return held !== undefined;
  }

  #use(page: number, held: Held): void {
    this.#take(page, held);
    this.#put(page, held, held.segment === "window" ? "window" : "protected");
    const protectedBytes = (1 - this.#windowShare) * PROTECTED_SHARE * this.#maxBytes;
    while (this.#bytes.protected > protectedBytes) {
      const [demoted, other] = first(this.#order.protected)!;
      this.#take(demoted, other);
      this.#put(demoted, other, "probation");
    }
  }

  #fit(): void {
    while (this.#bytes.window > this.#windowShare * this.#maxBytes) {
      const [candidate, held] = first(this.#order.window)!;
      this.#take(candidate, held);
      this.#put(candidate, held, "probation");
      this.#compete(candidate, held);
    }
    while (this.#total > this.#maxBytes) this.#drop(first(this.#order.probation) ?? first(this.#order.protected)!);
  }

  /** The candidate has left the window: either it or the pages that are the next to go have to leave the cache. */
  #compete(candidate: number, held: Held): void {
    while (this.#total > this.#maxBytes) {
      const victim = first(this.#order.probation)!;
      const next = victim[0] === candidate ? first(this.#order.protected) : victim;
      if (!next || (this.#counts.get(next[0]) ?? 0) >= (this.#counts.get(candidate) ?? 0)) {
        this.#drop([candidate, held]);
        return;
      }
      this.#drop(next);
    }
  }

  get #total(): number {
    return this.#bytes.window + this.#bytes.probation + this.#bytes.protected;
  }

  #take(page: number, held: Held): void {
    this.#order[held.segment].delete(page);
    this.#bytes[held.segment] -= held.bytes;
  }

  #put(page: number, held: Held, segment: Segment): void {
    held.segment = segment;
    this.#order[segment].set(page, held);
    this.#bytes[segment] += held.bytes;
  }

  #drop([page, held]: readonly [number, Held]): void {
    this.#take(page, held);
    this.#held.delete(page);
  }

  #count(page: number): void {
    this.#counts.set(page, Math.min(MAX_COUNT, (this.#counts.get(page) ?? 0) + 1));
    if (++this.#counted < REQUESTS_A_PAGE * Math.max(100, this.#held.size)) return;
    this.#counted = 0;
    for (const [other, times] of this.#counts) {
      if (times === 1) this.#counts.delete(other);
      else this.#counts.set(other, times >> 1);
    }
  }

  /** Goes on in the same direction while the hit ratio rises, and turns when it falls. */
  #climb(): void {
    const ratio = this.#hits / this.#requests;
    const change = ratio - this.#ratioBefore;
    const direction = change >= 0 ? this.#step : -this.#step;
    this.#step = Math.abs(change) >= RESTART_AT ? FIRST_STEP * Math.sign(direction) : STEP_DECAY * direction;
    this.#windowShare = Math.min(0.8, Math.max(0.01, this.#windowShare + direction));
    this.#ratioBefore = ratio;
    this.#hits = 0;
    this.#requests = 0;
  }
}

function first(order: ReadonlyMap<number, Held>): readonly [number, Held] | undefined {
  for (const entry of order) return entry;
  return undefined;
}
