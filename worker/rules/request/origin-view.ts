import { hopByHopFields } from "../forwarding/hop-by-hop.ts";
import type { RequestCookies } from "../identity/cookies.ts";
import { normalizedValue, type SelectingFields } from "../variants/vary.ts";
import type { Choices } from "./choices.ts";
import { isContinued, type KeyAndOwnersFields, treatmentOf } from "./request-fields.ts";

/** The owner's rules for what the origin sees. */
export interface ViewRules extends KeyAndOwnersFields {
  /** True if the origin is offered no coding, so that the edge has the plain bytes of all that it stores. */
  readonly asksPlain: boolean;
}

/** A request, as far as the view reads it. */
export interface ViewedRequest {
  /** A field's text as the client sent it; `null` if it is absent. */
  field(name: string): string | null;
  readonly visitor: { readonly cookies: Pick<RequestCookies, "forwarded"> };
  readonly choices: Pick<Choices, "selecting">;
}

/**
 * A request's fields as the origin sees them on a route that stores, but for those that the site itself sets; these select
 * among variants (RFC 9111 §4.1). Each field is read at most once.
 */
export class OriginView implements SelectingFields {
  readonly #request: ViewedRequest;
  readonly #rules: ViewRules;
  #ownHop: ReadonlySet<string> | undefined;
  #acceptedCodings: string | undefined;
  #values: Map<string, string | null> | undefined;

  constructor(request: ViewedRequest, rules: ViewRules) {
    this.#request = request;
    this.#rules = rules;
  }

  field(name: string): string | null {
    const chosen = this.#request.choices.selecting.get(name);
    if (chosen !== undefined) return chosen;
    if (name === "cookie") return this.#request.visitor.cookies.forwarded;
    // The name of a choice that the route does not make any more, which is no name of a field.
    if (name.includes(":")) return null;
    const value = this.#request.field(name);
    const isKeyed = this.#rules.keyFields.includes(name);
    if (!isKeyed && treatmentOf(name, value, this.#rules).inVary !== "selects") return null;
    this.#ownHop ??= hopByHopFields(this.#request.field("connection"));
    return this.#ownHop.has(name) && !isContinued(name) ? null : value;
  }

  value(name: string): string | null {
    if (name === "accept-encoding") return this.#rules.asksPlain ? "identity" : this.acceptedCodings;
    this.#values ??= new Map();
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const value = normalizedValue(name, this.field(name));
    this.#values.set(name, value);
    return value;
  }

  /** The codings that the client accepts, in canonical form. RFC 9110 §12.5.3. */
  get acceptedCodings(): string {
    this.#acceptedCodings ??= normalizedValue("accept-encoding", this.field("accept-encoding"))!;
    return this.#acceptedCodings;
  }
}
