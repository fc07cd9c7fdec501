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
  readonly folder: Pick<AcmeFolder, "certificateOf" | "keep" | "attempts" | "noteAttempts">;
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

type Refusal = Extract<OrderOutcome, { kind: "refused" }>;

const TOO_SOON = { because: "the last attempt was a short time ago" };

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
  #isReloadDue = false;
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
      Object.assign(known, {
        attempts: 0,
        isTold: false,
        notBeforeAt: mayStartAt(this.#notes.lastAt(name), now),
        askWindowAt: now,
      });
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
    const due: Need[] = [];
    let nextAt = Number.POSITIVE_INFINITY;
    const wanted = names();
    for (const name of this.#known.keys()) if (!wanted.includes(name)) this.#known.delete(name);
    for (const name of wanted) {
      const looked = await this.#look(name);
      if (typeof looked === "number") nextAt = Math.min(nextAt, looked);
      else due.push(looked);
    }
    await this.#takeIntoUse();
    for (let at = 0; at < due.length && !this.#isStopped; at += ORDERS_AT_A_TIME) {
      const group = due.slice(at, at + ORDERS_AT_A_TIME);
      const refusals = (await Promise.all(group.map((need) => this.#renew(need)))).filter((each) => each !== null);
      await this.#takeIntoUse();
      const general = refusals.find(({ concerns }) => concerns === "all");
      if (general === undefined) continue;
      for (const need of due.slice(at + ORDERS_AT_A_TIME)) this.#tell(need, general);
      break;
    }
    const retries = due.map(({ name }) => this.#mayOrderAt(this.#state(name)));
    if (this.#isReloadDue) retries.push(clock.now() + RELOAD_AGAIN_MS);
    return Math.min(nextAt, ...retries);
  }

  /** What a name needs now, or when to check it again. */
  async #look(name: string): Promise<Need | number> {
    const known = this.#state(name);
    const { folder, inUse } = this.#parts;
    const old = folder.certificateOf(name);
    // Another process may have left it there, while this one was taking over.
    if (old !== null && !inUse().some(({ chain }) => chain === old.chain)) this.#isReloadDue = true;
    const dueAt = old === null ? 0 : await this.#renewalAt(old, known);
    const now = this.#parts.clock.now();
    if (dueAt > now) {
      Object.assign(known, { attempts: 0, notBeforeAt: 0, isTold: false });
      return known.id === null ? dueAt : Math.min(dueAt, known.askWindowAt);
    }
    const mayAt = this.#mayOrderAt(known);
    if (mayAt <= now) return { name, old };
    if (!known.isTold) this.#tell({ name, old }, TOO_SOON);
    return mayAt;
  }

  async #renewalAt(old: Certificate, known: Known): Promise<number> {
    const { authority, clock } = this.#parts;
    const id = certificateId(old.chain);
    if (id !== known.id) Object.assign(known, { id, window: null, askWindowAt: 0 });
    if (id !== null && !isPaused(known.askWindowAt, clock.now(), MOST_ASK_AGAIN_MS)) {
      const info = await authority.renewalInfo(id);
      known.window = info?.window ?? known.window;
      known.askWindowAt = clock.now() + (info?.againInMs ?? ASK_AGAIN_MS);
    }
    const verdict = judgeRenewal(old, known.window, shareOf(id ?? old.chain), clock.now());
    return verdict.kind === "renew" ? 0 : verdict.untilAt;
  }

  /** Resolves to why it failed, or `null`. */
  async #renew(need: Need): Promise<Refusal | null> {
    const { clock, say } = this.#parts;
    const { name } = need;
    try {
      this.#notes.begin(name, clock.now());
    } catch (cause) {
      return this.#refused(need, ofTheDisk(cause, "all"));
    }
    const key = makeKey();
    const outcome = await this.#order(need, key);
    const refusal = outcome.kind === "refused" ? outcome : this.#keep(name, key, outcome.chain);
    if (refusal !== null && this.#isStopped) {
      this.#notes.forget(name); // this server stopped it; the authority did not refuse it
      return null;
    }
    if (refusal !== null) return this.#refused(need, refusal);
    this.#notes.forget(name);
    this.#failuresOfAll = 0;
    this.#isReloadDue = true;
    // A new certificate that is already due for renewal, as with a wrong clock, counts as a failed attempt.
    this.#count(name, null);
    this.#state(name).isTold = true;
    say(issuedText(name, this.#parts.folder.certificateOf(name)!));
    return null;
  }

  #keep(name: string, key: string, chain: string): Refusal | null {
    const because = whyNotUsed(chain, key, name);
    if (because !== null) return { kind: "refused", because, retryAfterMs: null, concerns: "name" };
    try {
      this.#parts.folder.keep(name, key, chain);
      return null;
    } catch (cause) {
      return ofTheDisk(cause, "name");
    }
  }

  /** Tries one challenge after the other, until the authority itself refuses the name. */
  async #order({ name, old }: Need, key: string): Promise<OrderOutcome> {
    const { authority, challenged, types } = this.#parts;
    const replaces = old && certificateId(old.chain);
    const refusals: Refusal[] = [];
    for (const type of types) {
      const outcome = await authority.order({ name, key, type, replaces }, challenged);
      if (outcome.kind === "issued" || outcome.concerns === "all" || this.#isStopped) return outcome;
      refusals.push(outcome);
    }
    return { ...refusals[0]!, because: refusals.map(({ because }) => because).join("; ") };
  }

  #refused(need: Need, refusal: Refusal): Refusal {
    const { concerns, retryAfterMs } = refusal;
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
    known.notBeforeAt = clock.now() + pauseAfter(known.attempts, "name", retryAfterMs, random());
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
    if (this.#isReloadDue) this.#isReloadDue = !(await this.#parts.reload());
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
    const fresh: Known = { attempts: 0, notBeforeAt, isTold: false, id: null, window: null, askWindowAt: 0 };
    this.#known.set(name, fresh);
    return fresh;
  }
}

function ofTheDisk(cause: unknown, concerns: Refusal["concerns"]): Refusal {
  return {
    kind: "refused",
    because: `the certificate cannot be written to disk: ${messageOf(cause)}`,
    retryAfterMs: null,
    concerns,
  };
}
