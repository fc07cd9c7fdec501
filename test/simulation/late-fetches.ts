import type {
  BeingStored,
  EndedElsewhere,
  Failing,
  FetchesElsewhere,
  FetchTurn,
  SharedFetchOutcome,
} from "../../worker/ports/fetches-elsewhere.ts";
import { type FetchKey, fetchKeyText } from "../../worker/rules/key/fetch-key.ts";
import { within } from "../../worker/within.ts";
import type { Fate } from "./fate.ts";
import type { Reader } from "./log/late-log.ts";

/** As of a server's workers, in milliseconds. */
const MAX_FETCH_MS = 10_000;
const OUTDATED_MS = 60_000;
const USELESS_MS = 5_000;
const LINGERS_MS = 50;

const LOOK_AGAIN: EndedElsewhere = { kind: "look-again" };
const FAILED: EndedElsewhere = { kind: "failed", byOrigin: false };

/** The turn of one isolate to fetch for a key. */
interface Turn {
  readonly owner: Reader;
  readonly ended: PromiseWithResolvers<EndedElsewhere>;
  waiting: number;
  isStored: boolean;
}

/** The isolates of one PoP know each other's fetches, with faults: news come late, or never, and places for locks fail. */
export class LateFetches {
  readonly #fate: Fate;
  readonly #turns = new Map<string, Turn>();

  constructor(fate: Fate) {
    this.#fate = fate;
  }

  /** The fetches as one isolate sees them. */
  seenBy(reader: Reader): FetchesElsewhere {
    const fate = this.#fate;
    /** Until when it waits for nobody: by key, and by page. */
    const useless = new Map<string, number>();
    const outdated = new Map<string, number>();
    const isAlone = (notes: Map<string, number>, key: string) => (notes.get(key) ?? 0) > fate.now();
    return {
      take: (key) => {
        const text = fetchKeyText(key);
        if (isAlone(outdated, key.page) || isAlone(useless, text) || fate.chance(0.05)) return undefined;
        const turn = this.#turns.get(text);
        if (!turn) return this.#begin(text, reader);
        if (turn.owner !== reader) return this.#follow(key, turn, () => useless.set(text, fate.now() + USELESS_MS));
        if (!turn.isStored) return undefined;
        this.#end(text, turn, LOOK_AGAIN);
        return this.#begin(text, reader);
      },
      avoid: (page) => void outdated.set(page, fate.now() + OUTDATED_MS),
    };
  }

  /** The isolate's process has died: nobody waits for its fetches any longer. */
  noteDeath(reader: Reader): void {
    for (const [text, turn] of this.#turns) if (turn.owner === reader) this.#end(text, turn, FAILED);
  }

  #begin(text: string, owner: Reader): FetchTurn {
    const turn: Turn = { owner, ended: Promise.withResolvers(), waiting: 0, isStored: false };
    this.#turns.set(text, turn);
    return { tell: (news) => this.#hear(text, turn, news) };
  }

  #hear(text: string, turn: Turn, news: SharedFetchOutcome | BeingStored | Failing): void {
    if (turn.isStored || news.kind === "failing") return;
    if (news.kind === "being-stored") {
      if (turn.waiting > 0 && !news.isReusable()) this.#end(text, turn, LOOK_AGAIN);
    } else if (news.kind === "storable") {
      const onKept = async () => {
        turn.isStored = true;
        if (turn.waiting === 0) await this.#fate.scheduler.wait(LINGERS_MS).over;
        this.#end(text, turn, LOOK_AGAIN);
      };
      void news.kept.then(onKept, onKept);
    } else this.#end(text, turn, news);
  }

  #end(text: string, turn: Turn, news: EndedElsewhere): void {
    if (this.#turns.get(text) === turn) this.#turns.delete(text);
    turn.ended.resolve(news);
  }

  /** `onSilence`: the isolate has waited in vain. */
  async #follow({ page }: FetchKey, turn: Turn, onSilence: () => void): Promise<EndedElsewhere> {
    const fate = this.#fate;
    turn.waiting++;
    fate.count("requests that waited for another isolate's fetch");
    fate.tell(`a request for ${page} waits for the fetch of ${turn.owner.name}`);
    const waitMs = fate.happens("news of a fetch that never came", 0.05) ? 0 : MAX_FETCH_MS;
    const heard = await within({ wait: (ms) => fate.scheduler.wait(ms) }, waitMs, turn.ended.promise, () => null);
    await fate.onTheWay(20);
    if (heard === null) onSilence();
    return heard ?? LOOK_AGAIN;
  }
}
