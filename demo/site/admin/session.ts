import { randomBytes, timingSafeEqual } from "node:crypto";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { DemoContext } from "../context.ts";
import type { PurgeOutcome } from "./purge-after-save.ts";

/** A message that the next page shows to the editor, once. */
export interface Notice {
  headline: string;
  purge: PurgeOutcome;
}

export interface Session {
  id: string;
  /** Every form has it, so that a form on another site cannot do anything here. */
  csrfToken: string;
  notice: Notice | undefined;
}

const COOKIE = "demo-session";
const MAX_SESSIONS = 100;
const LIFETIME_SECONDS = 8 * 3600;

/** The sessions are held in memory, so a restart logs everybody out. Only the hundred newest are kept. */
export class Sessions {
  readonly #byId = new Map<string, Session>();

  start(context: DemoContext): void {
    const session: Session = { id: secret(), csrfToken: secret(), notice: undefined };
    this.#byId.set(session.id, session);
    const [oldest] = this.#byId.keys();
    if (this.#byId.size > MAX_SESSIONS && oldest !== undefined) this.#byId.delete(oldest);
    setCookie(context, COOKIE, session.id, { ...cookieOptions(context), maxAge: LIFETIME_SECONDS });
  }

  find(context: DemoContext): Session | undefined {
    return this.#byId.get(getCookie(context, COOKIE) ?? "");
  }

  end(context: DemoContext, session: Session): void {
    this.#byId.delete(session.id);
    deleteCookie(context, COOKIE, cookieOptions(context));
  }
}

export function isCsrfToken(session: Session, given: string | null): boolean {
  const expected = Buffer.from(session.csrfToken);
  const actual = Buffer.from(given ?? "");
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Browsers send the cookie to the admin area only; the public pages never see it. */
function cookieOptions(context: DemoContext) {
  const secure = context.var.publicUrl.startsWith("https:");
  return { path: "/admin", httpOnly: true, sameSite: "Lax", secure } as const;
}

function secret(): string {
  return randomBytes(24).toString("base64url");
}
