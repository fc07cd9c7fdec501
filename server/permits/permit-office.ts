import { Mail } from "../supervisor/mail.ts";
import type { ServedWorker, WorkerService } from "../supervisor/process-line.ts";
import { type Holder, PermitLedger } from "./permit-ledger.ts";
import { ASKS_FOR_PERMITS, isPermitMessage, type PermitMessage, type PermitNews } from "./permit-messages.ts";

/** The permits of all sites on this machine, as the supervisor gives them out to its workers. */
export class PermitOffice implements WorkerService {
  readonly #ledgers = new Map<string, PermitLedger>();
  #predecessor: Holder | null = null;

  connect(): ServedWorker {
    const mail = new Mail<PermitNews>();
    // Others may wait thousands of times while a worker hangs, and it has to know only whether they do now.
    const holder: Holder = {
      tell: (news) => mail.tell(news, ({ site, granted }) => granted === 0 && site === news.site),
    };
    let hasEnded = false; // what a process has sent may come after word of its end
    return {
      ask: (question) => (question === ASKS_FOR_PERMITS ? mail.next() : Promise.resolve(undefined)),
      tell: (message) => {
        if (isPermitMessage(message) && !hasEnded) this.#ledgerOf(message.site).take(holder, message);
      },
      close: () => {
        hasEnded = true;
        for (const ledger of this.#ledgers.values()) ledger.leave(holder);
      },
    };
  }

  /**
   * A successor gives out the permits from now on: it knows the returned ones, by site, as those of this server's workers.
   * `tell` reaches it.
   */
  giveAway(tell: (message: PermitMessage) => void): Readonly<Record<string, number>> {
    const held = Object.fromEntries([...this.#ledgers].map(([site, ledger]) => [site, ledger.held]));
    // The requests that wait are reported after the successor has begun.
    queueMicrotask(() => {
      for (const ledger of this.#ledgers.values()) ledger.follow(tell);
    });
    return held;
  }

  /** News of the successor. */
  hear(news: PermitNews): void {
    this.#ledgers.get(news.site)?.hear(news);
  }

  /** The successor is gone. */
  takeBack(): void {
    for (const ledger of this.#ledgers.values()) ledger.lead();
  }

  /** Takes over from a predecessor, whose workers hold so many. `tell` reaches it. */
  follow(held: Readonly<Record<string, number>>, tell: (news: PermitNews) => void): void {
    this.#predecessor = { tell };
    for (const [site, count] of Object.entries(held)) this.#ledgerOf(site).adopt(this.#predecessor, count);
  }

  /** What the predecessor says. */
  takeOfPredecessor(message: PermitMessage): void {
    if (this.#predecessor) this.#ledgerOf(message.site).take(this.#predecessor, message);
  }

  /** It has ended, and its workers with it. */
  predecessorEnded(): void {
    if (this.#predecessor) for (const ledger of this.#ledgers.values()) ledger.leave(this.#predecessor);
    this.#predecessor = null;
  }

  #ledgerOf(site: string): PermitLedger {
    let ledger = this.#ledgers.get(site);
    if (ledger === undefined) {
      ledger = new PermitLedger(site);
      this.#ledgers.set(site, ledger);
    }
    return ledger;
  }
}
