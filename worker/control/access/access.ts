import { SESSION_COOKIE } from "../../../wire/fields.ts";
import { CONTROL_PLANE_CLOSED } from "../../../wire/problem.ts";
import type { TokenScope, Tokens } from "../../ports/access.ts";
import type { Clock } from "../../ports/clock.ts";
import { cookieValue } from "../../rules/identity/cookies.ts";
import { problemResponse } from "../problem-response.ts";
import { bearerToken } from "./tokens.ts";

export type Access =
  | { readonly kind: "allowed"; readonly name: string; readonly token: string }
  | { readonly kind: "refused"; readonly response: Response };

export interface AccessPorts {
  readonly tokens: Tokens;
  /** Whether sessions of the dashboard may read. */
  readonly hasDashboard: boolean;
  readonly clock: Clock;
}

/** Whether a call may do this. A session replaces a token only for calls that change nothing. */
export async function authorize(ports: AccessPorts, request: Request, scope: TokenScope): Promise<Access> {
  const token = bearerToken(request.headers.get("authorization"));
  if (token === null && scope === "read") {
    const name = await sessionName(ports, request);
    if (name !== null) return { kind: "allowed", name, token: "" };
  }
  const verdict = await ports.tokens.check(token, scope);
  if (verdict.kind === "allowed") return { kind: "allowed", name: verdict.name, token: token! };
  switch (verdict.because) {
    case "no-tokens": {
      const { why = "its tokens cannot be read" } = verdict;
      return { kind: "refused", response: problemResponse("forbidden", `${CONTROL_PLANE_CLOSED}: ${why}.`) };
    }
    case "unauthorized": {
      const detail = token === null ? "Send Authorization: Bearer <token>." : "This token is not one of the edge's.";
      const challenge = { "www-authenticate": 'Bearer realm="tidemark"' };
      return { kind: "refused", response: problemResponse("unauthorized", detail, undefined, challenge) };
    }
    case "forbidden": {
      const detail = `This token does not have the scope ${scope}.`;
      return { kind: "refused", response: problemResponse("forbidden", detail) };
    }
  }
}

/**
 * The name of the token behind a session; `null` without one. Browsers send a `SameSite=Strict` cookie with requests of
 * other hosts of the same site, too, which `Sec-Fetch-Site` tells apart.
 */
async function sessionName({ tokens, hasDashboard, clock }: AccessPorts, { headers }: Request): Promise<string | null> {
  const id = cookieValue(headers.get("cookie"), SESSION_COOKIE);
  if (!hasDashboard || id === null || /^(same|cross)-site$/.test(headers.get("sec-fetch-site") ?? "")) return null;
  return (await tokens.sessions?.nameOf(id, clock.now())) ?? null;
}
