import { STRANGER } from "./identity.ts";
import type { Input } from "./input.ts";
import { type Finding, inWords } from "./judge-path.ts";
import { NoAnswerError, Prober, type ProberOptions } from "./prober.ts";
import { endsSession, type Target } from "./target.ts";
import { type Ask, NotAuditedError, PathWalk } from "./walk-path.ts";

export interface AuditOptions extends ProberOptions {
  readonly targets: readonly Target[];
  readonly inputs: readonly Input[];
  /** How many pages are audited at a time. */
  readonly concurrency: number;
  /** The ids of known findings, which do not count. */
  readonly accepted?: readonly string[];
  readonly progress?: (progress: AuditProgress) => void;
}

export interface AuditProgress {
  readonly pages: number;
  readonly ofPages: number;
  readonly requests: number;
  readonly findings: number;
}

/** A page that could not be audited. */
export interface NotAudited {
  readonly path: string;
  readonly because: string;
  /** True if the cache-buster is not in its key. */
  readonly dropsBuster: boolean;
}

const NO_CREDENTIALS = "No request had credentials.";

/** What the audit found. The report is `clean` only if every page could be audited. */
export interface AuditReport {
  readonly version: 1;
  readonly verdict: "clean" | "findings" | "not-audited";
  readonly edge: string;
  readonly visitors: readonly string[];
  readonly requests: number;
  /** How many of the answers say that they came from the cache. */
  readonly fromStore: number;
  /** The pages that were audited completely. */
  readonly pages: readonly string[];
  readonly findings: readonly Finding[];
  /** Findings whose ids the caller has accepted. */
  readonly accepted: readonly Finding[];
  /** What the caller has accepted, and nothing has, though all was audited. */
  readonly acceptedInVain: readonly string[];
  /** The pages that could not be audited. */
  readonly notAudited: readonly NotAudited[];
  /** Pages that would end the visitor's session. They were not requested. */
  readonly leftOut: readonly string[];
  /** What limits the report: sessions that have ended, pages that are the same for all visitors. */
  readonly problems: readonly string[];
  readonly interrupted: boolean;
}

/** Requests the pages as each identity and as a stranger. Keeps its results when the signal is aborted. */
export async function auditSite(options: AuditOptions): Promise<AuditReport> {
  const prober = new Prober(options);
  const audit = new Audit(options, prober);
  try {
    await audit.run();
  } catch (error) {
    if (!options.signal?.aborted) throw error;
  } finally {
    prober.close();
  }
  return audit.report();
}

class Audit {
  readonly #options: AuditOptions;
  readonly #prober: Prober;
  readonly #pages: string[] = [];
  readonly #findings: Finding[] = [];
  readonly #notAudited: NotAudited[] = [];
  readonly #leftOut: string[] = [];
  readonly #problems: string[] = [];
  /** For each identity, a page that differs from the stranger's. */
  readonly #known = new Map<string, PathWalk>();
  /** The pairs of identities for which some page differs. */
  readonly #apart = new Set<string>();
  readonly #seenCanaries = new Set<string>();

  constructor(options: AuditOptions, prober: Prober) {
    this.#options = options;
    this.#prober = prober;
  }

  async run(): Promise<void> {
    const queue = await this.#beginUntilBusterIsShown(this.#walks());
    const worker = async () => {
      // Removed from the list, so that a page's answers are freed when it is done.
      for (let walk = queue.shift(); walk !== undefined; walk = queue.shift()) await this.#walk(walk);
    };
    await Promise.all(Array.from({ length: this.#options.concurrency }, worker));
    await this.#checkSessions();
  }

  /** In the order of the pages, whichever ended first. */
  report(): AuditReport {
    const { edge, identities, targets, accepted = [], signal } = this.#options;
    const interrupted = signal?.aborted ?? false;
    const places = new Map(targets.map(({ path }, index) => [path, index]));
    const placeOf = (path: string) => places.get(path) ?? 0;
    const all = this.#findings.toSorted((one, other) => placeOf(one.path) - placeOf(other.path));
    const findings = all.filter(({ id }) => !accepted.includes(id));
    const isWhole =
      !interrupted && this.#notAudited.length === 0 && this.#problems.length === 0 && this.#pages.length > 0;
    return {
      version: 1,
      verdict: findings.length > 0 ? "findings" : isWhole ? "clean" : "not-audited",
      edge: edge.origin,
      visitors: [...identities.map(({ name }) => name), STRANGER],
      requests: this.#prober.requests,
      fromStore: this.#prober.fromStore,
      pages: this.#pages.toSorted((one, other) => placeOf(one) - placeOf(other)),
      findings,
      accepted: all.filter(({ id }) => accepted.includes(id)),
      acceptedInVain: isWhole ? accepted.filter((id) => !all.some((each) => each.id === id)) : [],
      notAudited: this.#notAudited,
      leftOut: this.#leftOut,
      problems: this.#problems,
      interrupted,
    };
  }

  #walks(): readonly PathWalk[] {
    const { targets, identities, inputs, buster, edge, host } = this.#options;
    const hosts = [edge.host, ...(host === null ? [] : [host])];
    const ask: Ask = async (...request) => {
      const exchange = await this.#prober.ask(...request);
      this.#tell();
      return exchange;
    };
    this.#leftOut.push(...targets.filter(endsSession).map(({ path }) => path));
    return targets
      .filter((target) => !endsSession(target))
      .map((target) => new PathWalk(target, { ask, identities, inputs, buster, hosts }));
  }

  /**
   * Requests the pages without credentials, one after the other, until one shows that the buster is in the key. Before
   * that, no request has credentials. Returns the pages that can be audited: none, if no page has shown it.
   */
  async #beginUntilBusterIsShown(walks: readonly PathWalk[]): Promise<PathWalk[]> {
    const sound: PathWalk[] = [];
    for (const [index, walk] of walks.entries()) {
      const isShown = await this.#tried(walk, () => walk.begin());
      if (isShown !== null) sound.push(walk);
      if (isShown) return [...sound, ...walks.slice(index + 1)];
    }
    const { buster } = this.#options;
    if (this.#notAudited.some(({ dropsBuster }) => dropsBuster)) {
      this.#problems.push(`No stored page has the parameter ${buster} in its key. ${NO_CREDENTIALS}`);
    } else if (sound.length > 0) {
      const statuses = [...new Set(sound.flatMap((walk) => walk.statuses))].map(String);
      this.#problems.push(
        `No page was answered from the cache (strangers got ${inWords(statuses)}), so the audit cannot tell ` +
          `whether the parameter ${buster} is in the key. ${NO_CREDENTIALS} Add a page that is stored for everybody, like a stylesheet, or name the field that ` +
          "marks hits: --hit 'X-My-Cache: hit'.",
      );
    }
    return [];
  }

