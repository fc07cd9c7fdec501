import type { SiteInput } from "../../worker/site/site-input.ts";

/** What is sent to `/_scenario` before the first request of a scenario, and again to a new isolate. */
export interface Beginning {
  /** Left out, the edge of the scenario before goes on. */
  readonly site?: SiteInput;
  /** A name that no other scenario's purge log has. */
  readonly log: string;
}
