import { X509Certificate } from "node:crypto";
import type { Clock } from "../../worker/ports/clock.ts";
import type { Certificate } from "../connections/certificates.ts";
import { messageOf } from "../message-of.ts";
import { endOfPause, isPaused } from "../pause.ts";
import { type AcmeFolder, makeKey } from "./acme-folder.ts";
import { AttemptNotes } from "./attempt-notes.ts";
import { LONGEST_PAUSE_MS, MOST_FOR_OTHERS_MS, mayStartAt, pauseAfter } from "./attempts.ts";
import type { Authority, Challenged, ChallengeType, OrderOutcome } from "./authority.ts";
import { certificateId } from "./certificate-id.ts";
import { failureText, issuedText } from "./keeper-texts.ts";
import { judgeRenewal, type RenewalWindow, shareOf } from "./renewal.ts";
import { ASK_AGAIN_MS, MOST_ASK_AGAIN_MS } from "./renewal-info.ts";
import { whyNotUsed } from "./why-not-used.ts";

export interface KeeperParts {
  readonly folder: Pick<AcmeFolder, "certificateOf" | "certificatesOf" | "keep" | "attempts" | "noteAttempts">;
  readonly authority: Authority;
  readonly challenged: Challenged;
  /** The challenges that this server can answer, in the order in which they are tried. */
  readonly types: readonly ChallengeType[];
  /** The names that need a certificate, by the current settings. */
  readonly names: () => readonly string[];
  /** The certificates that the workers have. */
  readonly inUse: () => readonly Certificate[];
  /** Puts the stored certificates into use, by a reload of all settings. Resolves to whether that worked. */
  readonly reload: () => Promise<boolean>;
  /** A line for the owner. */
  readonly say: (line: string) => void;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
}

/** Orders that are under way at a time. */
const ORDERS_AT_A_TIME = 8;
/**
 * The longest pause between two checks of the names: somebody may set the clock, and a machine may sleep. Milliseconds.
 */
const LOOK_EVERY_MS = 6 * 3_600_000;
/** The pause before certificates that could not be put into use are tried again. Milliseconds. */
const RELOAD_AGAIN_MS = 3_600_000;
const LEAST_REST_MS = 1_000;

/** What this process knows about one name. Epoch milliseconds. */
interface Known {
  /** Failed attempts in a row. */
  attempts: number;
  notBeforeAt: number;
  /** Why the last attempt failed; `null` if none of this process has. */
  because: string | null;
  /** The key of the next certificate, as PEM; `null` if it has none yet. */
  key: string | null;
  /** That certificate and its chain, as PEM, which could not be written to disk; `null` if it has to be ordered. */
  chain: string | null;
  /** Whether the owner was told why there is none, and when the next attempt is. */
  isTold: boolean;
  /** Which certificate the window is for. */
  id: string | null;
  window: RenewalWindow | null;
  askWindowAt: number;
}

interface Need {
  readonly name: string;
  /** The one to be replaced; `null` if there is none. */
  readonly old: Certificate | null;
}

/** What a name needs, and when. Epoch milliseconds. */
interface Looked extends Need {
  /** When the last attempt failed; 0 if none has. */
  readonly failedAt: number;
  /** From then on it may be ordered together with another one. */
  readonly earlyAt: number;
  /** From then on it has to be ordered. */
  readonly dueAt: number;
  /** When to look again. */
  readonly nextAt: number;
}

type Refusal = Extract<OrderOutcome, { kind: "refused" }>;

const AT_ONCE = { earlyAt: 0, untilAt: 0 };
const TOO_SOON = "the last attempt was a short time ago";
const OUT_OF_USE = { because: "the authority could not be used a short time ago" };

/**
 * Keeps a certificate for each name: orders missing ones, renews in time, and leaves the old one in place until there
 * is a better one. One process of a machine runs it.
 */
