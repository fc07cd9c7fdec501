import type { ClientAnswer, Engine } from "../../engine/engine.ts";
import { startMemoryEngine } from "../../engine/memory/memory-engine.ts";
import { BEGINNING, type ClientRequest, type SiteChange, TOKEN } from "../../engine/scenario.ts";
import { Dice } from "../../stories/dice.ts";
import { type Asked, isOwn, type OwnersRules, objectionTo, type Removal } from "./may-answer.ts";
import { type Given, numberIn } from "./origin-record.ts";
import { RandomOrigin } from "./random-origin.ts";
import { HOSTS, ISOLATES, randomRequest, TARGETS, withoutTracking } from "./random-request.ts";

const STEPS = 80;

const CREDENTIALS = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

/** When other isolates know of an unsafe request at the latest. */
const OTHERS_KNOW_AFTER_MS = 60_000;
/** For so long an origin that was down may count as down. */
const DOWN_FOR_MS = 61_000;

const PLAIN: OwnersRules = {
  ttlSeconds: null,
  defaultTtlSeconds: null,
  guessed: null,
  ifErrorSeconds: 0,
  whileRevalidateSeconds: 0,
  softForSeconds: 0,
  overSMaxage: false,
  obeysAll: false,
};

/** Sites, each with what its settings permit. */
const SITES: readonly { readonly site: SiteChange; readonly rules: OwnersRules }[] = [
  { site: {}, rules: PLAIN },
  {
    site: { heuristic: { fraction: 0.002 }, routes: [{ match: "/*", requestDirectives: "all" }] },
    rules: { ...PLAIN, guessed: 0.002, obeysAll: true },
  },
  {
    site: { stale: { ifError: "30s", whileRevalidate: "5s" }, limits: { originDownAfter: 1 } },
    rules: { ...PLAIN, ifErrorSeconds: 30, whileRevalidateSeconds: 5 },
  },
  { site: { purge: { softForMs: 8_000 } }, rules: { ...PLAIN, softForSeconds: 8 } },
  { site: { routes: [{ match: "/*", ttl: "10s" }] }, rules: { ...PLAIN, ttlSeconds: 10 } },
  {
    site: { routes: [{ match: "/*", defaultTtl: "10s" }], stale: { ifError: "30s", overSMaxage: true } },
    rules: { ...PLAIN, defaultTtlSeconds: 10, ifErrorSeconds: 30, overSMaxage: true },
  },
  { site: { limits: { storeBytes: 16 } }, rules: PLAIN },
  { site: { limits: { variants: 1 }, store: { onHead: false }, secondLook: false }, rules: PLAIN },
];

interface Purge extends Removal {
  readonly mode: "hard" | "soft";
  readonly token: string;
  /** When it had a number: epoch milliseconds. */
  readonly at: number;
  readonly settlesAt: number;
}

interface Unsafe extends Removal {
  readonly isolate: string;
  readonly at: number;
}

/** How the world of a seed went. */
export interface Outcome {
  readonly seed: number;
  /** What broke, in words; `null` if nothing did. */
  readonly broken: string | null;
  readonly story: readonly string[];
  readonly occurred: ReadonlyMap<string, number>;
}

/** Visitors of a site with two hosts, in three isolates of two PoPs, and an origin that says whatever HTTP permits. */
export async function runHttpWorld(seed: number): Promise<Outcome> {
  const world = new HttpWorld(seed);
  const broken = await world.run();
  return { seed, broken, story: world.story, occurred: world.occurred };
}

class HttpWorld {
  readonly story: string[] = [];
  readonly occurred = new Map<string, number>();
  readonly #dice: Dice;
  readonly #engine: Engine;
  readonly #rules: OwnersRules;
  readonly #origin: RandomOrigin;
  readonly #purges: Purge[] = [];
  readonly #unsafe: Unsafe[] = [];
  readonly #answeredTo = new Map<number, ClientRequest>();
  #now = BEGINNING;
  #isUp = true;
  #failedAt = Number.NEGATIVE_INFINITY;
  #seen: Readonly<Record<string, string>> = {};

  constructor(seed: number) {
    this.#dice = new Dice(seed, 51);
    const { site, rules } = this.#dice.pick(SITES);
    this.#rules = rules;
    this.#engine = startMemoryEngine({ hosts: [...HOSTS], ...site }, seed);
    this.#origin = new RandomOrigin(this.#dice, () => this.#now);
    this.#engine.answerBy!((request) => this.#origin.answer(request));
  }

