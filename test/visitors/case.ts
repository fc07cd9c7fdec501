import type { Reply, SeenRequest } from "../../local/cdn/scripted-origin.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { ClientRequest } from "../engine/scenario.ts";
import type { Change } from "../mutants/mutant.ts";

/** The origin's answer, as a function of the request that reaches it and of nothing else. */
export type Answering = (request: SeenRequest) => Reply;

/**
 * Two visitors, the edge between them, and an origin that records the truth. The first visitor tries a trick; the
 * second must get exactly the answer that the origin would have given to that visitor alone.
 */
export interface Case {
  /** A sentence that could stand in the README. */
  readonly name: string;
  readonly site?: Omit<Partial<SiteInput>, "origin">;
  readonly origin: Answering;
  readonly first: ClientRequest;
  readonly second: ClientRequest;
  /**
   * The request of both visitors when nobody tries a trick; the second then has a HIT. Default: the second visitor's
   * request.
   */
  readonly control?: ClientRequest;
  /**
   * The answer that decides: the second visitor's, or the first one's, if even the first must not succeed. `asked`: the
   * first visitor gets only the plain stored page, and the origin is not asked again.
   */
  readonly witness?: "second" | "first" | "asked";
  /** The one defence that the case is about, switched off. The result must then differ. */
  readonly defence: Change;
}

export const MAX_AGE = { "cache-control": "max-age=60" };

/** An answer that may be stored for a minute. */
export function page(body: string, fields: Reply["fields"] = {}): Reply {
  return { fields: { ...MAX_AGE, ...fields }, body };
}

/** An origin that shows the value of a field on its page, which is the simplest way to be poisoned. */
export function reflecting(...names: readonly string[]): Answering {
  return ({ fields }) => page(names.map((name) => `${name}: ${fields[name] ?? "none"}`).join("\n"));
}

/** Fields in which two visitors differ and that every browser sends. An origin may distinguish visitors by them. */
export const ONE_BROWSER = { "user-agent": "first" };
export const OTHER_BROWSER = { "user-agent": "second" };

export function isFirst({ fields }: SeenRequest): boolean {
  return fields["user-agent"] === "first";
}
