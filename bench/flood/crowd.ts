import { setTimeout as wait } from "node:timers/promises";
import { Agent, request } from "undici";
import { LatencyHistogram } from "../frame/latency-histogram.ts";

/** The longest time that a visitor waits for a page. */
const PATIENCE_MS = 10_000;
/** The time after which all who have asked have their page, or have given up. */
export const LAST_ANSWERS_MS = PATIENCE_MS + 1000;
/** The time in which a client's code is compiled. */
export const PRACTICE_MS = 5000;
/** The most simultaneous requests of the flood. */
const MOST_UNDER_WAY = 3000;

const connections = new Agent({ keepAliveTimeout: 30_000 });

/** Clients whose pages are counted: pages that the cache should have, and others. */
export class Crowd {
  readonly hits = new LatencyHistogram();
  readonly misses = new LatencyHistogram();
  asked = 0;
  #underWay = 0;

  /** The share of answered pages, among those that the cache need not have. */
  get partServed(): number {
    return this.misses.count / Math.max(1, this.asked);
  }

  /** Requests a page for a client. Resolves to the cookie that it gets; never rejects. */
  async ask(url: URL, address: string, { cookie = "", isHit = false } = {}): Promise<string> {
    if (this.#underWay >= MOST_UNDER_WAY) return "";
    this.#underWay++;
    if (!isHit) this.asked++;
    const startedAt = performance.now();
    try {
      const headers = { "x-forwarded-for": address, ...(cookie && { cookie }) };
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const answer = await request(url, { dispatcher: connections, headers, signal });
      await answer.body.dump();
      if (answer.statusCode === 200) (isHit ? this.hits : this.misses).addSince(startedAt);
      return String(answer.headers["set-cookie"] ?? "").split(";", 1)[0]!;
    } catch {
      return "";
    } finally {
      this.#underWay--;
    }
  }
}

/**
 * Starts a piece of work at a steady rate, whether or not the previous one has ended, until the signal. Clients that know
 * nothing of each other seldom come at once, so the pieces come one by one.
 */
export async function paced(timesASecond: number, signal: AbortSignal, act: () => void): Promise<void> {
  const startedAt = performance.now();
  for (let done = 0; !signal.aborted; ) {
    for (const due = ((performance.now() - startedAt) / 1000) * timesASecond; done < due; done++) act();
    await wait(1);
  }
}
