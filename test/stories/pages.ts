import { type Directives, languageOf, DIRECTIVES as OF_WORLDS } from "../simulation/directives.ts";
import type { Fetched, History } from "../simulation/history.ts";
import { identityOf } from "../simulation/identity.ts";
import { VALIDATION_FIELD } from "../simulation/log/answer-numbers.ts";
import { isCrossedBy } from "../simulation/promises.ts";
import { Dice } from "./dice.ts";
import type { OriginAsk, OriginReply } from "./http-origin.ts";
import { ROUTE_TTL_SECONDS, type Stage } from "./stage.ts";

/** Besides those, more that permit stale pages, some fresh for so long that only a purge makes them stale. */
const DIRECTIVES: readonly Directives[] = [
  ...OF_WORLDS,
  { said: "max-age=600, stale-while-revalidate=60", audience: "unsaid", fresh: 600, whileRevalidate: 60 },
  { said: "max-age=600, stale-if-error=60", audience: "unsaid", fresh: 600, ifError: 60 },
  { said: "max-age=1, stale-if-error=600", audience: "unsaid", fresh: 1, ifError: 600 },
];

type Fill = { -readonly [Field in keyof Fetched]: Fetched[Field] };

/** The origin of one story. It numbers its answers, and records the requests and their times. */
export class Pages {
  readonly paths: readonly string[];
  readonly tags: readonly string[];
  readonly #stage: Stage;
  readonly #story: string;
  readonly #seed: number;
  readonly #history: History;
  readonly #versions: Map<string, number>;
  readonly #asks = new Map<string, number>();
  readonly #held = new Set<{ readonly ask: OriginAsk; readonly release: () => void }>();
  /** Answers that were sent, but whose head is not yet known to have arrived. */
  readonly #landing = new Set<Fill>();
  #fetches = 0;
  #isPatient = true;

  constructor(stage: Stage, story: string, seed: number, history: History) {
    this.#stage = stage;
    this.#story = story;
    this.#seed = seed;
    this.#history = history;
    this.paths = [`/${story}/a`, `/${story}/shop/b`, `/plog/${story}`];
    this.tags = [1, 2, 3].map((number) => `${story}-${number}`);
    this.#versions = new Map(this.paths.map((path) => [path, 1]));
  }

  readonly answer = (ask: OriginAsk): Promise<OriginReply> =>
    ask.method === "POST" ? this.#take(ask) : this.#give(ask);

