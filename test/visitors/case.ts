import type { Reply, SeenRequest } from "../../cdn/scripted-origin.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { ClientRequest } from "../engine/scenario.ts";
import type { Mutation } from "../mutants/mutant.ts";

/** What the origin answers: a function of the request that reaches it and of nothing else. */
export type Answering = (request: SeenRequest) => Reply;

/**
 * Two visitors with the edge between them and an origin that is the witness. The first one tries a trick; what the second
 * one gets must be what the origin would have answered to him alone.
 */
export interface Case {
  /** A sentence that could stand in the README. */
  readonly name: string;
  readonly site?: Omit<Partial<SiteInput>, "origin">;
  readonly origin: Answering;
  readonly first: ClientRequest;
  readonly second: ClientRequest;
  /** What both send where nobody tries anything: the second one then has a HIT. Default: what the second one sends. */
  readonly control?: ClientRequest;
  /**
   * Whose answer tells: that of the second one, or that of the first, who must not even get at a trick himself. `asked`:
   * the first one has nothing but the plain page that is stored, and the origin is not asked again.
   */
  readonly witness?: "second" | "first" | "asked";
  /** The one defence that the case is about, switched off: then the witness tells another story. */
  readonly defence: Mutation;
}

export const MAX_AGE = { "cache-control": "max-age=60" };

/** An answer that may be kept for a minute. */
export function page(body: string, fields: Reply["fields"] = {}): Reply {
  return { fields: { ...MAX_AGE, ...fields }, body };
}

/** An origin that has what it got in a field on its page: the plainest way to be poisoned. */
export function reflecting(...names: readonly string[]): Answering {
  return ({ fields }) => page(names.map((name) => `${name}: ${fields[name] ?? "none"}`).join("\n"));
}

/** What two visitors differ in that every browser sends: nothing forbids an origin to tell them apart by it. */
export const ONE_BROWSER = { "user-agent": "first" };
export const OTHER_BROWSER = { "user-agent": "second" };

export function isFirst({ fields }: SeenRequest): boolean {
  return fields["user-agent"] === "first";
}
