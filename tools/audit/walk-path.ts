import { randomBytes } from "node:crypto";
import { type Exchange, freshAnswers, MAX_TEXT_BYTES, type PathRecord, partyOf } from "./exchange.ts";
import { busterVerdict } from "./from-store.ts";
import { type Identity, STRANGER } from "./identity.ts";
import { changedParameter, type Input } from "./input.ts";
import { type Finding, judgePath } from "./judge-path.ts";
import { areToldApart, isLike } from "./marks.ts";
import { parametersOf, type Target } from "./target.ts";

/** Sends one request of the audit; with `null` for the buster, to the page's URL without one. */
export type Ask = (target: Target, who: string, buster: string | null, inputs: readonly Input[]) => Promise<Exchange>;

/** Why a page cannot be audited. The message is a sentence without its subject, the page. */
export class NotAuditedError extends Error {
  override readonly name = "NotAuditedError";
  /** True if the cache-buster is not in the key of the page. */
  readonly dropsBuster: boolean;

  constructor(message: string, dropsBuster = false) {
    super(message);
    this.dropsBuster = dropsBuster;
  }
}

export interface WalkOptions {
  readonly ask: Ask;
  readonly identities: readonly Identity[];
  readonly inputs: readonly Input[];
  readonly buster: string;
  /** The hosts of the edge, to recognize redirects that lead to the same page. */
  readonly hosts: readonly string[];
}

/**
 * The most requests for one URL until its answer comes from the cache. Some caches store after the answer, and some
 * only pages that were requested twice.
 */
const ASKS_FOR_A_HIT = 3;

/** The same for the URL without the buster. nginx's `proxy_cache_min_uses 5` gives the first hit to the sixth request. */
const ASKS_WITHOUT_BUSTER = 6;

/** The audit of one page: which visitor requests which URL, in which order. The judges decide what the answers show. */
export class PathWalk {
  readonly target: Target;
  readonly #options: WalkOptions;
  readonly #exchanges: Exchange[] = [];
  /** The buster of the first URL without credentials. */
  #first: string | undefined;

  constructor(target: Target, options: WalkOptions) {
    this.target = target;
    this.#options = options;
  }

