import type { SiteInput } from "../../worker/site/site-input.ts";

/** The message that is sent to `/_scenario` before the first request of a scenario, and again to a new isolate. */
export interface Beginning {
  /** The site's rules. Without them, the edge of the last scenario keeps running. */
  readonly site?: SiteInput;
  /** A name for the purge log, which no other scenario uses. */
  readonly log: string;
}