  async #walk(walk: PathWalk): Promise<void> {
    const findings = await this.#tried(walk, () => walk.walk());
    if (findings === null) return;
    this.#findings.push(...findings);
    this.#noteSessions(walk);
    this.#lookForCanaries(walk);
    const isWhole = await this.#tried(walk, async () => {
      walk.refuseSameErrorForAll();
      await walk.refuseTooLong();
      await walk.refuseStoredWithoutBuster();
      return true;
    });
    if (isWhole === null) return;
    this.#pages.push(walk.target.path);
    this.#tell();
  }

  #noteSessions(walk: PathWalk): void {
    const names = this.#options.identities.map(({ name }) => name);
    for (const name of names) {
      if (!this.#known.has(name) && walk.toldApart(name, STRANGER)) this.#known.set(name, walk);
      for (const other of names) if (name < other && walk.toldApart(name, other)) this.#apart.add(pairOf(name, other));
    }
  }

  /** Returns `null` for a page that cannot be audited, and says so in the report. */
  async #tried<T>({ target }: PathWalk, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NotAuditedError || error instanceof NoAnswerError)) throw error;
      const dropsBuster = error instanceof NotAuditedError && error.dropsBuster;
      const because = error instanceof NoAnswerError ? `has no answer: ${error.message}` : error.message;
      this.#notAudited.push({ path: target.path, because, dropsBuster });
      this.#tell();
      return null;
    }
  }

  /** Without a working session, the audit may have missed findings. */
  async #checkSessions(): Promise<void> {
    if (this.#pages.length === 0) return;
    const names = this.#options.identities.map(({ name }) => name);
    for (const name of names) {
      const page = this.#known.get(name);
      if (page === undefined) {
        this.#problems.push(
          `${name} gets the same answers as a stranger everywhere. The session may have ended, or no page here differs for ${name}.`,
        );
      } else if ((await this.#tried(page, () => page.isStillKnown(name))) === false) {
        this.#problems.push(
          `${name}'s session ended during the audit: ${page.target.path} now answers ${name} like a stranger.`,
        );
      }
    }
    for (const name of names) {
      for (const other of names) {
        const areKnown = this.#known.has(name) && this.#known.has(other);
        if (name < other && areKnown && !this.#apart.has(pairOf(name, other))) {
          this.#problems.push(`${name} and ${other} get the same answers everywhere. Are they one account?`);
        }
      }
    }
    for (const { name, canaries } of this.#options.identities) {
      if (canaries.some((text) => !this.#seenCanaries.has(`${name} ${text}`))) {
        this.#problems.push(`${name}'s own answers do not contain the canary of ${name}.`);
      }
    }
  }

  #lookForCanaries({ record }: PathWalk): void {
    for (const { name, canaries } of this.#options.identities) {
      for (const text of canaries) {
        const isThere = record.exchanges.some(
          (each) => each.who === name && (each.text.includes(text) || JSON.stringify(each.fields).includes(text)),
        );
        if (isThere) this.#seenCanaries.add(`${name} ${text}`);
      }
    }
  }

  #tell(): void {
    this.#options.progress?.({
      pages: this.#pages.length + this.#notAudited.length + this.#leftOut.length,
      ofPages: this.#options.targets.length,
      requests: this.#prober.requests,
      findings: this.#findings.length,
    });
  }
}

function pairOf(one: string, other: string): string {
  return `${one} ${other}`;
}