  get record(): PathRecord {
    return { target: this.target, exchanges: this.#exchanges };
  }

  /** Those of the answers to plain requests, each once. */
  get statuses(): readonly number[] {
    return [...new Set(this.#exchanges.filter(({ inputs }) => inputs.length === 0).map(({ status }) => status))];
  }

  /** Whether some answer does not say where it comes from. */
  get #isSilent(): boolean {
    return this.#exchanges.some(({ provenance }) => provenance === "unknown");
  }

  /**
   * Requests the page without credentials, with two busters: the second answer must not come from the cache. Requests
   * with credentials come only after that, so that if the edge's key lacks the buster, it can at worst store the
   * stranger's page for everybody. Returns whether the page was stored under its buster. Throws `NotAuditedError`.
   */
  async begin(): Promise<boolean> {
    const url = newBuster();
    await this.#askUntilHit(STRANGER, url);
    await this.#ask(STRANGER, newBuster());
    this.#refuseRedirectToItself();
    this.#first = url;
    // One of few banners may have come three times at one URL, and another at the other.
    if (this.#isSilent && busterVerdict(this.record) === "own-entry") await this.#askAfresh(Array(4).fill(STRANGER));
    return busterVerdict(this.record) === "own-entry";
  }

  /** Throws `NotAuditedError`, and what `ask` throws. */
  async walk(): Promise<readonly Finding[]> {
    if (this.#first === undefined) await this.begin();
    const { identities } = this.#options;
    const names = identities.map(({ name }) => name);
    // There and back, so that an origin with two servers does not look like two visitors.
    await this.#askAfresh([...names, ...names.toReversed()]);
    for (const who of names) await this.#ask(who, this.#first!);
    for (const maker of names) {
      const url = newBuster();
      await this.#askUntilHit(maker, url);
      for (const who of [...names.filter((name) => name !== maker), STRANGER]) await this.#ask(who, url);
    }
    await this.#tryInputs();
    return this.#confirmed();
  }

  /**
   * Text that is too long is compared by its digest alone, which shows enough if it is the same in all answers. If it is
   * not, the fields may have shown a leak, but not that there is none. Throws `NotAuditedError`.
   */
  async refuseTooLong(): Promise<void> {
    if (!this.#exchanges.some(({ isTooLong }) => isTooLong)) return;
    if (new Set(this.#exchanges.map(({ digest }) => digest)).size === 1) return;
    throw new NotAuditedError(`is larger than ${MAX_TEXT_BYTES / 1024 ** 2} MiB, so its text is not compared`);
  }

  /** A page that nobody gets shows nothing. Throws `NotAuditedError`. */
  refuseSameErrorForAll(): void {
    const [status = 0, ...others] = this.statuses;
    if (others.length > 0 || status < 400) return;
    throw new NotAuditedError(`answered ${status} to everybody`);
  }

  /**
   * For a page that is never stored under a buster: asks for its own URL, without credentials, because that is where the
   * cache may have the page that it gives to everybody. Throws `NotAuditedError`, and what `ask` throws.
   */
  async refuseStoredWithoutBuster(): Promise<void> {
    if (busterVerdict(this.record) === "own-entry") return;
    const answers: Exchange[] = [];
    while (answers.length < ASKS_WITHOUT_BUSTER) {
      answers.push(await this.#options.ask(this.target, STRANGER, null, []));
      refuseFailed(answers.at(-1)!);
      if (answers.at(-1)!.provenance === "hit") break;
    }
    const record = { ...this.record, exchanges: [...this.#exchanges, ...answers] };
    if (busterVerdict(record) === "nothing-stored") return;
    throw new NotAuditedError(
      `is stored only without the parameter ${this.#options.buster}, or only after more requests, so the audit cannot ` +
        "see to whom the cache gives it",
    );
  }

  /** Whether two visitors get different answers. */
  toldApart(one: string, other: string): boolean {
    return areToldApart(freshAnswers(this.record, one), freshAnswers(this.record, other));
  }

  /**
   * Asks once more, past the cache. Returns whether a visitor whose answers differed from a stranger's still gets
   * different ones.
   */
  async isStillKnown(who: string): Promise<boolean> {
    const [before, strangers] = [freshAnswers(this.record, who), freshAnswers(this.record, STRANGER)];
    return isLike(await this.#ask(who, newBuster()), before, strangers);
  }

  /** Fields, parameters and cookies: whether they change the page, and then whether they are in the key. */
  async #tryInputs(): Promise<void> {
    const own = parametersOf(this.target.path).map(changedParameter);
    const cookies = this.#cookiesOfStrangers();
    const others = [...this.#options.inputs, ...cookies].filter(
      ({ kind, name }) =>
        kind !== "parameter" || (name !== this.#options.buster && !own.some((each) => each.name === name)),
    );
    const batches = [...Map.groupBy(others, ({ kind }) => kind).values()];
    // First all inputs of a kind together: most pages depend on none.
    const suspects = [...own];
    for (const batch of batches) if (await this.#changesPage(batch)) suspects.push(...batch);
    for (const input of suspects) {
      if (!(await this.#changesPage([input]))) continue;
      await this.#askAfresh([STRANGER], [input]);
      const [one, other] = [newBuster(), newBuster()];
      await this.#askUntilHit(STRANGER, one, [input]);
      await this.#ask(STRANGER, one);
      await this.#askUntilHit(STRANGER, other);
      await this.#ask(STRANGER, other, [input]);
    }
  }

  /** Asks with these inputs past the cache, and again if the answer is not a stranger's. */
  async #changesPage(inputs: readonly Input[]): Promise<boolean> {
    const plain = freshAnswers(this.record, STRANGER);
    const answer = await this.#ask(STRANGER, newBuster(), inputs);
    if (plain.some(({ digest, status }) => digest === answer.digest && status === answer.status)) {
      if (!areToldApart([answer, answer], plain)) return false;
    }
    await this.#ask(STRANGER, newBuster(), inputs);
    return areToldApart(freshAnswers(this.record, partyOf(answer)), plain);
  }

  /** The cookies that a stranger gets, with another value. */
  #cookiesOfStrangers(): readonly Input[] {
    const lines = freshAnswers(this.record, STRANGER).flatMap(({ fields }) => fields["set-cookie"] ?? []);
    const names = new Set(lines.map((line) => line.split("=", 1)[0]!.trim()));
    const known = new Set(this.#options.inputs.filter(({ kind }) => kind === "cookie").map(({ name }) => name));
    return [...names]
      .filter((name) => /^[\w.-]+$/.test(name) && !known.has(name))
      .map((name) => ({ kind: "cookie", name, value: "tidemark-audit" }));
  }

  /**
   * The findings that remain after all visitors concerned have asked past the cache a few times more. Words that come
   * and go by themselves, such as banners and news, do not remain.
   */
  async #confirmed(): Promise<readonly Finding[]> {
    const { identities } = this.#options;
    const findings = judgePath(this.record, identities);
    if (!findings.some(({ kind }) => kind !== "stored" || this.#isSilent)) return findings;
    const names = [STRANGER, ...identities.map(({ name }) => name)];
    await this.#askAfresh([...names, ...names.toReversed(), ...names]);
    for (const input of this.#unkeyedInputs(findings)) await this.#askAfresh([STRANGER, STRANGER], [input]);
    return judgePath(this.record, identities);
  }

  #unkeyedInputs(findings: readonly Finding[]): readonly Input[] {
    const ids = new Set(findings.filter(({ kind }) => kind === "unkeyed").map(({ id }) => id));
    const tried = new Map(
      this.#exchanges.flatMap(({ inputs }) => {
        const [input, ...more] = inputs;
        if (input === undefined || more.length > 0) return [];
        return [[`unkeyed:${input.kind}:${input.name}:${this.target.path}`, input] as const];
      }),
    );
    return [...tried].flatMap(([id, input]) => (ids.has(id) ? [input] : []));
  }

  async #askAfresh(visitors: readonly string[], inputs: readonly Input[] = []): Promise<void> {
    for (const who of visitors) await this.#ask(who, newBuster(), inputs);
  }

  async #askUntilHit(who: string, buster: string, inputs: readonly Input[] = []): Promise<void> {
    for (let asked = 0; asked < ASKS_FOR_A_HIT; asked++) {
      const { provenance } = await this.#ask(who, buster, inputs);
      if (provenance === "hit" && asked > 0) return;
    }
  }

  async #ask(who: string, buster: string, inputs: readonly Input[] = []): Promise<Exchange> {
    const answer = await this.#options.ask(this.target, who, buster, inputs);
    this.#exchanges.push(answer);
    if (busterVerdict(this.record) === "dropped") throw new NotAuditedError(this.#droppedText(who), true);
    refuseFailed(answer);
    return answer;
  }

  #droppedText(who: string): string {
    const exposed =
      who === STRANGER ? "" : `. ${who}'s request showed this, so the cache may now have that page: purge it`;
    return (
      `came from the cache for a URL that nobody had requested: the parameter ${this.#options.buster} is not in ` +
      `its key. Name a parameter that is, with --buster${exposed}`
    );
  }

  #refuseRedirectToItself(): void {
    const [first] = freshAnswers(this.record, STRANGER);
    const location = first!.fields.location?.[0];
    if (first!.status >= 300 && first!.status < 400 && location !== undefined && this.#isThisPage(location)) {
      const { buster } = this.#options;
      throw new NotAuditedError(
        `redirects to itself without the parameter ${buster}: name another parameter with --buster`,
      );
    }
  }

  /** Whether a `Location` names this page, and leaves out the buster. */
  #isThisPage(location: string): boolean {
    const [host = ""] = this.#options.hosts;
    const base = `http://${host}`;
    if (!URL.canParse(location, base)) return false;
    const [to, here] = [new URL(location, base), new URL(base + this.target.path)];
    return this.#options.hosts.includes(to.host) && to.pathname + to.search === here.pathname + here.search;
  }
}

function refuseFailed({ status, inputs }: Exchange): void {
  if (status === 429) throw new NotAuditedError("answered 429: set a lower --rate");
  if (status >= 500 && inputs.length === 0) {
    throw new NotAuditedError(`answered ${status}: if the site is busy, set a lower --rate`);
  }
}

/** A text that nobody can guess: whoever knew it could get pages of the audit from the cache. */
function newBuster(): string {
  return randomBytes(16).toString("hex");
}
