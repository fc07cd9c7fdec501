import type { SetSession } from "../../ports/origin-news.ts";
import { networkOf } from "../../rules/forwarding/trusted-proxies.ts";
import { fnvHash } from "../../rules/hashing/fnv-hash.ts";
import { cookiesIn } from "../../rules/identity/cookies.ts";
import { SETTLED_MS } from "../../rules/queueing/client-class.ts";
import type { RecentCounts } from "./recent-counts.ts";

/** Nobody guesses a value of so many characters. */
const LEAST_VALUE = 16;
/** A session is known for at least so long after its last use, and for at most twice as long: milliseconds. */
const KEPT_MS = 86_400_000;
/** The latest sessions of each kind are known: at least so many, and at most twice as many. */
const KEPT = 1 << 14;
/** So many new ones a network may get lately; further ones count for nothing. */
const MOST_OF_A_NETWORK = 4;

/** A session that the edge saw the origin set. */
export interface KnownSession {
  /** When it was set first: epoch milliseconds. */
  readonly setAt: number;
  /** A hash of the network that it was set for; `null` once it was set for another, too, so that it is nobody's own. */
  network: number | null;
  /** The same for all cookies that one session has had. */
  readonly name: string;
}

/** A cookie with which an answer sets a session. */
interface SetCookie {
  /** `name=value`. */
  readonly cookie: string;
  /** The cookie of the same name that the request had; `null` for none. */
  readonly replaces: string | null;
  readonly clientAddress: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * The sessions that the edge saw the origin set, by keyed hashes of their cookies. A cookie that somebody invented is
 * not among them. A session that was used ten minutes after it was set makes no room for newer ones.
 */
export class KnownSessions {
  readonly #secret: string;
  readonly #counts: RecentCounts;
  readonly #fresh = new UsedLately();
  readonly #settled = new UsedLately();

  constructor(secret: string, counts: RecentCounts) {
    this.#secret = secret;
    this.#counts = counts;
  }

  /** The oldest known session of a request; `null` for none. */
  find(cookieField: string | null, now: number): KnownSession | null {
    let oldest: KnownSession | null = null;
    for (const pair of pairsOf(cookieField)) {
      const session = this.#use(this.#markOf(pair), now);
      if (session !== null && (oldest === null || session.setAt < oldest.setAt)) oldest = session;
    }
    return oldest;
  }

  /** A session as those may know it who have the same secret. */
  hashed({ cookie, replaces, clientAddress, at }: SetCookie): SetSession {
    const network = this.#markOf(networkOf(clientAddress));
    return { mark: this.#markOf(cookie), replaces: replaces === null ? null : this.#markOf(replaces), network, at };
  }

  /** Notes that the origin has set a cookie for a client. Returns whether that is worth knowing. */
  note({ mark, replaces, network, at }: SetSession): boolean {
    const same = this.#find(mark, at);
    if (same !== undefined) {
      const isAnother = same.network !== null && same.network !== network;
      if (isAnother) same.network = null;
      return isAnother;
    }
    const replaced = replaces && this.#use(replaces, at);
    if (!replaced && this.#counts.count(`sets ${network}`, at) > MOST_OF_A_NETWORK) return false;
    this.#keep(mark, replaced ? { ...replaced, network } : { setAt: at, network, name: `${mark}` }, at);
    return true;
  }

  #use(mark: number, now: number): KnownSession | null {
    const session = this.#find(mark, now);
    if (session === undefined || session.network === null) return null;
    this.#keep(mark, session, now);
    return session;
  }

  #find(mark: number, now: number): KnownSession | undefined {
    return this.#settled.get(mark, now) ?? this.#fresh.get(mark, now);
  }

  #keep(mark: number, session: KnownSession, now: number): void {
    const kept = now - session.setAt >= SETTLED_MS ? this.#settled : this.#fresh;
    kept.set(mark, session, now);
  }

  /** 53 bits, as many as a number has. */
  #markOf(pair: string): number {
    const high = fnvHash(`${this.#secret}${pair}`) >>> 0;
    const low = fnvHash(`${pair}${this.#secret}`) >>> 11;
    return high * 2 ** 21 + low;
  }
}

/** Sessions in two generations: a session that is not used during one generation is forgotten with it. */
class UsedLately {
  #now = new Map<number, KnownSession>();
  #before = new Map<number, KnownSession>();
  #begunAt = 0;

  get(mark: number, now: number): KnownSession | undefined {
    this.#age(now);
    return this.#now.get(mark) ?? this.#before.get(mark);
  }

  set(mark: number, session: KnownSession, now: number): void {
    this.#age(now);
    this.#now.set(mark, session);
  }

  #age(now: number): void {
    if (now - this.#begunAt < KEPT_MS && this.#now.size < KEPT) return;
    this.#before = now - this.#begunAt < 2 * KEPT_MS ? this.#now : new Map();
    this.#now = new Map();
    this.#begunAt = now;
  }
}

/**
 * The sessions that an answer sets for its client: not those that the request has already, because anybody may have
 * invented their values. A line sets one cookie, which is read up to a comma, as those of a request are. RFC 6265 §4.1.
 */
export function sessionsSetBy(
  setCookie: readonly string[],
  { cookieField, clientAddress, at }: { cookieField: string | null; clientAddress: string; at: number },
): readonly SetCookie[] {
  const pairs = pairsOf(cookieField);
  const sent = new Set(pairs);
  const firstOf = new Map(pairs.toReversed().map((pair) => [nameOf(pair), pair]));
  return setCookie
    .flatMap((field) => pairsOf(field.split(/[;,]/, 1)[0]!))
    .filter((cookie) => !sent.has(cookie))
    .map((cookie) => ({ cookie, replaces: firstOf.get(nameOf(cookie)) ?? null, clientAddress, at }));
}

function nameOf(pair: string): string {
  return pair.split("=", 1)[0]!;
}

/** The cookies with a value that nobody can guess, each as `name=value`. */
function pairsOf(cookieField: string | null): readonly string[] {
  return cookiesIn(cookieField)
    .filter(([name, value]) => name !== "" && value.length >= LEAST_VALUE)
    .map((cookie) => cookie.join("="));
}
