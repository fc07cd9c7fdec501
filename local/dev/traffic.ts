import { counted } from "../../wire/text/numbers.ts";
import type { TrafficCounts } from "./traffic-report.ts";

/** The requests and purges that the edges of the dev command have seen since they started. */
export class Traffic {
  #requests = 0;
  #hits = 0;
  #askedOrigin = 0;
  #purges = 0;

  add({ requests, hits, askedOrigin, purges }: TrafficCounts): void {
    this.#requests += requests;
    this.#hits += hits;
    this.#askedOrigin += askedOrigin;
    this.#purges += purges;
  }

  /** `12 requests: 9 hits (75 %), 3 waited for the origin. 1 purge.` */
  get summary(): string {
    const purges = this.#purges === 0 ? "" : ` ${counted(this.#purges, "purge")}.`;
    if (this.#requests === 0) return `No requests.${purges}`;
    const share = Math.round((this.#hits / this.#requests) * 100);
    const hits = `${counted(this.#hits, "hit")} (${share} %)`;
    return `${counted(this.#requests, "request")}: ${hits}, ${this.#askedOrigin} waited for the origin.${purges}`;
  }
}
