import { type EdgeAnswer, startIsolate } from "../../worker/isolate.ts";
import { startControl } from "../../worker/isolate-control.ts";
import { Counters } from "../../worker/metrics/counters.ts";
import type { Platform } from "../../worker/platform.ts";
import type { Origin } from "../../worker/ports/origin.ts";
import { toWebResponse } from "../../worker/runtime/web-answer.ts";
import { compileSite } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { SharedTier } from "../../worker/store/tiered-store.ts";
import { memoryBodies } from "../engine/memory/memory-bodies.ts";
import { MemoryLog } from "../engine/memory/memory-log.ts";
import { MemoryNotes } from "../engine/memory/memory-notes.ts";
import { MemorySharedTier } from "../engine/memory/memory-shared-tier.ts";
import { BEGINNING, HOST } from "../engine/scenario.ts";
import { Scheduler } from "../engine/scheduler.ts";

/** What of an isolate is not as in every PoP under test. */
export interface IsolateParts extends Partial<Omit<Platform, "sharedTier" | "origin">> {
  readonly site?: Partial<SiteInput>;
  readonly sharedTier?: Partial<SharedTier>;
}

/** Asks an isolate for a page, or posts JSON. Default: `/a` by GET. */
export type Ask = (
  path?: string,
  headers?: Readonly<Record<string, string>>,
  posted?: object,
  method?: "GET" | "HEAD",
) => EdgeAnswer | Promise<EdgeAnswer>;

/** A PoP on virtual time, whose isolates a test starts with parts of its own, and of which it sees what goes on behind. */
export class PopUnderTest {
  readonly scheduler = new Scheduler(1, BEGINNING);
  readonly tier = new MemorySharedTier(this.scheduler, { lostPuts: 0, evictions: 0 });
  readonly log = new MemoryLog(this.scheduler);
  /** The work that isolates do behind their answers. */
  readonly behind: Promise<unknown>[] = [];
  readonly #notes = new MemoryNotes(this.scheduler);

  /** Starts an isolate in front of an origin. */
  start(origin: Origin, { site, sharedTier, ...parts }: IsolateParts = {}): Ask {
    const { tier } = this;
    const isolate = startIsolate(compileSite({ origin: origin.url, hosts: [HOST], ...site }, {}), {
      clock: this.scheduler,
      random: () => 0.5,
      sharedTier: {
        get: (key) => tier.get(key),
        put: (stored) => tier.put(stored),
        delete: (key) => tier.delete(key),
        getBody: (bodyKey, part) => tier.getBody(bodyKey, part),
        putBody: (bodyKey, body) => tier.putBody(bodyKey, body),
        ...sharedTier,
      },
      notes: this.#notes,
      origin,
      log: this.log,
      audit: this.log,
      bodies: memoryBodies,
      control: (...of) => startControl(...of, ({ request }) => request as Request),
      fingerprint: async (text) => text,
      tokens: { check: async () => ({ kind: "refused", because: "no-tokens" }) },
      reporter: new Counters(origin.url, () => undefined),
      ...parts,
    });
    const background = { run: (work: Promise<unknown>) => void this.behind.push(work) };
    return (path = "/a", headers = {}, posted = undefined, method = "GET") => {
      const url = `http://${HOST}${path}`;
      const request = new Request(url, {
        method,
        headers,
        ...(posted && { method: "POST", body: JSON.stringify(posted) }),
      });
      return isolate.fetch({ request, url, background, clientAddress: null });
    };
  }

  /** Waits for an answer's head. */
  async head(asked: ReturnType<Ask>): Promise<Response> {
    return toWebResponse(await this.scheduler.settle(Promise.resolve(asked)));
  }

  /** Reads an answer's body to its end. */
  text(answer: Response): Promise<string> {
    return this.scheduler.settle(answer.text());
  }

  /** Waits for the work behind the answers, and for what that has begun. */
  async finish(): Promise<void> {
    while (this.behind.length > 0) await this.scheduler.settle(Promise.all(this.behind.splice(0)));
  }
}
