import type { Problem } from "../wire/problem.ts";
import type { OpenedSession } from "../wire/session.ts";

/** A refusal of the edge, in its words, or of what cannot be sent to it. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** An edge that has not answered in full by then counts as one that cannot be reached. */
const LIMIT_MS = 15_000;

/** The token of this page's purges. It is in no cookie and in no storage, so that a reload forgets it. */
let purgeToken: string | null = null;

/** The token of reads, where the browser keeps no session. */
let readToken: string | null = null;

/** Forgets the tokens when the session ends. */
let timer: ReturnType<typeof setTimeout> | undefined;

/** Tells the tabs of this edge that a session has begun in one of them (true) or ended (false). */
const sessions = new BroadcastChannel("tidemark-session");
sessions.onmessage = forgetTokens;

/** The number of the latest page that is read. */
let latest = 0;

/** Begins to read a page. What has been read for an earlier one is no longer wanted. */
export function beginPage(): void {
  latest++;
}

/** A read for the page, which the session's cookie allows. It never ends if its answer is no longer wanted. */
export async function read<T>(path: string): Promise<T> {
  const page = latest;
  try {
    return await call<T>(path, {}, readToken);
  } finally {
    if (page !== latest) await new Promise(() => undefined);
  }
}

/** A read with a request body. */
export function ask<T>(path: string, body: object): Promise<T> {
  return call(path, asJson(body), readToken);
}

/** A purge, which needs a token: it is sent without the cookie. */
export function purge<T>(body: object, given: string | null): Promise<T> {
  return call("purge", { ...asJson(body), credentials: "omit" }, given ?? purgeToken);
}

export function hasPurgeToken(): boolean {
  return purgeToken !== null;
}

export function rememberPurgeToken(token: string | null): void {
  purgeToken = token;
}

/** Begins a session with this token. Throws `Refused`. */
export async function logIn(token: string): Promise<void> {
  const { mayPurge, endsInMs } = await call<OpenedSession>("session", { method: "POST" }, token);
  sessions.postMessage(true);
  clearTimeout(timer);
  purgeToken = mayPurge ? token : null;
  readToken = null;
  const isKept = endsInMs !== null && (await call("site", {}, null).catch(() => false));
  if (!isKept) readToken = token;
  else timer = setTimeout(forgetTokens, endsInMs);
}

export async function logOut(): Promise<void> {
  forgetTokens();
  sessions.postMessage(false);
  await call("session", { method: "DELETE" }, null).catch(() => undefined);
}

/** After a login in another tab, this one may read on where the browser keeps no session. */
function forgetTokens(elsewhere?: MessageEvent<boolean>): void {
  purgeToken = null;
  if (!elsewhere?.data) readToken = null;
}

/** Exchanges the one-use code of the dev command's link for its token. */
export async function tokenOf(code: string): Promise<string> {
  return (await call<{ token: string }>("dev/login", { method: "POST", body: code }, null)).token;
}

function asJson(body: object): RequestInit {
  return { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

async function call<T>(path: string, init: RequestInit, token: string | null): Promise<T> {
  if (token !== null && !/^ *[!-~]+ *$/.test(token))
    throw new Refused(401, "This token has characters that cannot be sent.");
  const headers = new Headers(init.headers);
  headers.set("accept", "application/json");
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  try {
    const response = await fetch(path, { ...init, headers, signal: AbortSignal.timeout(LIMIT_MS) });
    if (response.ok) return await response.json();
    throw new Refused(response.status, words(response, await response.text()));
  } catch (error) {
    throw error instanceof Refused ? error : new Refused(0, "The edge cannot be reached.");
  }
}

function words({ status }: Response, text: string): string {
  try {
    const { title, detail, errors = [] } = JSON.parse(text) as Problem;
    return [detail ?? title, ...errors.map(({ path, message }) => `${path}: ${message}`)].join("\n");
  } catch {
    return text || `The edge answers with status ${status}.`;
  }
}
