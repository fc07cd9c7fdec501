import {
  type RequestDirectives,
  type RequestDirectivesPolicy,
  readRequestDirectives,
} from "../directives/request-directives.ts";
import { Fields } from "../fields/fields.ts";
import { type MaxForwards, maxForwards } from "../forwarding/max-forwards.ts";
import { cookieValue } from "../identity/cookies.ts";
import type { Identity } from "../identity/identity.ts";
import { AFTER_COOKIE, Visitor, type VisitorRules } from "../identity/visitor.ts";
import { type PartFields, partsAskedFor } from "../variants/part-fields.ts";
import { type BypassRules, bypassReason, isWebSocket, modeOf, type RequestMode } from "./bypass.ts";
import { type ChoiceRules, type Choices, readChoices } from "./choices.ts";
import { OriginView, type ViewRules } from "./origin-view.ts";
import { type ReceiptToken, readReceiptToken } from "./receipt-token.ts";
import { isTrusted } from "./request-fields.ts";

/** The fields of a request: the web's `Headers`, or an object with the same methods. Names are in lower case. */
export interface RequestHeaders extends Iterable<readonly [name: string, value: string]> {
  get(name: string): string | null;
}

/** The owner's rules for reading the requests of a route. */
export interface RequestRules extends ViewRules, VisitorRules {
  /** Which directives of visitors are obeyed. */
  readonly requestDirectives: RequestDirectivesPolicy;
  /** What sends a request past the cache. */
  readonly bypass: BypassRules;
  /** What the route keys by besides the URL. */
  readonly choices: ChoiceRules;
}

/** The facts about one request besides its method and fields. */
export interface RequestCircumstances {
  /** True if the request bypasses the cache. */
  readonly passes: boolean;
  /** The scheme and the host of its URL, as a page there names itself in `Origin`. RFC 6454 §7. */
  readonly ownOrigin: string;
  /** The client's country, as the platform or a trusted proxy tells it; `null` for unknown. */
  readonly country: string | null;
  /** The position of the cache that asks, in place of a receipt's token. Default: none asks. */
  readonly after?: ReceiptToken | undefined;
}

/** The edge's own names that a request may carry. None of them reaches the origin. */
const REFRESH_FIELD = "tidemark-refresh";
const AFTER_FIELD = "tidemark-after";

/** A parsed request. A hit needs only the plain properties; the getters parse the rest on demand. */
export class RequestFacts {
  readonly method: string;
  readonly mode: RequestMode;
  readonly authorized: boolean;
  /** By what of its fields the owner sends it past the cache; `null` for nothing. */
  readonly bypassedBy: "cookie" | "field" | null;
  /** The demands of its `Cache-Control`, as far as the route obeys them. */
  readonly directives: RequestDirectives;
  /**
   * The position of the cache that asks or else the receipt's token that the request carries; `null` if there is none, or
   * if it cannot be read.
   */
  readonly receiptToken: ReceiptToken | null;
  /** True if it carries a receipt's token, readable or not. It then accepts nothing stale (R9). */
  readonly awaitsPurge: boolean;
  /** The value of `Tidemark-Refresh`; `null` for none. */
  readonly refreshToken: string | null;
  /**
   * All its fields, as the client sent them, without an `Origin` that says what its key says: Chrome sends one for a page's
   * own fonts and module scripts. Requests that bypass the cache keep it.
   */
  readonly fields: RequestHeaders;
  readonly #rules: RequestRules;
  readonly #circumstances: RequestCircumstances;
  readonly #wantsWhole: boolean;
  #visitor: Visitor | undefined;
  #choices: Choices | undefined;
  #originView: OriginView | undefined;
  #parts: readonly PartFields[] | undefined;