export class CertificateKeeper {
  readonly #parts: KeeperParts;
  readonly #known = new Map<string, Known>();
  readonly #notes: AttemptNotes;
  /** The end of a pause that this process chose because the authority cannot be used. Epoch milliseconds. */
  #pausedUntilAt = 0;
  #failuresOfAll = 0;
  /** The end of the pause after a reload that has not put all certificates into use. Epoch milliseconds. */
  #reloadAgainAt = 0;
  #woken = Promise.withResolvers<void>();
  #isStopped = false;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#notes = new AttemptNotes(parts.folder);
  }

  /** Starts, and works until it is stopped. */
  start(): void {
    void this.#run().catch((cause: unknown) => {
      this.#parts.say(`a bug in Tidemark stops all renewals of certificates until the next start: ${String(cause)}`);
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#parts.authority.stop();
    this.#woken.resolve();
  }

  /** The names may have changed. */
  look(): void {
    this.#woken.resolve();
  }

  /** The owner wants another attempt, and new renewal windows from the authority. */
  tryAgain(): void {
    const now = this.#parts.clock.now();
    this.#pausedUntilAt = 0;
    for (const [name, known] of this.#known) {
      // To write what is here asks no authority. Nor does anybody wait longer because the owner wants it sooner.
      const mayAt = known.chain === null ? mayStartAt(this.#notes.lastAt(name), now) : now;
      const dueAt = endOfPause(known.notBeforeAt, now, LONGEST_PAUSE_MS.name);
      const notBeforeAt = dueAt > now ? Math.min(dueAt, mayAt) : mayAt;
      Object.assign(known, { attempts: 0, isTold: false, notBeforeAt, askWindowAt: now });
    }
    this.look();
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    while (!this.#isStopped) {
      this.#woken = Promise.withResolvers();
      const nextAt = await this.#round();
      const rest = clock.wait(Math.min(Math.max(nextAt - clock.now(), LEAST_REST_MS), LOOK_EVERY_MS));
      if (!this.#isStopped) await Promise.race([rest.over, this.#woken.promise]);
      rest.cancel();
    }
  }

  /** Does what is due. Resolves to the time of the next task: epoch milliseconds. Never rejects. */
  async #round(): Promise<number> {
    const { names, clock } = this.#parts;
    const looked: Looked[] = [];
    const wanted = names();
    for (const name of this.#known.keys()) if (!wanted.includes(name)) this.#known.delete(name);
    for (const name of wanted) looked.push(await this.#look(name));
    await this.#takeIntoUse();
    const due = batchOf(looked, clock.now());
    for (let at = 0; at < due.length && !this.#isStopped; at += ORDERS_AT_A_TIME) {
      const group = due.slice(at, at + ORDERS_AT_A_TIME);
      const refusals = (await Promise.all(group.map((need) => this.#renew(need)))).filter((each) => each !== null);
      // Renewals wait for the end, so that they share one reload.
      if (group.some(({ old }) => old === null)) await this.#takeIntoUse();
      const general = refusals.find(({ concerns }) => concerns === "all");
      if (general === undefined) continue;
      for (const need of due.slice(at + ORDERS_AT_A_TIME)) this.#tell(need, general);
      break;
    }
    await this.#takeIntoUse();
    const times = looked.map((each) => (due.includes(each) ? this.#mayOrderAt(this.#state(each.name)) : each.nextAt));
    if (this.#hasUnused()) times.push(this.#reloadAgainAt);
    return Math.min(...times);
  }

  async #look(name: string): Promise<Looked> {
    const known = this.#state(name);
    const old = this.#parts.folder.certificateOf(name);
    const { earlyAt, untilAt } = old === null ? AT_ONCE : await this.#renewalAt(old, known);
    const now = this.#parts.clock.now();
    if (earlyAt > now) Object.assign(known, { attempts: 0, notBeforeAt: 0, chain: null, isTold: false });
    // One that was ordered early, and in vain, is tried again also without another one.
    const dueAt = known.attempts > 0 ? earlyAt : untilAt;
    const mayAt = this.#mayOrderAt(known);
    if (dueAt <= now && mayAt > now && !known.isTold) {
      const isOfName = isPaused(known.notBeforeAt, now, LONGEST_PAUSE_MS.name);
      this.#tell({ name, old }, isOfName ? { because: known.because ?? TOO_SOON } : OUT_OF_USE);
    }
    const askAt = known.id === null ? dueAt : Math.min(dueAt, known.askWindowAt);
    const nextAt = dueAt > now ? askAt : mayAt;
    const failedAt = this.#notes.lastAt(name) ?? 0;
    return { name, old, failedAt, earlyAt: Math.max(earlyAt, mayAt), dueAt: Math.max(dueAt, mayAt), nextAt };
  }

  async #renewalAt(old: Certificate, known: Known): Promise<typeof AT_ONCE> {
    const { authority, clock } = this.#parts;
    const id = certificateId(old.chain);
    if (id !== known.id) Object.assign(known, { id, window: null, askWindowAt: 0 });
    if (id !== null && !isPaused(known.askWindowAt, clock.now(), MOST_ASK_AGAIN_MS)) {
      const info = await authority.renewalInfo(id);
      known.window = info?.window ?? known.window;
      known.askWindowAt = clock.now() + (info?.againInMs ?? ASK_AGAIN_MS);
    }
    const verdict = judgeRenewal(old, known.window, shareOf(id ?? old.chain), clock.now());
    return verdict.kind === "renew" ? AT_ONCE : verdict;
  }

  /** Resolves to why it failed, or `null`. */
  async #renew(need: Need): Promise<Refusal | null> {
    const { clock } = this.#parts;
    const { name } = need;
    const known = this.#state(name);
    try {
      if (known.chain === null) this.#notes.begin(name, clock.now());
    } catch (cause) {
      return this.#refused(need, ofTheDisk(cause, "all"));
    }
    known.key ??= makeKey();
    const { key, chain } = known;
    const outcome = chain === null ? await this.#order(need, key) : { kind: "issued" as const, chain };
    if (outcome.kind === "issued") Object.assign(known, { key: null, chain: null });
    const refusal = outcome.kind === "refused" ? outcome : this.#keep(name, key, outcome.chain);
    if (refusal !== null && this.#isStopped) {
      this.#notes.forget(name); // this server stopped it; the authority did not refuse it
      return null;
    }
    if (refusal !== null) return this.#refused(need, refusal);
    this.#notes.forget(name);
    this.#failuresOfAll = 0;
    this.#reloadAgainAt = 0;
    // A new certificate that is already due for renewal, as with a wrong clock, counts as a failed attempt.
    this.#count(name, null);
    known.isTold = true;
    return null;
  }

  #keep(name: string, key: string, chain: string): Refusal | null {
    const { folder, say } = this.#parts;
    const because = whyNotUsed(chain, key, name);
    if (because !== null) return { kind: "refused", because, retryAfterMs: null, concerns: "name" };
    try {
      folder.keep(name, key, chain);
    } catch (cause) {
      Object.assign(this.#state(name), { key, chain }); // the next attempt writes it: another order would count for a limit
      return ofTheDisk(cause, "name");
    }
    say(issuedText(name, Date.parse(new X509Certificate(chain).validTo)));
    return null;
  }

  /** Tries one challenge after the other, until one does or a failure concerns all names. */
  async #order({ name, old }: Need, key: string): Promise<OrderOutcome> {
    const { authority, challenged, types } = this.#parts;
    const replaces = old && certificateId(old.chain);
    const refusals: Refusal[] = [];
    for (const type of types) {
      const outcome = await authority.order({ name, key, type, replaces }, challenged);
      if (outcome.kind === "issued" || outcome.concerns === "all" || this.#isStopped) return outcome;
      refusals.push(outcome);
    }
    const reasons = new Set(refusals.map(({ because }) => because));
    return { ...refusals[0]!, because: [...reasons].join("; ") };
  }

  #refused(need: Need, refusal: Refusal): Refusal {
    const { because, concerns, retryAfterMs } = refusal;
    this.#state(need.name).because = because;
    if (concerns === "name" || retryAfterMs !== null) this.#count(need.name, retryAfterMs);
    else this.#notes.forget(need.name); // the authority was not asked, so it has not counted the attempt
    if (concerns === "name") this.#failuresOfAll = 0;
    else this.#pause(retryAfterMs);
    this.#tell(need, refusal);
    return refusal;
  }

  #count(name: string, retryAfterMs: number | null): void {
    const { clock, random } = this.#parts;
    const known = this.#state(name);
    known.attempts++;
    const of = known.chain === null ? "name" : "disk";
    known.notBeforeAt = clock.now() + pauseAfter(known.attempts, of, retryAfterMs, random());
  }

  /** Orders nothing for a while. Several orders that fail at the same time are one failure. */
  #pause(retryAfterMs: number | null): void {
    const now = this.#parts.clock.now();
    if (!isPaused(this.#pausedUntilAt, now, LONGEST_PAUSE_MS.authority)) {
      this.#failuresOfAll++;
      this.#pausedUntilAt = now + pauseAfter(this.#failuresOfAll, "authority", null, this.#parts.random());
    }
    if (retryAfterMs !== null) this.#notes.leaveAloneUntil(now + Math.min(retryAfterMs, MOST_FOR_OTHERS_MS), now);
  }

  #tell({ name, old }: Need, { because }: Pick<Refusal, "because">): void {
    const known = this.#state(name);
    known.isTold = true;
    const againAt = this.#mayOrderAt(known);
    this.#parts.say(failureText({ name, old, because, againAt }, this.#parts.clock.now()));
  }

  async #takeIntoUse(): Promise<void> {
    const { clock, reload } = this.#parts;
    if (!this.#hasUnused() || isPaused(this.#reloadAgainAt, clock.now(), RELOAD_AGAIN_MS)) return;
    const isDone = (await reload()) && !this.#hasUnused();
    this.#reloadAgainAt = isDone ? 0 : clock.now() + RELOAD_AGAIN_MS;
  }

  /** Whether a stored certificate is not in use: it is new, or another process has left it there. */
  #hasUnused(): boolean {
    const { folder, inUse, names } = this.#parts;
    const used = new Set(inUse().map(({ chain }) => chain));
    return folder.certificatesOf(names()).certificates.some(({ chain }) => !used.has(chain));
  }

  /** When the name may be ordered, as far as pauses go; 0 if none goes on. Epoch milliseconds. */
  #mayOrderAt({ notBeforeAt }: Known): number {
    const now = this.#parts.clock.now();
    const ofName = endOfPause(notBeforeAt, now, LONGEST_PAUSE_MS.name);
    const ofAll = endOfPause(this.#pausedUntilAt, now, LONGEST_PAUSE_MS.authority);
    return Math.max(ofName, ofAll, this.#notes.notBeforeAt(now));
  }

  #state(name: string): Known {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const notBeforeAt = mayStartAt(this.#notes.lastAt(name), this.#parts.clock.now());
    const nothing = { because: null, key: null, chain: null, isTold: false, id: null, window: null, askWindowAt: 0 };
    const fresh: Known = { attempts: 0, notBeforeAt, ...nothing };
    this.#known.set(name, fresh);
    return fresh;
  }
}

/**
 * What is ordered now: if one is due, also those that may be ordered with it. A refusal that concerns all ends the round, so
 * names whose last attempt failed come after all others. Then names without a certificate come first.
 */
function batchOf(looked: readonly Looked[], now: number): Looked[] {
  if (!looked.some(({ dueAt }) => dueAt <= now)) return [];
  const batch = looked.filter(({ earlyAt }) => earlyAt <= now);
  return batch.sort((a, b) => a.failedAt - b.failedAt || Number(a.old !== null) - Number(b.old !== null));
}

function ofTheDisk(cause: unknown, concerns: Refusal["concerns"]): Refusal {
  return {
    kind: "refused",
    because: `the certificate cannot be written to disk: ${messageOf(cause)}`,
    retryAfterMs: null,
    concerns,
  };
}