  isHeld(target: string, isolate: string): boolean {
    return [...this.#held].some(({ ask }) => ask.target === target && ask.isolate === isolate);
  }

  /** Releases the answers that were held back. */
  release(): void {
    if (this.#held.size > 0) this.#tell(`the origin lets go of ${this.#held.size} answers`);
    for (const { release } of this.#held) release();
    this.#held.clear();
  }

  /** Releases all answers, and holds back no more. */
  hurry(): void {
    this.#isPatient = false;
    this.release();
  }

  /** Changes a page. Reads from now on get the new version. */
  edit(path: string): void {
    this.#versions.set(path, this.#versions.get(path)! + 1);
    this.#tell(`${path} is version ${this.#versions.get(path)} now`);
  }

  /** Records that a client has the answer, so that its head had arrived at this instant. */
  hasArrived(fetched: Fetched): void {
    this.#landing.delete(fetched);
  }

  /** Records that time has passed. A head that no client has reported may have arrived as late as now. */
  timeHasPassed(): void {
    for (const fill of this.#landing) fill.receivedAt = this.#stage.timeline.now;
    this.#landing.clear();
  }

  async #give(ask: OriginAsk): Promise<OriginReply> {
    const { timeline } = this.#stage;
    const { method, target, fields } = ask;
    const dice = this.#diceFor(ask);
    const number = this.#fetches++;
    const [order, sentAt] = [timeline.nextOrder(), timeline.now];
    const condition = fields["if-none-match"];
    this.#tell(`fetch ${number}, ${method} of ${target} by ${ask.isolate}${condition ? ` if not ${condition}` : ""}`);
    const looked = this.#versions.get(target)!;
    await this.#hold(ask, dice.isBelow(0.35));
    const version = dice.isBelow(0.6) ? looked : this.#versions.get(target)!;
    if (dice.isBelow(0.1)) return this.#fail(target, dice);

    const directives = dice.pick(DIRECTIVES);
    const language = target === this.paths[1] && version % 2 === 1 ? languageOf(fields["accept-language"]) : null;
    const fill: Fill = {
      ...{ number, order, sentAt, receivedAt: timeline.now, target, version, language },
      tags: this.tags.filter(() => dice.isBelow(0.4)),
      identity: identityOf((name) => fields[name]),
      audience: directives.audience,
      freshMs: (target === this.paths[2] ? ROUTE_TTL_SECONDS : directives.fresh) * 1000,
      staleWhileRevalidateMs: (directives.whileRevalidate ?? 0) * 1000,
      staleIfErrorMs: (directives.ifError ?? 0) * 1000,
    };
    return this.#write(ask, fill, directives.said, dice);
  }

  #write({ method, fields: sent }: OriginAsk, fill: Fill, said: string, dice: Dice): OriginReply {
    const { number, version, language, tags, target } = fill;
    const etag = `"${version}${language ?? "-"}"`;
    const isNotModified = sent["if-none-match"]?.split(", ").includes(etag) ?? false;
    this.#history.fetches.set(number, fill);
    this.#landing.add(fill);
    this.#countCrossings(fill, isNotModified);
    this.#tell(
      `fetch ${number} gets ${isNotModified ? "304 for " : ""}version ${version} of ${target} (${said}; ${tags})`,
    );
    const text = `fetch ${String(number).padStart(4)} whole`;
    const fields = {
      "cache-control": said,
      ...(tags.length > 0 && { "cache-tag": tags.join(",") }),
      ...(language !== null && { vary: "accept-language" }),
      ...(fill.freshMs > 1000 && dice.isBelow(0.5) && { date: new Date().toUTCString() }),
      ...(dice.isBelow(0.9) && { etag }),
      ...((isNotModified || method === "HEAD") && { [VALIDATION_FIELD]: String(number) }),
      ...(!isNotModified && { "content-length": String(text.length) }),
    };
    if (isNotModified) return { status: 304, fields, body: null };
    const isCut = method === "GET" && dice.isBelow(0.04);
    this.#stage.count("bodies cut off", isCut);
    return { status: 200, fields, body: method === "HEAD" ? null : text, ...(isCut && { cutAfterBytes: 5 }) };
  }

  /** A POST. It is refused, or carried out; in the latter case its answer may be lost. */
  async #take(ask: OriginAsk): Promise<OriginReply> {
    const { timeline, knowledge } = this.#stage;
    const { target } = ask;
    const dice = this.#diceFor(ask);
    const life = knowledge.lifeIn(ask.isolate);
    await this.#hold(ask, dice.isBelow(0.3));
    if (dice.isBelow(0.1)) return { status: 409, fields: {}, body: "refused" };
    // The order of this instant's events is unknown, because the audit trail gives only the log's time.
    const order = timeline.beginningOf(timeline.now) - 1;
    this.edit(target);
    this.#stage.count("changes by unsafe methods");
    await this.#hold(ask, dice.isBelow(0.3));
    this.#history.changes.push({ target, order, isolate: knowledge.nameAtTheEnd(life) });
    const isLost = dice.isBelow(0.2);
    this.#stage.count("unsafe methods whose answer was lost", isLost);
    return isLost ? "hang-up" : { status: dice.pick([200, 201, 303]), fields: {}, body: "done" };
  }

  #fail(target: string, dice: Dice): OriginReply {
    this.#history.failures.push({ target, at: this.#stage.timeline.now });
    this.#stage.count("origin failures");
    this.#tell(`the origin fails on ${target}`);
    return dice.isBelow(0.5) ? { status: 503, fields: {}, body: "overloaded" } : "hang-up";
  }

  async #hold(ask: OriginAsk, isSlow: boolean): Promise<void> {
    const isHeld = isSlow && this.#isPatient;
    const { promise, resolve } = Promise.withResolvers<void>();
    if (isHeld) this.#held.add({ ask, release: resolve });
    this.#stage.stir();
    if (isHeld) await promise;
  }

  /** Chooses by the visitor, and not by the order of arrival. */
  #diceFor({ fields }: OriginAsk): Dice {
    const visitor = fields["user-agent"] ?? "";
    const ask = this.#asks.get(visitor) ?? 0;
    this.#asks.set(visitor, ask + 1);
    return new Dice(this.#seed, Number(visitor.replace("visitor ", "")), ask);
  }

  #countCrossings(fill: Fetched, isNotModified: boolean): void {
    const isCrossed = isCrossedBy(fill, this.#history.purges, "purge");
    const isChanged = this.#history.changes.some(({ target, order }) => target === fill.target && order > fill.order);
    this.#stage.count("validations", isNotModified);
    this.#stage.count(isNotModified ? "validations crossed by a purge" : "fills crossed by a purge", isCrossed);
    this.#stage.count("fills crossed by an unsafe method", isChanged);
  }

  #tell(words: string): void {
    this.#stage.timeline.tell(this.#story, words);
  }
}
