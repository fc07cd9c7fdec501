import { hopByHopFields } from "../forwarding/hop-by-hop.ts";
import { normalizedValue, type SelectingFields } from "../variants/vary.ts";
import { type KeyAndOwnersFields, treatmentOf } from "./request-fields.ts";

/**
 * A request's fields as the origin sees them on a route that stores; these select among variants (RFC 9111 §4.1). Each
 * field is read at most once.
 */
export class OriginView implements SelectingFields {
  readonly #sent: (name: string) => string | null;
  readonly #rules: KeyAndOwnersFields;
  readonly #cookie: () => string | null;
  readonly #chosen: () => ReadonlyMap<string, string | null>;
  readonly #values = new Map<string, string | null>();

  /** `sent` gives a field's text as the client sent it; `cookie` gives the `Cookie` field for the origin, and `chosen` the choices that select. */
  constructor(
    sent: (name: string) => string | null,
    rules: KeyAndOwnersFields,
    cookie: () => string | null,
    chosen: () => ReadonlyMap<string, string | null>,
  ) {
    this.#sent = sent;
    this.#rules = rules;
    this.#cookie = cookie;
    this.#chosen = chosen;
  }

  field(name: string): string | null {
    const chosen = this.#chosen().get(name);
    if (chosen !== undefined) return chosen;
    if (name === "cookie") return this.#cookie();
    const value = this.#sent(name);
    const isKeyed = this.#rules.keyFields.includes(name);
    if (!isKeyed && treatmentOf(name, value, this.#rules).inVary !== "selects") return null;
    const connection = this.#sent("connection");
    if (connection !== null && hopByHopFields(connection).includes(name)) return null;
    return value;
  }

  value(name: string): string | null {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const value = normalizedValue(name, this.field(name));
    this.#values.set(name, value);
    return value;
  }

  /** The codings that the client accepts, in canonical form. RFC 9110 §12.5.3. */
  get acceptedCodings(): string {
    return this.value("accept-encoding")!;
  }
}
