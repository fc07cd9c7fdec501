import type { Input } from "./input.ts";
import type { Provenance } from "./provenance.ts";
import type { Target } from "./target.ts";

/** A larger body is read, so that a cache stores it, but compared only by its digest. */
export const MAX_TEXT_BYTES = 2 * 1024 ** 2;

/**
 * One request of the audit and its answer. The buster is replaced in body and fields, so that answers can be compared.
 */
export interface Exchange {
  /** The name of an identity, or `stranger`. */
  readonly who: string;
  /**
   * Requests with the same buster have the same URL. The first of them goes past the cache. `null` for the page's URL
   * without one.
   */
  readonly buster: string | null;
  /** How the request differs from a plain one. */
  readonly inputs: readonly Input[];
  readonly status: number;
  /** The lines of each field, by names in lower case. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** The body as text; empty for one that is not text, and for text that is too long. */
  readonly text: string;
  /** True for text above that limit. */
  readonly isTooLong?: true;
  /** A digest of the whole body. */
  readonly digest: string;
  readonly bytes: number;
  /** What the answer says about the cache that it came from. */
  readonly provenance: Provenance;
}

/** All exchanges of a page, in the order of the requests. */
export interface PathRecord {
  readonly target: Target;
  readonly exchanges: readonly Exchange[];
}

/** The visitor and the inputs of a request: requests of one party may get the same answer. */
export function partyOf({ who, inputs }: Exchange): string {
  return [who, ...inputs.map(({ kind, name, value }) => `${kind} ${name}=${value}`)].join("; ");
}

/** The exchanges by their URL, each in order. */
export function groupsOf({ exchanges }: PathRecord): readonly (readonly Exchange[])[] {
  return [...Map.groupBy(exchanges, ({ buster }) => buster).values()];
}

/** The answers that a party got past the cache. */
export function freshAnswers(record: PathRecord, party: string): readonly Exchange[] {
  return groupsOf(record).flatMap(([first]) => (first !== undefined && partyOf(first) === party ? [first] : []));
}

/** The lines of a field as one text; `null` without the field. */
export function fieldOf({ fields }: Exchange, name: string): string | null {
  return fields[name]?.join(", ") ?? null;
}
