import type { OriginTalk } from "../../ports/origin-news.ts";
import { networkOf } from "../../rules/forwarding/trusted-proxies.ts";
import { type Standing, standingOf } from "../../rules/queueing/client-class.ts";
import { KnownSessions, sessionsSetBy } from "./known-sessions.ts";
import { RecentCounts } from "./recent-counts.ts";

/** The client of a request that needs the origin, as far as that decides its turn. */
export interface Client {
  /** `null` where it is not known. */
  readonly address: string | null;
  /** Its `Cookie` field; `null` for none. */
  readonly cookieField: string | null;
  readonly isRefresh: boolean;
  /** Whether it has a receipt of this site's log. */
  readonly hasReceipt: boolean;
}

/** What is known of the clients that need the origin: how much they have had of it lately, and which were there before. */
export class ClientStandings {
  readonly #misses: RecentCounts;
  readonly #sessions: KnownSessions;
  readonly #talk: OriginTalk | undefined;

  /** `talk`: to isolates that ask the same origin. Default: there are none. */
  constructor(random: () => number, talk: OriginTalk | undefined) {
    const secret = talk?.secret ?? `${random()}${random()}`;
    this.#misses = new RecentCounts(secret);
    this.#sessions = new KnownSessions(secret, this.#misses);
    this.#talk = talk;
    if (talk) talk.onSession = (session) => void this.#sessions.note(session);
  }

  /**
   * Where one more request of a client stands among those that wait. `take`: counts it, or tells where it would stand. Where
   * the client's address is not known, all are equal.
   */
  standingOf(
    { address, cookieField, isRefresh, hasReceipt }: Client,
    now: number,
    queueSince: number,
    take: "count" | "withOneMore",
  ): Standing {
    const countOf = (key: string) => this.#misses[take](key, now);
    const session = this.#sessions.find(cookieField, now);
    const evidence = {
      isRefresh,
      withReceipts: hasReceipt ? countOf("receipts") : null,
      session: session && { setAt: session.setAt, misses: countOf(`session ${session.name}`) },
      ofNetwork: address === null ? 0 : countOf(`network ${networkOf(address)}`),
    };
    return standingOf(evidence, queueSince);
  }

  /** Notes the sessions that an answer sets for its client. Without an address nobody knows whose they are. */
  noteSessions(setCookie: readonly string[], { address, cookieField }: Client, now: number): void {
    if (address === null) return;
    for (const set of sessionsSetBy(setCookie, { cookieField, clientAddress: address, at: now })) {
      const session = this.#sessions.hashed(set);
      if (this.#sessions.note(session)) this.#talk?.tellSession(session);
    }
  }
}