  constructor(
    method: string,
    fields: RequestHeaders,
    rules: RequestRules,
    circumstances: RequestCircumstances,
    wantsWhole = false,
  ) {
    const { passes, ownOrigin } = circumstances;
    const field = (name: string) => fields.get(name);
    const after = field(AFTER_FIELD) ?? afterCookie(field("cookie"));
    this.method = method;
    this.refreshToken = field(REFRESH_FIELD);
    this.bypassedBy = passes ? null : bypassReason(fields, rules.bypass);
    this.mode = modeOf(method, field, passes || this.bypassedBy !== null, this.refreshToken);
    const isOwn = this.mode !== "bypass" && field("origin") === ownOrigin && !rules.keyFields.includes("origin");
    this.fields = isOwn ? Fields.copy(fields, (name) => name !== "origin") : fields;
    this.authorized = field("authorization") !== null;
    this.directives = readRequestDirectives(field, rules.requestDirectives);
    this.receiptToken = circumstances.after ?? readReceiptToken(after);
    this.awaitsPurge = circumstances.after !== undefined || after !== null;
    this.#rules = rules;
    this.#circumstances = circumstances;
    this.#wantsWhole = wantsWhole || this.mode === "refresh";
  }

  /** A field's text as the client sent it, several lines joined with commas; `null` if absent. */
  field(name: string): string | null {
    return this.fields.get(name);
  }

  /** What it chooses of what the route keys by. */
  get choices(): Choices {
    this.#choices ??= readChoices((name) => this.field(name), this.#circumstances.country, this.#rules.choices);
    return this.#choices;
  }

  get visitor(): Visitor {
    this.#visitor ??= new Visitor(this, this.#rules);
    return this.#visitor;
  }

  get hasSession(): boolean {
    return this.visitor.hasSession;
  }

  get identity(): Identity {
    return this.visitor.identity;
  }

  /** Its fields as the origin sees them, which select among variants. */
  get originView(): OriginView {
    this.#originView ??= new OriginView(this, this.#rules);
    return this.#originView;
  }

  /** The frameworks by whose fields it asks for a part of the page; empty for the page itself. */
  get parts(): readonly PartFields[] {
    this.#parts ??= partsAskedFor(
      this.fields,
      (sign) => this.originView.field(sign) !== null && !isTrusted(sign, this.#rules),
    );
    return this.#parts;
  }

  /** True if it asks for a range of the bytes, other than all of them. RFC 9110 §14.2. */
  get isPartial(): boolean {
    return !this.#wantsWhole && this.field("range") !== null && !this.asksForAllBytes;
  }

  /** True if its range is all bytes, however many there are: players begin with it. RFC 9110 §14.1.2. */
  get asksForAllBytes(): boolean {
    return !this.#wantsWhole && this.field("range") === "bytes=0-" && this.field("if-range") === null;
  }

  /** True if it asks for nothing but the whole page, which the origin then answers with a page for the store. */
  get isForWholePage(): boolean {
    return this.method === "GET" && !this.isPartial && this.#condition === null;
  }

  get #condition(): string | null {
    return this.field("if-none-match") ?? this.field("if-modified-since");
  }

  /** The effect of its `Max-Forwards`. */
  get maxForwards(): MaxForwards {
    return maxForwards(this.method, this.field("max-forwards"));
  }

  /** Whether it asks for a WebSocket. */
  get isWebSocket(): boolean {
    return isWebSocket(this.field("upgrade"));
  }

  /** Whether it asks for a connection that lasts: a WebSocket, or a stream of events as browsers ask for one. */
  get asksForStream(): boolean {
    return this.isWebSocket || /\btext\/event-stream\b/i.test(this.field("accept") ?? "");
  }

  /** The same request with other fields. */
  withFields(fields: RequestHeaders): RequestFacts {
    return new RequestFacts(this.method, fields, this.#rules, this.#circumstances, this.#wantsWhole);
  }

  /**
   * The same request as a GET for the whole page, even if it is a HEAD or asks for a part. It is no refresh: nobody checks the
   * token of a HEAD.
   */
  forWholePage(): RequestFacts {
    const isKept = (name: string) => name !== REFRESH_FIELD;
    const fields = this.refreshToken === null ? this.fields : Fields.copy(this.fields, isKept);
    return new RequestFacts("GET", fields, this.#rules, this.#circumstances, true);
  }
}

function afterCookie(cookies: string | null): string | null {
  return cookies?.includes(AFTER_COOKIE) ? cookieValue(cookies, AFTER_COOKIE) : null;
}
