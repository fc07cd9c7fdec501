import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import type { Fate } from "../fate.ts";
import type { Reader } from "./late-log.ts";

/** A message that nobody answers is given up after this time: milliseconds. */
const GIVEN_UP_MS = 30_000;

/** What a connection leads to: the log's object. */
interface FarEnd {
  isSilent(): boolean;
  /** Whether another object has taken its place. */
  isReplaced(): boolean;
  /** A call and its reply, which may be late or lost. */
  call<T>(work: () => T): Promise<T>;
}

/** The line of one connection, which is late both ways and may be cut without either side being told. */
export class LateLine {
  readonly #fate: Fate;
  readonly #reader: Reader;
  readonly #learn: (delta: ViewDelta) => Promise<boolean>;
  readonly #far: FarEnd;
  #isCut = false;

  constructor(fate: Fate, reader: Reader, learn: (delta: ViewDelta) => Promise<boolean>, far: FarEnd) {
    this.#fate = fate;
    this.#reader = reader;
    this.#learn = learn;
    this.#far = far;
  }

  async call<T>(work: () => T): Promise<T> {
    const fate = this.#fate;
    if (fate.now() < this.#reader.cutOffUntil) throw new Error("cut off");
    if (this.#far.isReplaced()) throw new Error("the object has been replaced");
    if (this.#isCut || this.#reader.isDead) await fate.scheduler.wait(GIVEN_UP_MS).over;
    const reply = await this.#far.call(work);
    if (this.#reader.isDead) throw new Error("nobody hears the reply");
    if (fate.now() < (this.#reader.unheardUntil ?? 0)) throw new Error("the reply is lost");
    return reply;
  }

  async push(delta: ViewDelta): Promise<boolean> {
    const fate = this.#fate;
    await fate.onTheWay(fate.pick([50, 50, 50, 600]));
    this.#isCut ||= fate.happens("connections that were cut without notice", 0.15);
    if (this.#isLost) {
      fate.count("lost pushes");
      if (fate.chance(0.5)) await fate.scheduler.wait(GIVEN_UP_MS).over;
      throw new Error("lost");
    }
    if (fate.happens("repeated pushes", 0.1)) void fate.delay(1500).then(() => this.#learn(delta));
    const hasReached = await this.#learn(delta);
    await fate.onTheWay(fate.pick([50, 50, 600]));
    if (fate.happens("lost confirmations", 0.05)) throw new Error("lost");
    return hasReached;
  }

  async release(release: () => void): Promise<void> {
    const fate = this.#fate;
    this.#reader.doubtAt = fate.now();
    if (this.#reader.isDead) return;
    // What has been sent before a cut may still arrive.
    if (this.#isCut || this.#far.isSilent() || fate.now() < this.#reader.cutOffUntil) throw new Error("lost");
    await fate.delay(fate.pick([50, 800, 800]));
    fate.count("leases that were given up");
    release();
  }

  get #isLost(): boolean {
    const { isDead, cutOffUntil, unheardUntil = 0 } = this.#reader;
    const now = this.#fate.now();
    return this.#isCut || isDead || this.#far.isSilent() || now < cutOffUntil || now < unheardUntil;
  }
}
