import type { Origin, OriginAnswer, OriginFailure, OriginRequest } from "../../worker/ports/origin.ts";
import { codeOrMessageOf } from "../message-of.ts";
import { AnswerDeadline } from "./answer-deadline.ts";
import type { OriginAddress } from "./origin-address.ts";
import { UndiciOrigin, type UndiciOriginOptions } from "./undici-origin.ts";

/** A connection to one of several addresses takes at most this long, because the next one may answer. Milliseconds. */
const CONNECT_TIMEOUT_MS = 3_000;

/** An address that could not be connected to comes after the others for this long. Milliseconds. */
const AVOIDED_MS = 10_000;

/** When an address failed that works, as far as is known. */
const NEVER = Number.NEGATIVE_INFINITY;

/** An origin that is asked at one address, or at several. */
export interface OriginAtAddress extends Origin {
  close(): Promise<void>;
}

type OriginAtOne = Pick<UndiciOrigin, "url" | "timeoutMs" | "fetchBefore" | "close">;

interface Address {
  readonly origin: OriginAtOne;
  failedAt: number;
}

/** An origin with several addresses: if a connection to one fails, the next is tried. */
export class SeveralAddresses implements OriginAtAddress {
  readonly url: string;
  readonly #timeoutMs: number;
  readonly #addresses: readonly Address[];
  readonly #now: () => number;
  readonly #say: (line: string) => void;

  /** In the order in which they are tried. `now`: epoch milliseconds. `say` gets a line for the owner's log. */
  constructor(origins: readonly [OriginAtOne, ...OriginAtOne[]], now: () => number, say: (line: string) => void) {
    this.url = origins[0].url;
    this.#timeoutMs = origins[0].timeoutMs;
    this.#addresses = origins.map((origin) => ({ origin, failedAt: NEVER }));
    this.#now = now;
    this.#say = say;
  }

  async fetch(request: OriginRequest): Promise<OriginAnswer> {
    const deadline = new AnswerDeadline(this.#timeoutMs);
    const [first, ...others] = this.#inOrder();
    let answer = await this.#fetchAt(first!, deadline, request);
    for (const next of others) {
      if (answer.kind !== "failed" || !mayBeRepeated(request, answer)) break;
      answer = await this.#fetchAt(next, deadline, request);
    }
    deadline.end();
    return answer;
  }

  async close(): Promise<void> {
    await Promise.all(this.#addresses.map(({ origin }) => origin.close()));
  }

  async #fetchAt(address: Address, deadline: AnswerDeadline, request: OriginRequest): Promise<OriginAnswer> {
    // Of an address that has failed, one request finds out whether it still does: the others go on to avoid it.
    const isTrial = address.failedAt !== NEVER;
    if (isTrial) address.failedAt = this.#now();
    const answer = await address.origin.fetchBefore(deadline, request);
    if (answer.kind === "failed") {
      if (!answer.saysNothing && answer.wasNeverSent) this.#fails(address, answer.cause);
    } else if (isTrial) this.#works(address);
    return answer;
  }

  #fails(address: Address, cause: unknown): void {
    if (address.failedAt === NEVER) {
      const why = codeOrMessageOf(cause);
      this.#say(`the origin's address ${address.origin.url} takes no connection (${why}), so others are asked first`);
    }
    address.failedAt = this.#now();
  }

  #works(address: Address): void {
    if (address.failedAt !== NEVER) this.#say(`the origin's address ${address.origin.url} answers again`);
    address.failedAt = NEVER;
  }

  #inOrder(): readonly Address[] {
    const now = this.#now();
    // A failure far ahead is one from before the clock was set back.
    const isAvoided = ({ failedAt }: Address) => Number(Math.abs(now - failedAt) < AVOIDED_MS);
    return this.#addresses.toSorted((a, b) => isAvoided(a) - isAvoided(b));
  }
}

/** An origin with several addresses, in the order in which they are tried. All get the first one's name in `Host`. */
export function connectToSeveral(
  [first, ...others]: readonly [OriginAddress, ...OriginAddress[]],
  options: Omit<UndiciOriginOptions, "address">,
  now: () => number,
  say: (line: string) => void,
): SeveralAddresses {
  const connectTimeoutMs = Math.min(CONNECT_TIMEOUT_MS, Math.ceil(options.timeoutMs / (1 + others.length)));
  const ofEach = { ...options, connectTimeoutMs };
  const { host } = new URL(first.url);
  const next = others.map((address) => new UndiciOrigin({ address, host, ...ofEach }));
  return new SeveralAddresses([new UndiciOrigin({ address: first, ...ofEach }), ...next], now, say);
}

/**
 * Whether a request may be sent to another address: if no byte of it was sent, or if it is a GET or HEAD without a body whose
 * connection broke before an answer. RFC 9110 §9.2.2.
 */
function mayBeRepeated({ method, body }: OriginRequest, { because, wasNeverSent }: OriginFailure): boolean {
  if (wasNeverSent) return true;
  return because === "unreachable" && body === null && (method === "GET" || method === "HEAD");
}