  async run(): Promise<string | null> {
    let broken: string | null = null;
    for (let step = 0; step < STEPS && broken === null; step++) {
      await this.#meddle();
      broken = await this.#visit();
      await this.#engine.finishWork();
    }
    await this.#engine.originUp();
    await this.#engine.stop();
    return broken;
  }

  /** What happens between two requests. */
  async #meddle(): Promise<void> {
    const dice = this.#dice;
    await this.#pass(dice.pick([0, 0, 0, 300, 1000, 2500, 6000]));
    if (dice.isBelow(0.05)) await this.#purge();
    if (dice.isBelow(0.03)) await this.#pass(25_000);
    if (dice.isBelow(0.02)) await this.#engine.restartIsolate();
    if (dice.isBelow(0.01)) await this.#engine.emptySharedTier();
    if (!this.#isUp) this.#failedAt = this.#now;
    const wasUp = this.#isUp;
    if (dice.isBelow(wasUp ? 0.04 : 0.4)) {
      this.#isUp = !wasUp;
      this.#tell(this.#isUp ? "the origin is up" : "the origin is down");
      await (this.#isUp ? this.#engine.originUp() : this.#engine.originDown());
    }
  }

  async #pass(ms: number): Promise<void> {
    this.#now += ms;
    await this.#engine.advance(ms);
  }

  async #purge(): Promise<void> {
    const dice = this.#dice;
    const [host, target] = [dice.pick(HOSTS), dice.pick(TARGETS)];
    const tag = dice.pick(["t1", "t2"]);
    const { items, covers } = dice.pick([
      { items: { urls: [`http://${host}${target}`] }, covers: (of: Given) => of.host === host && of.target === target },
      { items: { tags: [tag] }, covers: ({ fields }: Given) => (fields["cache-tag"] ?? "").includes(tag) },
      { items: { hosts: [host] }, covers: (of: Given) => of.host === host },
      { items: { prefixes: ["/a"] }, covers: (of: Given) => of.target.startsWith("/a") },
      { items: { everything: true }, covers: () => true },
    ]);
    const isolate = dice.pick(ISOLATES);
    const mode = dice.isBelow(0.4) ? "soft" : "hard";
    const upTo = this.#origin.record.length;
    const request = {
      method: "POST",
      path: "/_tidemark/purge",
      fields: CREDENTIALS,
      body: JSON.stringify({ ...items, mode }),
      isolate,
    };
    const { status, body } = await this.#settled([request]).then(([only]) => only!);
    if (status !== 200) throw new Error(`a purge was refused: ${body}`);
    const receipt = JSON.parse(body) as { token: string; settlesInMs: number };
    const [at, settlesAt] = [this.#now, this.#now + receipt.settlesInMs];
    this.#purges.push({ mode, upTo, covers, token: receipt.token, at, settlesAt });
    this.#tell(`${mode} purge ${JSON.stringify(items)} at ${isolate}, settled in ${receipt.settlesInMs} ms`);
    if (dice.isBelow(0.7)) await this.#pass(receipt.settlesInMs);
  }

