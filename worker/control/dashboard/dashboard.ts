import { CONTROL_PREFIX, SESSION_COOKIE } from "../../../wire/fields.ts";
import type { OpenedSession } from "../../../wire/session.ts";
import type { AccessPorts } from "../access/access.ts";
import { nothingAt, problemResponse } from "../problem-response.ts";
import type { RoutedCall } from "../route.ts";
import { PAGE, PAGE_POLICY } from "./dashboard-page.ts";

/** The page, as browsers get it at `/_tidemark/`. */
export function answerPage({ request: { headers } }: RoutedCall): Response {
  return headers.get("accept")?.includes("text/html")
    ? new Response(PAGE, { headers: PAGE_FIELDS })
    : nothingAt(CONTROL_PREFIX);
}

export async function openSession({ request, by, token }: RoutedCall, ports: AccessPorts): Promise<Response> {
  // A session cannot open another one: it would last for ever.
  if (token === "") return problemResponse("unauthorized", "Send Authorization: Bearer <token>.");
  const now = ports.clock.now();
  const session = await ports.tokens.sessions?.open(token, now);
  const mayPurge = (await ports.tokens.check(token, "purge")).kind === "allowed";
  const endsInMs = session ? session.endsAt - now : null;
  return Response.json({ name: by, mayPurge, endsInMs } satisfies OpenedSession, {
    headers: session ? { "set-cookie": cookie(session.id, Math.floor(endsInMs! / 1000), request.url) } : {},
  });
}

export function closeSession({ request }: RoutedCall): Response {
  return new Response(null, { status: 204, headers: { "set-cookie": cookie("", 0, request.url) } });
}

/**
 * No script of the site that has opened this page can reach into it: a page of another opener policy, or of none, is in
 * another browsing context group (HTML §7.1.3).
 */
const PAGE_FIELDS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": PAGE_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  vary: "accept",
};

/** Not `Secure` on the loopback interface without TLS, because Safari keeps no such cookie there. */
function cookie(value: string, lastsSeconds: number, url: string): string {
  const { protocol, hostname } = new URL(url);
  const isLoopback = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  const secure = protocol === "http:" && isLoopback ? "" : "; Secure";
  return `${SESSION_COOKIE}=${value}; Path=${CONTROL_PREFIX}; Max-Age=${lastsSeconds}; HttpOnly; SameSite=Strict${secure}`;
}
