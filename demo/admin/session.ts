import { randomBytes, timingSafeEqual } from "node:crypto";
import type { PurgeOutcome } from "./publish.ts";

/** What the editor is told on the next page, once. */
export interface Notice {
  headline: string;
  purge: PurgeOutcome;
}

export interface Session {
  id: string;
  /** Stands in every form, so that no other site's form can do anything here. */
  csrfToken: string;
  notice: Notice | undefined;
}

const COOKIE = "demo-session";
const MAX_SESSIONS = 100;
const LIFETIME_SECONDS = 8 * 3600;

/** Who is logged in, in memory: a restart logs everybody out. The hundred newest sessions are kept. */
export class Sessions {
  readonly #byId = new Map<string, Session>();

  start(): Session {
    const session: Session = { id: secret(), csrfToken: secret(), notice: undefined };
    this.#byId.set(session.id, session);
    const [oldest] = this.#byId.keys();
    if (this.#byId.size > MAX_SESSIONS && oldest !== undefined) this.#byId.delete(oldest);
    return session;
  }

  find(cookieField: string | undefined): Session | undefined {
    const pairs = (cookieField ?? "").split(";").map((pair) => pair.trim());
    const value = pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
    return value === undefined ? undefined : this.#byId.get(value);
  }

  end(session: Session): void {
    this.#byId.delete(session.id);
  }
}

/** The cookie is sent to the admin area alone; public pages never see it. */
export function sessionCookie(session: Session, publicUrl: string): string {
  return cookie(session.id, LIFETIME_SECONDS, publicUrl);
}

export function endedSessionCookie(publicUrl: string): string {
  return cookie("", 0, publicUrl);
}

export function isCsrfToken(session: Session, given: string | null): boolean {
  const expected = Buffer.from(session.csrfToken);
  const actual = Buffer.from(given ?? "");
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function cookie(value: string, maxAgeSeconds: number, publicUrl: string): string {
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  return `${COOKIE}=${value}; Path=/admin; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

function secret(): string {
  return randomBytes(24).toString("base64url");
}
