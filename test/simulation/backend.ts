import { HOST, TOKEN } from "../engine/scenario.ts";
import type { Fate } from "./fate.ts";
import type { Matches, Page, Purged } from "./history.ts";
import type { LateLog } from "./log/late-log.ts";
import { TAGS } from "./random-origin.ts";
import type { SimulatedIsolate } from "./simulated-isolate.ts";

/** The part of a receipt that the record needs. */
interface Receipt {
  readonly seq: number;
  readonly logId: string;
  readonly at: string;
  readonly settlesInMs: number;
  readonly maySettleSooner?: boolean;
  readonly refreshed?: readonly { readonly status: number }[];
}

/** What a purge names, and the pages that it covers. */
export type Items = readonly [items: object, matches: Matches];

export const EVERYTHING: Items = [{ everything: true }, () => true];

export const UNRELATED: Items = [{ tags: ["unrelated"] }, () => false];

const tagged = (tag: string): Items => [{ tags: [tag] }, ({ tags }: Page) => tags.includes(tag)];

const ITEMS: readonly Items[] = [
  [{ urls: ["/a"] }, ({ target }) => target === "/a"],
  [{ urls: [`https://${HOST}/b`] }, ({ target }) => target === "/b"],
  ...TAGS.map(tagged),
  [{ tags: ["plog:c"] }, ({ target }) => target === "/plog/c"],
  UNRELATED,
  [{ prefixes: ["/plog"] }, ({ target }) => target.startsWith("/plog/")],
  [{ hosts: [HOST] }, () => true],
  EVERYTHING,
];

/** The site's backend. It sends purges of every kind, hard and soft, and repeats those that were not acknowledged. */
export class Backend {
  readonly #fate: Fate;
  readonly #log: LateLog;
  /** For each purge that may settle earlier than its receipt says: when the edge has answered whether it has. */
  readonly #asked = new Map<Purged, Promise<void>>();
  #purges = 0;

  constructor(fate: Fate, log: LateLog) {
    this.#fate = fate;
    this.#log = log;
  }

  /** Resolves to the purge once its receipt has arrived; to `null` if it never does. Default: any items. */
  async purge(isolate: () => SimulatedIsolate, chosen?: Items): Promise<Purged | null> {
    const fate = this.#fate;
    const [items, matches] = chosen ?? fate.pick(ITEMS);
    const urls = "urls" in items ? (items.urls as string[]) : [];
    const reason = `plan ${++this.#purges}`;
    const isRefreshed = urls.length > 0 && fate.chance(0.4);
    const repeatAfterMs = fate.chance(0.1) ? 500 + Math.floor(fate.random() * 3000) : null;
    const body = {
      ...items,
      reason,
      ...(fate.chance(0.3) && { mode: "soft" }),
      ...(isRefreshed && { refresh: true }),
      ...(repeatAfterMs !== null && { repeatAfterMs }),
      ...(fate.chance(0.4) && { id: reason.replace(" ", "-") }),
    };
    this.#log.planned.set(reason, matches);
    const receipt = await this.#send(isolate, body, "id" in body ? 3 : 1);
    if (receipt === null) return null;
    const purged = this.#log.numbered(receipt.logId, receipt.seq);
    purged.settledAt = Math.min(purged.settledAt, fate.now() + receipt.settlesInMs);
    fate.tell(`${purged.name}, of ${JSON.stringify(body)}, is acknowledged`);
    if (receipt.maySettleSooner) this.#asked.set(purged, this.#ask(purged, receipt, isolate()));
    fate.count("soft purges", purged.mode === "soft");
    fate.count("purges of a prefix", "prefixes" in items);
    const upTo = fate.nextOrder();
    if (receipt.refreshed?.[0]?.status === 200) {
      const target = urls[0]!.replace(`https://${HOST}`, "");
      fate.history.refreshed.push({ purge: purged, target, upTo });
      fate.count("pages refreshed by their purge");
    }
    if (repeatAfterMs !== null) void fate.begin(this.#expectRepeat(purged, repeatAfterMs));
    return purged;
  }

  /** Resolves once a purge has settled, as its caller sees it. */
  async settled(purged: Purged): Promise<void> {
    const { scheduler } = this.#fate;
    await Promise.race([this.#asked.get(purged), scheduler.wait(purged.settledAt - this.#fate.now()).over]);
    if (purged.settledAt > this.#fate.now()) await scheduler.wait(purged.settledAt - this.#fate.now()).over;
    await scheduler.wait(1).over;
  }

  /** Asks the edge to answer when a purge has settled. */
  async #ask(purged: Purged, receipt: Receipt, at: SimulatedIsolate): Promise<void> {
    const fate = this.#fate;
    const init = { headers: { authorization: `Bearer ${TOKEN}` } };
    const response = await at.send(`/_tidemark/purges/${receipt.seq}?wait=${Math.ceil(receipt.settlesInMs)}`, init);
    if (response.status !== 200) return;
    const record = (await response.json()) as { readonly settled: boolean; readonly at: string };
    if (!record.settled || record.at !== receipt.at || fate.now() >= purged.settledAt) return;
    purged.settledAt = fate.now();
    fate.count("receipts that settled before their time");
    fate.tell(`${purged.name} has settled`);
  }

  async #send(isolate: () => SimulatedIsolate, body: object, attempts: number): Promise<Receipt | null> {
    const fate = this.#fate;
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    for (let attempt = 1; attempt <= attempts; attempt++) {
      fate.count("purges sent again under their id", attempt > 1);
      const at = isolate();
      fate.tell(`a purge of ${JSON.stringify(body)} arrives at ${at.name}`);
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const response = await at.send("/_tidemark/purge", init);
      if (response.status === 200) return (await response.json()) as Receipt;
      fate.tell(`a purge at ${at.name} fails: ${response.status}`);
      await fate.delay(500);
    }
    return null;
  }

  /** Expects the repetition of a purge, as long as its log exists. */
  async #expectRepeat(purged: Purged, afterMs: number): Promise<void> {
    await this.#fate.scheduler.wait(afterMs + this.#log.repeatsWithinMs).over;
    if (!this.#log.lives(purged)) return;
    this.#fate.history.owed.push({ name: purged.name, isPaid: this.#log.repeatsOf(purged) > 0 });
    this.#fate.count("purges that were repeated");
  }
}
