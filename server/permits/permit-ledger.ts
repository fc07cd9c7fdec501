import { compareTurns, nextInLine, type Waiting } from "../../worker/rules/queueing/queue-order.ts";
import { AFTER_ALL, type PermitMessage, type PermitNews, placeOf } from "./permit-messages.ts";

/** A holder of permits: a worker, or the server before this one with all of its workers. */
export interface Holder {
  tell(news: PermitNews): void;
}

interface Account {
  /** Its permits, used or not. */
  held: number;
  readonly waiting: Waiting[];
  /** The most permits of all holders by the settings that it joined with; `null` if it has not joined. */
  limit: number | null;
  /** The permits that it gets beyond those that its requests wait for, if nobody else waits. */
  block: number;
  /** The message that it got last. */
  isShort: boolean;
  /** Permits that it owns and has not been told of yet. */
  granted: number;
  /** Its requests that have their turn by those. */
  turns: Waiting[];
}

/**
 * The permits of one site on this machine. The holders' permits never add up to more than the limit: a permit belongs to
 * one holder until that has given it back, or has ended.
 */
export class PermitLedger {
  readonly #site: string;
  readonly #accounts = new Map<Holder, Account>();
  #limit = 0;
  /** How many requests have had their turn. */
  #turns = 0;
  /** Gets what is told from here on to those who give out the permits of this ledger in its turn. */
  #upstream: ((message: PermitMessage) => void) | null = null;

  constructor(site: string) {
    this.#site = site;
  }

  /** The permits of all holders. */
  get held(): number {
    let held = 0;
    for (const account of this.#accounts.values()) held += account.held;
    return held;
  }

  take(from: Holder, message: PermitMessage): void {
    const account = this.#accountOf(from);
    switch (message.kind) {
      case "joins":
        account.limit = message.limit;
        if (this.#upstream) return; // its workers are about to end
        this.#limit = message.limit;
        account.block = Math.ceil(message.share / 2);
        grant(account, Math.min(message.share, Math.max(0, this.#free)));
        break;
      case "waits":
        account.waiting.push(placeOf(message));
        this.#upstream?.(message);
        break;
      case "leaves":
        if (this.#forget(account, placeOf(message))) this.#upstream?.(message);
        break;
      case "returns":
        account.held -= message.count;
        if (this.#upstream) this.#giveBack(message.count);
        break;
    }
    this.#deal();
  }

  /** A holder has ended, and with it what it had at the origin. */
  leave(holder: Holder): void {
    const account = this.#accounts.get(holder);
    if (account === undefined) return;
    this.#accounts.delete(holder);
    // A worker with new settings may have failed, and the old ones stay in use.
    if (!this.#upstream) this.#limit = this.#latestLimit ?? this.#limit;
    for (const place of account.waiting) this.#upstream?.({ kind: "leaves", site: this.#site, ...place });
    this.#deal();
  }

  /** The holder has so many from before this ledger began. Its requests share them until a worker joins. */
  adopt(holder: Holder, held: number): void {
    this.#accountOf(holder).held = held;
    this.#limit = Math.max(this.#limit, held);
  }

  /** Another ledger gives out the permits from now on, and knows those that are `held` here as this one's. */
  follow(upstream: (message: PermitMessage) => void): void {
    this.#limit = this.held;
    this.#upstream = upstream;
    for (const { waiting } of this.#accounts.values()) {
      for (const place of waiting) upstream({ kind: "waits", site: this.#site, ...place });
    }
    this.#tell();
  }

  /** News of the ledger that this one follows. What that has sent may come after word of its end. */
  hear({ granted }: PermitNews): void {
    if (!this.#upstream) return;
    this.#limit += granted;
    this.#deal();
  }

  /** The other ledger is gone: this one gives out the permits again. */
  lead(): void {
    this.#upstream = null;
    this.#limit = this.#latestLimit ?? 0;
    this.#deal();
  }

  /** By the settings of the holder that joined last. */
  get #latestLimit(): number | null {
    return [...this.#accounts.values()].reduce<number | null>((latest, { limit }) => limit ?? latest, null);
  }

  get #free(): number {
    return this.#limit - this.held;
  }

  #accountOf(holder: Holder): Account {
    let account = this.#accounts.get(holder);
    if (account === undefined) {
      account = { held: 0, waiting: [], limit: null, block: 0, isShort: false, granted: 0, turns: [] };
      this.#accounts.set(holder, account);
    }
    return account;
  }

  /** Gives what is free to those whose turn it is, and a block more to them if nobody else waits. */
  #deal(): void {
    const served = new Set<Account>();
    while (this.#free > 0) {
      const next = nextInLine(this.#requests(), this.#turns);
      if (next === undefined) break;
      this.#turns++;
      this.#forget(next.account, next);
      next.account.turns.push(placeOf(next));
      grant(next.account, 1);
      // Work that nobody waits for needs one: workers that do such by turns would take all from each other.
      if (next.since !== AFTER_ALL.since) served.add(next.account);
    }
    for (const account of served) grant(account, Math.min(account.block, Math.max(0, this.#free)));
    if (this.#upstream && this.#free > 0) this.#giveBack(this.#free);
    this.#tell();
  }

  *#requests(): Generator<Waiting & { readonly account: Account }> {
    for (const account of this.#accounts.values()) {
      for (const place of account.waiting) yield { ...place, account };
    }
  }

  #forget(account: Account, place: Waiting): boolean {
    const index = account.waiting.findIndex((each) => compareTurns(each, place) === 0);
    if (index >= 0) account.waiting.splice(index, 1);
    return index >= 0;
  }

  /** Permits that nobody here waits for go to the other ledger. */
  #giveBack(count: number): void {
    this.#limit -= count;
    this.#upstream!({ kind: "returns", site: this.#site, count });
  }

  /** Tells each holder what is new to it. The workers of a server that hands over keep nothing that they do not use. */
  #tell(): void {
    const isShort = this.#upstream !== null || [...this.#accounts.values()].some(({ waiting }) => waiting.length > 0);
    for (const [holder, account] of this.#accounts) {
      const { granted, turns } = account;
      if (granted === 0 && account.isShort === isShort) continue;
      account.isShort = isShort;
      account.granted = 0;
      account.turns = [];
      holder.tell({ site: this.#site, granted, turns, isShort });
    }
  }
}

function grant(account: Account, count: number): void {
  account.held += count;
  account.granted += count;
}
