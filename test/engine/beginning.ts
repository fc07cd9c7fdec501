import type { SiteInput } from "../../worker/site/site-input.ts";

/** The message that is sent to `/_scenario` before the first request of a scenario. The answer is a `Found`. */
export interface Beginning {
  /** The site's rules. Without them, the edge of the last scenario keeps running. */
  readonly site?: SiteInput;
  /** A name for the purge log, which no other scenario uses. */
  readonly log: string;
  /** Where its clock begins: epoch milliseconds. */
  readonly now: number;
}

/** What a new edge tells of its log and its counters, which are empty unless something of another scenario is left. */
export interface Found {
  /** The answer of `GET purges`. */
  readonly purges: unknown;
  /** The answer of `GET stats` about the isolate. */
  readonly stats: { readonly startedAt: string };
}

/** By which field the client of a scenario in the runtime says where the platform sees it. */
export const COUNTRY_FIELD = "x-scenario-country";
/** By which field it says from which address the platform sees it come. */
export const ADDRESS_FIELD = "x-scenario-address";
/** The address of a client that does not say. */
export const CLIENT_ADDRESS = "192.0.2.7";
