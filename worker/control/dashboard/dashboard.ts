import { CONTROL_PREFIX, SESSION_COOKIE } from "../../../wire/fields.ts";
import type { OpenedSession } from "../../../wire/session.ts";
import { type AccessPorts, authorize } from "../access/access.ts";
import { nothingAt, problemResponse } from "../problem-response.ts";
import { PAGE, PAGE_POLICY } from "./dashboard-page.ts";

/** Adds a handler of the control plane: for a method, of a path below `/_tidemark/`. */
export type AddHandler = (
  method: string,
  path: string,
  handler: (asked: { readonly request: Request }) => Response | Promise<Response>,
) => void;

/** The page that browsers get at `/_tidemark/`, and its sessions. */
export function addDashboard(on: AddHandler, ports: AccessPorts): void {
  on("GET", "", ({ request: { headers } }) =>
    headers.get("accept")?.includes("text/html")
      ? new Response(PAGE, { headers: PAGE_FIELDS })
      : nothingAt(CONTROL_PREFIX),
  );

  on("POST", "session", async ({ request }) => {
    const access = await authorize(ports, request, "read");
    if (access.kind === "refused") return access.response;
    // A session does not open another one, or it would last for ever.
    if (access.token === "") return problemResponse("unauthorized", "Send Authorization: Bearer <token>.");
    const now = ports.now();
    const session = await ports.tokens.sessions?.open(access.token, now);
    const mayPurge = (await ports.tokens.check(access.token, "purge")).kind === "allowed";
    const endsInMs = session ? session.endsAt - now : null;
    return Response.json({ name: access.name, mayPurge, endsInMs } satisfies OpenedSession, {
      headers: session ? { "set-cookie": cookie(session.id, Math.floor(endsInMs! / 1000), request.url) } : {},
    });
  });

  on("DELETE", "session", ({ request }) => {
    return new Response(null, { status: 204, headers: { "set-cookie": cookie("", 0, request.url) } });
  });
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