  /** One request, or several at a time. */
  async #visit(): Promise<string | null> {
    const dice = this.#dice;
    const drawn = randomRequest(dice, this.#seen);
    const token = dice.isBelow(0.1) ? this.#purges.at(-1)?.token : undefined;
    const first = token ? { ...drawn, fields: { ...drawn.fields, "tidemark-after": token } } : drawn;
    const requests = [first];
    while (dice.isBelow(0.2)) {
      const other = randomRequest(dice, this.#seen);
      requests.push({
        ...other,
        path: first.path,
        ...(dice.isBelow(0.8) && { isolate: first.isolate, host: first.host }),
      });
    }
    const upTo = this.#origin.record.length;
    const at = this.#now;
    const known = requests.map((request) => this.#knownTo(request));
    const answers = await this.#settled(requests);
    const since = this.#origin.record.slice(upTo);
    if (!this.#isUp || since.some(({ status }) => status === 0 || status >= 500)) this.#failedAt = this.#now;
    const hasFailed = this.#failedAt >= at || (this.#rules.ifErrorSeconds > 0 && at - this.#failedAt < DOWN_FOR_MS);
    for (const given of since) this.#tell(`  origin: ${JSON.stringify(given)}`);
    for (const [index, request] of requests.entries()) {
      const answer = answers[index]!;
      const got = `${answer.status} ${JSON.stringify(answer.fields)} ${answer.body}${answer.cutOff ? " [cut off]" : ""}`;
      this.#tell(`${at - BEGINNING} ms: ${JSON.stringify(request)} gets ${got}`);
      const asked: Asked = {
        request,
        host: request.host!,
        target: withoutTracking(request.path),
        at,
        upTo,
        hasFailed,
        isAlone: requests.length === 1,
        ...known[index]!,
      };
      const broken =
        objectionTo(answer, asked, this.#origin.record, this.#rules) ?? this.#objectionToSecond(answer, asked);
      if (broken !== null) return broken;
      this.#count(answer, asked);
      if (answer.status < 300) this.#seen = answer.fields;
      this.#noteUnsafe(answer, asked);
    }
    return null;
  }

  async #settled(requests: readonly ClientRequest[]): Promise<readonly ClientAnswer[]> {
    const answers = Promise.all(requests.map((request) => this.#engine.send(request)));
    for (let waits = 0; ; waits++) {
      try {
        return await this.#engine.settle(answers);
      } catch (cause) {
        if (waits > 40) throw cause;
        await this.#pass(250); // as long as it waits for an isolate that is gone
      }
    }
  }

  #knownTo({ fields = {}, isolate }: ClientRequest): Pick<Asked, "purges" | "soft" | "hasToken" | "unsafe"> {
    const now = this.#now;
    const awaited = this.#purges.findLastIndex(({ token }) => token === fields["tidemark-after"]);
    const all = this.#purges.map((purge, index) => ({ ...purge, isKnown: purge.settlesAt <= now || index <= awaited }));
    return {
      purges: all.filter(({ mode, isKnown }) => mode === "hard" && isKnown),
      soft: all.filter(({ mode }) => mode === "soft"),
      hasToken: awaited >= 0,
      unsafe: this.#unsafe.filter((each) => each.isolate === isolate || each.at + OTHERS_KNOW_AFTER_MS <= now),
    };
  }

  /** An answer that was for one request must not be given to a second. */
  #objectionToSecond(answer: ClientAnswer, asked: Asked): string | null {
    const number = numberIn(answer.fields);
    if (number === null) return null;
    const given = this.#origin.record[number - 1]!;
    const before = this.#answeredTo.get(number);
    this.#answeredTo.set(number, asked.request);
    const isForOne = /private(?!=)|no-store(?!.*understand)/.test(given.fields["cache-control"] ?? "");
    const isTargeted = given.fields["cdn-cache-control"] !== undefined;
    return before && given.status !== 304 && isOwn(given, asked) && isForOne && !isTargeted
      ? "what another visitor was given"
      : null;
  }

  /** RFC 9111 §4.4, RFC 9875 §3: what an unsafe request has made unusable. */
  #noteUnsafe({ status, fields }: ClientAnswer, { request, host, target, at, upTo }: Asked): void {
    const { method = "GET", isolate = "a" } = request;
    const isLost = status === 502 || status === 504;
    if (method === "GET" || method === "HEAD" || (status >= 400 && !isLost)) return;
    const named = [target, fields.location, fields["content-location"]].flatMap((each) =>
      each === undefined ? [] : [new URL(each, `http://${host}${target}`)],
    );
    const groups = (fields["cache-group-invalidation"] ?? "").match(/g\d/g) ?? [];
    const isNamed = (of: Given) => named.some((url) => url.host === of.host && url.pathname + url.search === of.target);
    const covers = (of: Given) =>
      of.host === host && (isNamed(of) || groups.some((group) => (of.fields["cache-groups"] ?? "").includes(group)));
    // The origin changes its page when it answers. What it gives from then on to others is new.
    this.#unsafe.push({ upTo: numberIn(fields) ?? upTo, covers, isolate, at });
  }

  #count({ fields, status, body }: ClientAnswer, { request, upTo, soft }: Asked): void {
    const number = numberIn(fields);
    const words = [fields["x-cache"] ?? "none"];
    if (status === 304 || status === 206 || status === 416) words.push(`${status} from ${words[0]}`);
    if (number !== null && number <= upTo) {
      const given = this.#origin.record[number - 1]!;
      const { status: ofGiven, method } = given;
      words.push(ofGiven === 304 ? "a confirmed page" : `a stored ${ofGiven} to ${request.method}`);
      if (soft.some((purge) => purge.isKnown && number <= purge.upTo && purge.covers(given))) {
        words.push(`a softly purged page as ${words[0]}`);
      }
      if (method === "HEAD" && body !== "") words.push("a page that a HEAD has freshened");
    }
    for (const word of words) this.occurred.set(word, (this.occurred.get(word) ?? 0) + 1);
  }

  #tell(line: string): void {
    this.story.push(line);
  }
}
