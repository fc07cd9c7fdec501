import {
  type RequestDirectives,
  type RequestDirectivesPolicy,
  readRequestDirectives,
} from "../directives/request-directives.ts";
import { type MaxForwards, maxForwards } from "../forwarding/max-forwards.ts";
import { cookieValue, type RequestCookies, readCookies } from "../identity/cookies.ts";
import { type Identity, identityOf } from "../identity/identity.ts";
import type { Stamp } from "../storing/stored-response.ts";
import { OriginView } from "./origin-view.ts";
import { readReceiptToken } from "./receipt-token.ts";
import type { KeyAndOwnersFields } from "./request-fields.ts";

/** The fields of a request: the `Headers` of the web, or something like it. Names are in lower case. */
export interface RequestHeaders extends Iterable<readonly [name: string, value: string]> {
  get(name: string): string | null;
}

/** What the owner says about the reading of requests. */
export interface RequestRules extends KeyAndOwnersFields {
  /** True if nothing is looked up or stored. */
  readonly passes: boolean;
  readonly directives: RequestDirectivesPolicy;
  /** Names of cookies that tell no visitors apart; a trailing `*` stands for any ending. */
  readonly ignoredCookies: readonly string[];
}

/** The names of our own that a request may carry; none of them reaches the origin. */
const REFRESH_FIELD = "tidemark-refresh";
const AFTER_FIELD = "tidemark-after";
const AFTER_COOKIE = "tidemark-after";

/** A request, read once at the door. A hit needs only the plain properties; the getters read the rest when asked. */
export class RequestFacts {
  readonly method: string;
  /** How the request is treated, and why it is not looked up if it is not. */
  readonly mode: "look-up" | "refresh" | "bypass";
  readonly authorized: boolean;
  /** What its `Cache-Control` asks for, as far as the route lets visitors ask. */
  readonly directives: RequestDirectives;
  /** The receipt's token that it carries; `null` for none, or for one that cannot be read. */
  readonly receiptToken: Stamp | null;
  /** True if it carries one, readable or not: it takes nothing stale (R9). */
  readonly awaitsPurge: boolean;
  /** The value of `Tidemark-Refresh`; `null` for none. */
  readonly refreshToken: string | null;
  /** All its fields, as the client sent them. */
  readonly fields: RequestHeaders;
  readonly #rules: RequestRules;
  readonly #wantsWhole: boolean;
  #cookies: RequestCookies | undefined;
  #originView: OriginView | undefined;

  constructor(method: string, fields: RequestHeaders, rules: RequestRules, wantsWhole = false) {
    const field = (name: string) => fields.get(name);
    const after = field(AFTER_FIELD) ?? afterCookie(field("cookie"));
    this.method = method;
    this.refreshToken = field(REFRESH_FIELD);
    this.mode = mode(method, field, rules.passes, this.refreshToken);
    this.authorized = field("authorization") !== null;
    this.directives = readRequestDirectives(field, rules.directives);
    this.receiptToken = readReceiptToken(after);
    this.awaitsPurge = after !== null;
    this.fields = fields;
    this.#rules = rules;
    this.#wantsWhole = wantsWhole || this.mode === "refresh";
  }

  /** A field's text as the client sent it, several lines joined with commas; `null` if absent. */
  field(name: string): string | null {
    return this.fields.get(name);
  }

  /** Its cookies, without those that are ignored and without our own. */
  get cookies(): RequestCookies {
    this.#cookies ??= readCookies(this.field("cookie"), this.#rules.ignoredCookies, [AFTER_COOKIE]);
    return this.#cookies;
  }

  /** The `Cookie` field of a request that is passed on as it is: without our own cookie. */
  get cookieToPassOn(): string | null {
    return readCookies(this.field("cookie"), [], [AFTER_COOKIE]).forwarded;
  }

  get identity(): Identity {
    return identityOf(this.authorized, this.cookies);
  }

  /** Its fields as the origin gets to see them: what selects among variants. */
  get originView(): OriginView {
    this.#originView ??= new OriginView(
      (name) => this.field(name),
      this.#rules,
      () => this.cookies.forwarded,
    );
    return this.#originView;
  }

  /** True if it asks for a part. RFC 9110 §14.2. */
  get isPartial(): boolean {
    return !this.#wantsWhole && this.field("range") !== null;
  }

  /** True if it asks for nothing but the whole page, which the origin then answers with a page for the store. */
  get isForWholePage(): boolean {
    const asksIf = this.field("if-none-match") ?? this.field("if-modified-since");
    return this.method === "GET" && !this.isPartial && asksIf === null;
  }

  /** What its `Max-Forwards` asks for. */
  get maxForwards(): MaxForwards {
    return maxForwards(this.method, this.field("max-forwards"));
  }

  /** Whether the connection is to become a WebSocket. */
  get isWebSocket(): boolean {
    return isWebSocket(this.field("upgrade"));
  }

  /** The same request with other fields. */
  withFields(fields: RequestHeaders): RequestFacts {
    return new RequestFacts(this.method, fields, this.#rules, this.#wantsWhole);
  }

  /** The same request as a GET for the whole page, also for a HEAD or for a request for a part. */
  forWholePage(): RequestFacts {
    return new RequestFacts("GET", this.fields, this.#rules, true);
  }
}

function mode(
  method: string,
  field: (name: string) => string | null,
  passes: boolean,
  refreshToken: string | null,
): RequestFacts["mode"] {
  if (method !== "GET" && method !== "HEAD") return "bypass";
  if (passes || isWebSocket(field("upgrade"))) return "bypass";
  // Conditions on the origin's own state: a cache cannot answer for it. RFC 9111 §4.3.2.
  if (field("if-match") !== null || field("if-unmodified-since") !== null) return "bypass";
  return refreshToken !== null && method === "GET" ? "refresh" : "look-up";
}

/** RFC 6455 §4.1. */
function isWebSocket(upgrade: string | null): boolean {
  return upgrade?.toLowerCase() === "websocket";
}

function afterCookie(cookies: string | null): string | null {
  return cookies?.includes(AFTER_COOKIE) ? cookieValue(cookies, AFTER_COOKIE) : null;
}
