import type { ControlledParts } from "../../worker/platform.ts";
import type { FetchKey } from "../../worker/rules/key/fetch-key.ts";

type Corridor = ControlledParts["corridor"];

/** What one isolate has taken from its limits and not given back. */
export class Holdings {
  readonly #isolate: string;
  readonly #corridor: Corridor;
  readonly #shares = new Set<object>();
  readonly #largeFills = new Set<object>();
  readonly #led = new Set<FetchKey>();

  constructor(isolate: string, corridor: Corridor) {
    this.#isolate = isolate;
    this.#corridor = corridor;
    this.#noteShares(corridor.fills);
    this.#noteLargeFills(corridor.largeFills);
    this.#noteFetches(corridor.collapsed);
  }

  /** In words; empty if it holds nothing. */
  get all(): string[] {
    const { originGate, fills, collapsed } = this.#corridor;
    const { running = 0, waiting = 0 } = originGate?.counts ?? {};
    const leading = [...this.#led].filter((key) => collapsed.find(key) !== undefined);
    const counted = {
      "shares of the fill budget": this.#shares.size,
      "bytes of fills": fills.heldBytes,
      "copies of large bodies": this.#largeFills.size,
      "turns at the origin": running,
      "places in the queue for the origin": waiting,
      "fetches that others may join": leading.length,
    };
    return Object.entries(counted).flatMap(([what, count]) =>
      count > 0 ? [`${this.#isolate} holds ${count} ${what}`] : [],
    );
  }

  #noteShares(fills: Corridor["fills"]): void {
    const open = fills.open.bind(fills);
    fills.open = (now) => {
      const share = open(now);
      this.#shares.add(share);
      const close = () => {
        this.#shares.delete(share);
        closeShare();
      };
      const closeShare = share.close;
      return Object.assign(share, { close });
    };
  }

  #noteLargeFills(largeFills: Corridor["largeFills"]): void {
    const begin = largeFills.begin.bind(largeFills);
    const end = largeFills.end.bind(largeFills);
    largeFills.begin = (key, now, isOutdated) => {
      const fill = begin(key, now, isOutdated);
      if (fill) this.#largeFills.add(fill);
      return fill;
    };
    largeFills.end = (fill) => {
      this.#largeFills.delete(fill);
      end(fill);
    };
  }

  #noteFetches(collapsed: Corridor["collapsed"]): void {
    const begin = collapsed.begin.bind(collapsed);
    collapsed.begin = (key, joins) => {
      this.#led.add(key);
      return begin(key, joins);
    };
  }
}
