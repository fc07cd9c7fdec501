import type { Choices } from "../request/choices.ts";
import { type RequestCookies, readCookies } from "./cookies.ts";
import { type Identity, identityOf } from "./identity.ts";
import { carriesSession } from "./session-cookies.ts";

/** The cookie in which a visitor carries a receipt's token. It is the edge's own and never reaches the origin. */
export const AFTER_COOKIE = "tidemark-after";

/** The owner's rules for telling visitors apart. */
export interface VisitorRules {
  /** Names of cookies that do not distinguish visitors; a trailing `*` stands for any ending. */
  readonly ignoredCookies: readonly string[];
  /** `sessions`: whether pages are only for visitors without a framework's session. */
  readonly bypass: { readonly sessions: boolean };
}

/** A request, as far as it tells its visitor. */
export interface VisitorsRequest {
  /** Whether it carries `Authorization`. */
  readonly authorized: boolean;
  field(name: string): string | null;
  readonly choices: Choices;
}

/** The visitor of a request. Each property is computed once, when it is first read, because most hits need none. */
export class Visitor {
  readonly #request: VisitorsRequest;
  readonly #rules: VisitorRules;
  #cookies: RequestCookies | undefined;
  #hasSession: boolean | undefined;

  constructor(request: VisitorsRequest, rules: VisitorRules) {
    this.#request = request;
    this.#rules = rules;
  }

  get identity(): Identity {
    return identityOf(this.#request.authorized, this.cookies);
  }

  /** The cookies, without ignored ones and without the edge's own. */
  get cookies(): RequestCookies {
    const { cookie } = this.#request.choices;
    // The origin gets the chosen values and no other, so nothing in them is one visitor's own.
    if (cookie !== undefined) return { identifying: false, forwarded: cookie };
    this.#cookies ??= readCookies(this.#request.field("cookie"), this.#rules.ignoredCookies, [AFTER_COOKIE]);
    return this.#cookies;
  }

  /** The `Cookie` field for a request that is passed on unchanged: without the edge's own cookie. */
  get cookieToPassOn(): string | null {
    return readCookies(this.#request.field("cookie"), [], [AFTER_COOKIE]).forwarded;
  }

  /** Whether the request carries a framework's session that is not ignored, where pages are only for visitors without one. */
  get hasSession(): boolean {
    const { bypass, ignoredCookies } = this.#rules;
    this.#hasSession ??= bypass.sessions && carriesSession(this.#request.field("cookie"), ignoredCookies);
    return this.#hasSession;
  }
}
