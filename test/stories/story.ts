import { History, type Purged } from "../simulation/history.ts";
import { brokenPromises } from "../simulation/promises.ts";
import { Dice } from "./dice.ts";
import { Pages } from "./pages.ts";
import { nameOf, PLACES, type Place, REGIONS } from "./places.ts";
import { anyPurge, type PurgePlan, type Receipt } from "./purges.ts";
import { Requests } from "./requests.ts";
import { BOUNDS, LOG_ID, type Stage } from "./stage.ts";

/** A short story on pages of its own: visitors, purges and changes, in an order that its seed decides. */
export class Story {
  readonly seed: number;
  readonly name: string;
  readonly host: string;
  readonly history = new History();
  readonly #stage: Stage;
  readonly #dice: Dice;
  readonly #pages: Pages;
  readonly #requests: Requests;
  readonly #receipts: Receipt[] = [];
  readonly #beganAt: number;
  #purges = 0;
  #endedAt = Number.POSITIVE_INFINITY;

  constructor(stage: Stage, seed: number) {
    this.seed = seed;
    this.name = storyName(seed);
    this.host = hostOf(seed);
    this.#stage = stage;
    this.#dice = new Dice(seed);
    this.#pages = new Pages(stage, this.name, seed, this.history);
    this.#requests = new Requests(stage, this, this.#dice, this.#pages, this.history);
    this.#beganAt = stage.timeline.nextOrder();
    stage.origin.serve(this.host, this.#pages.answer);
  }

  /** Whether it waits only for answers that its origin holds back. */
  get isQuiet(): boolean {
    return this.#requests.areQuiet;
  }

  /** The broken promises, in words. */
  get broken(): readonly string[] {
    return brokenPromises(this.history, BOUNDS).map(({ words }) => words);
  }

  /** Its events, for a person, one line each. */
  get lines(): readonly string[] {
    return this.#stage.timeline.linesOf(this.name, this.#beganAt, this.#endedAt);
  }

  /** Starts the next event, without waiting for it. */
  step(): void {
    this.#pages.timeHasPassed();
    const dice = this.#dice;
    if (dice.isBelow(0.35)) this.#pages.release();
    if (dice.isBelow(0.6) && this.#rereadWhatSettled()) return;
    const drawn = dice.random();
    if (drawn < 0.58) this.#visit();
    else if (drawn < 0.8) void this.#purge(anyPurge(dice, this.#pages, this.host, this.name), dice.pick(PLACES));
    else if (drawn < 0.87) void this.#requests.post(dice.pick(this.#pages.paths), dice.pick(PLACES));
    else if (drawn < 0.92) void this.#requests.head(dice.pick(this.#pages.paths), dice.pick(PLACES));
  }

  /** The origin holds back no more answers. */
  hurry(): void {
    this.#pages.hurry();
  }

  /** The last checks, once everything has settled. */
  end(): void {
    this.#pages.timeHasPassed();
    if (this.#rereadWhatSettled()) return;
    for (const region of REGIONS) void this.#requests.get(this.#page(), { region, isolate: 0 }, null);
  }

  close(): void {
    this.#endedAt = this.#stage.timeline.nextOrder();
  }

  /** One to three simultaneous visitors, most of them for one page. Some bring the token of the latest purge. */
  #visit(): void {
    const dice = this.#dice;
    const path = this.#page();
    const place = dice.pick(PLACES);
    const after = dice.isBelow(0.12) ? (this.#receipts.at(-1) ?? null) : null;
    void this.#requests.get(path, place, after);
    if (dice.isBelow(0.5)) void this.#requests.get(path, dice.isBelow(0.5) ? place : dice.pick(PLACES), null);
    if (dice.isBelow(0.3)) void this.#requests.get(this.#page(), dice.pick(PLACES), null);
  }

  /** Requests a page of a settled purge in every isolate. Returns false if there is none. */
  #rereadWhatSettled(): boolean {
    const { now } = this.#stage.timeline;
    const settled = this.#receipts.find(({ purged, isReread }) => !isReread && now > purged.settledAt);
    if (!settled) return false;
    settled.isReread = true;
    const seen = this.history.answers.findLast(({ fetched }) => settled.purged.matches(fetched));
    void this.#reread(seen?.fetched.target ?? this.#page(), settled, this.#dice.pick(PLACES));
    return true;
  }

  /** One of these visitors brings the purge's token. */
  async #reread(path: string, receipt: Receipt, bearer: Place): Promise<void> {
    const tokenAt = (place: Place) => (place === bearer ? receipt : null);
    const answers = await Promise.all(PLACES.map((place) => this.#requests.get(path, place, tokenAt(place))));
    const isSeenIn = (region: string) => answers.some((answer) => answer?.region === region);
    this.#stage.count("settled purges with a re-read in every PoP", REGIONS.every(isSeenIn));
  }

  /** Purges, and at once requests a purged page in one place or two. */
  async #purge(plan: PurgePlan, place: Place): Promise<void> {
    const dice = this.#dice;
    if (dice.isBelow(0.6)) this.#pages.edit(this.#page());
    const lookers = dice.isBelow(0.4) ? [dice.pick(PLACES), dice.pick(PLACES)] : [dice.pick(PLACES)];
    const another = dice.pick(PLACES.filter(({ region }) => region !== place.region));
    const id = `${this.name}.${++this.#purges}`;
    const order = this.#stage.timeline.nextOrder();
    const receipt = (await this.#ask(plan, id, order, place)) ?? (await this.#ask(plan, id, order, another));
    if (!receipt) return;
    const seen = this.history.answers.findLast(({ fetched }) => plan.matches(fetched));
    if (seen) for (const looker of lookers) void this.#requests.get(seen.fetched.target, looker, receipt);
  }

  /** Sends a purge, and repeats it if it may have been carried out without an answer. */
  async #ask({ body, mode, matches }: PurgePlan, id: string, order: number, place: Place): Promise<Receipt | null> {
    const { cdn, timeline, knowledge } = this.#stage;
    const fields = { "content-type": "application/json" };
    const init = { method: "POST", token: cdn.token, fields, body: JSON.stringify({ ...body, id }) };
    const answer = await this.#requests.send("/_tidemark/purge", place, init);
    const named = `a purge of ${JSON.stringify(body)} at ${nameOf(place)}`;
    this.#stage.count("purges refused while the log was silent", answer?.status === 503);
    if (answer?.status !== 200) return this.#requests.fails(named, answer);
    const told = JSON.parse(answer.body) as { seq: number; token: string; settlesInMs: number; replayed: boolean };
    const { seq, token, settlesInMs, replayed } = told;
    const name = `purge ${seq}`;
    this.#requests.tell(
      `${named} has number ${seq}, and settles in ${settlesInMs} ms${replayed ? "; it had it before" : ""}`,
    );
    this.#stage.count("purges asked for again, since the receipt was lost", replayed);
    this.#stage.count(`${mode} purges`);
    this.#stage.count("purges of a prefix", "prefixes" in body);
    this.#stage.count("purges of a host", "hosts" in body);
    if (!replayed) knowledge.hears(place, seq);
    const at = timeline.now;
    const settledAt = at + settlesInMs;
    const purged: Purged = { name, kind: "purge", mode, logId: LOG_ID, seq, order, at, settledAt, matches };
    const receipt: Receipt = { purged, token, isReread: false };
    this.history.purges.push(purged);
    this.#receipts.push(receipt);
    return receipt;
  }

  /** Most requests are for one page. */
  #page(): string {
    return this.#dice.isBelow(0.65) ? this.#pages.paths[0]! : this.#dice.pick(this.#pages.paths);
  }
}

function storyName(seed: number): string {
  return `s${seed}`;
}

/** The public host of a story's pages. */
export function hostOf(seed: number): string {
  return `${storyName(seed)}.example.test`;
}
