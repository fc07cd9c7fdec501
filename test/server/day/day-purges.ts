import type { Page, Purged } from "../../simulation/history.ts";
import { popular } from "./day-load.ts";
import { KINDS, tagsOf } from "./day-pages.ts";
import type { DayRecord } from "./day-record.ts";
import { type DayVisitors, HOST } from "./day-visitors.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Of some purges the owner wants a second one, because pages may be late. */
const REPEAT_AFTER_MS = 1_800_000;

interface Wish {
  readonly body: Readonly<Record<string, unknown>>;
  readonly matches: (page: Page) => boolean;
}

/** Purges by chance: of a page, a tag, all below a path, or everything. */
export class DayPurges {
  /** Those of which the caller has a receipt, and of them those that had settled with it. */
  accepted = 0;
  settledAtOnce = 0;
  refused = 0;
  /** The token of the last one. */
  last: { readonly token: string; readonly purge: Purged } | undefined;
  readonly #time: VirtualTime;
  readonly #record: DayRecord;
  readonly #random: () => number;

  constructor(time: VirtualTime, record: DayRecord, random: () => number) {
    this.#time = time;
    this.#record = record;
    this.#random = random;
  }

  /** Never rejects. */
  purgeBy(caller: DayVisitors): Promise<void> {
    return this.#purge(caller, this.#wish(), this.#random() < 0.25 ? "soft" : "hard");
  }

  /** Purges one page. Never rejects. */
  purgePage(caller: DayVisitors, target: string): Promise<void> {
    return this.#purge(caller, pageOf(target), "hard");
  }

  async #purge(caller: DayVisitors, { body, matches }: Wish, mode: "soft" | "hard"): Promise<void> {
    const name = `purge ${this.#record.purges.length}`;
    const purge: Purged = {
      ...{ name, kind: "purge", mode, logId: "", seq: 0, matches },
      order: this.#record.nextOrder(),
      at: Number.POSITIVE_INFINITY, // nobody knows when its log got it
      settledAt: Number.POSITIVE_INFINITY,
    };
    this.#record.purged(purge);
    try {
      // The repetition of a soft purge lets a page be used for longer, of which the record would not know.
      const again = this.#random() < 0.05 && mode === "hard" && { repeatAfterMs: REPEAT_AFTER_MS };
      const answer = await caller.call("POST", "purge", { ...body, ...again, mode, id: name.replace(" ", "-") });
      if (answer.status !== 200) {
        this.refused++;
        return;
      }
      const { settlesInMs, token } = answer.body as { settlesInMs: number; token: string };
      purge.settledAt = this.#time.elapsed + settlesInMs;
      this.accepted++;
      if (settlesInMs === 0) {
        this.settledAtOnce++;
        this.#record.confirmed(purge);
      }
      this.last = { token, purge };
    } catch {
      this.refused++;
    }
  }

  #wish(): Wish {
    const chance = this.#random();
    if (chance < 0.01) return { body: { everything: true }, matches: () => true };
    const kind = ["home", "news", "article", "asset", "flaky"][Math.floor(this.#random() * 5)]!;
    const target = `/${kind}/${popular(KINDS[kind]!.pages, this.#random)}`;
    if (chance < 0.05) {
      return { body: { prefixes: [`/${kind}`] }, matches: (page) => page.target.startsWith(`/${kind}/`) };
    }
    if (chance < 0.5) return pageOf(target);
    const tag = chance < 0.53 ? kind : tagsOf(target)[1]!;
    return { body: { tags: [tag] }, matches: ({ tags }) => tags.includes(tag) };
  }
}

function pageOf(target: string): Wish {
  return { body: { urls: [`http://${HOST}${target}`] }, matches: (page) => page.target === target };
}
