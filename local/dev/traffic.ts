import { counted } from "../../wire/text/numbers.ts";
import { NOTHING, sum, type TrafficCounts } from "./traffic-report.ts";

/** The requests and purges that the edges of the dev command have seen since they started. */
export class Traffic {
  #seen = NOTHING;

  add(counts: TrafficCounts): void {
    this.#seen = sum(this.#seen, counts);
  }

  /** `12 requests: 9 hits (75 %), 3 waited for the origin. 1 purge.` */
  get summary(): string {
    const { requests, hits, askedOrigin, purges } = this.#seen;
    const purged = purges === 0 ? "" : ` ${counted(purges, "purge")}.`;
    if (requests === 0) return `No requests.${purged}`;
    const share = Math.round((hits / requests) * 100);
    return `${counted(requests, "request")}: ${counted(hits, "hit")} (${share} %), ${askedOrigin} waited for the origin.${purged}`;
  }
}
