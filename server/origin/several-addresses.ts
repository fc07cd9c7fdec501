import type { Origin, OriginAnswer, OriginFailure, OriginRequest } from "../../worker/ports/origin.ts";
import { codeOrMessageOf } from "../message-of.ts";
import { AnswerDeadline } from "./answer-deadline.ts";
import { FailedAddresses } from "./failed-addresses.ts";
import type { OriginAddress } from "./origin-address.ts";
import { UndiciOrigin, type UndiciOriginOptions } from "./undici-origin.ts";

/** A connection to one of several addresses takes at most this long, because the next one may answer. Milliseconds. */
const CONNECT_TIMEOUT_MS = 3_000;

/** An origin that is asked at one address, or at several. */
export interface OriginAtAddress extends Origin {
  close(): Promise<void>;
}

type OriginAtOne = Pick<UndiciOrigin, "url" | "timeoutMs" | "fetchBefore" | "close">;

interface Address {
  readonly origin: OriginAtOne;
  /** What ends the wait of each request there that may be sent to another address. */
  readonly waiting: Set<() => void>;
}

/** An origin with several addresses: if a connection to one fails, the next is tried. */
export class SeveralAddresses implements OriginAtAddress {
  readonly url: string;
  readonly #timeoutMs: number;
  readonly #addresses: readonly Address[];
  readonly #failed: FailedAddresses;

  /** In the order in which they are tried. `now`: epoch milliseconds. `say` gets a line for the owner's log. */
  constructor(origins: readonly [OriginAtOne, ...OriginAtOne[]], now: () => number, say: (line: string) => void) {
    this.url = origins[0].url;
    this.#timeoutMs = origins[0].timeoutMs;
    this.#addresses = origins.map((origin) => ({ origin, waiting: new Set() }));
    this.#failed = new FailedAddresses(now, say);
  }

  async fetch(request: OriginRequest): Promise<OriginAnswer> {
    const deadline = new AnswerDeadline(this.#timeoutMs);
    const [first, ...others] = this.#failed.inOrder(this.#addresses, ({ origin }) => origin.url);
    let answer = await this.#fetchAt(first!, deadline, request);
    for (const next of others) {
      if (answer.kind !== "failed" || !mayBeRepeated(request, answer, deadline)) break;
      answer = await this.#fetchAt(next, deadline, request);
    }
    deadline.end();
    return answer;
  }

  async close(): Promise<void> {
    await Promise.all(this.#addresses.map(({ origin }) => origin.close()));
  }

  async #fetchAt(address: Address, deadline: AnswerDeadline, request: OriginRequest): Promise<OriginAnswer> {
    const isTrial = this.#failed.isTrial(address.origin.url);
    const giveUp = () => deadline.onPassed();
    if (isRepeatable(request)) address.waiting.add(giveUp);
    const answer = await address.origin.fetchBefore(deadline, request);
    address.waiting.delete(giveUp);
    if (answer.kind === "failed") {
      if (!answer.saysNothing && answer.wasNeverSent) this.#fails(address, answer);
    } else if (isTrial) this.#failed.works(address.origin.url);
    return answer;
  }

  #fails(address: Address, { because, cause }: OriginFailure): void {
    const why = codeOrMessageOf(cause);
    this.#failed.fails(address.origin.url, why);
    // A machine that is gone answers nothing more; one that refuses a connection may go on with those that it has.
    if (because === "timed-out" || why === "EHOSTUNREACH") for (const giveUp of address.waiting) giveUp();
  }
}

/** An origin with several addresses, in the order in which they are tried. All get the first one's name in `Host`. */
export function connectToSeveral(
  [first, ...others]: readonly [OriginAddress, ...OriginAddress[]],
  options: Omit<UndiciOriginOptions, "address" | "say">,
  now: () => number,
  say: (line: string) => void,
): SeveralAddresses {
  const connectTimeoutMs = Math.min(CONNECT_TIMEOUT_MS, Math.ceil(options.timeoutMs / (1 + others.length)));
  const ofEach = { ...options, connectTimeoutMs, say };
  const { host } = new URL(first.url);
  const next = others.map((address) => new UndiciOrigin({ address, host, ...ofEach }));
  return new SeveralAddresses([new UndiciOrigin({ address: first, ...ofEach }), ...next], now, say);
}

/**
 * Whether a request may be sent to another address: if no byte of it was sent, or if it may be repeated and got no answer,
 * because its connection broke or its wait was given up.
 */
function mayBeRepeated(request: OriginRequest, failure: OriginFailure, { hasPassed }: AnswerDeadline): boolean {
  if (failure.wasNeverSent) return true;
  return failure.because !== "bad-response" && isRepeatable(request) && !hasPassed;
}

/** RFC 9110 §9.2.2. */
function isRepeatable({ method, body }: OriginRequest): boolean {
  return body === null && (method === "GET" || method === "HEAD");
}
