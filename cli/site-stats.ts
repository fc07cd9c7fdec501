import type { SiteStats } from "../wire/stats.ts";
import { printable } from "../wire/stats-text.ts";
import { EXIT } from "./exit-code.ts";

/** The stats of a site, or why there are none and the exit code for that. */
export type AskedStats =
  | { readonly kind: "stats"; readonly stats: SiteStats }
  | { readonly kind: "failed"; readonly exit: number; readonly message: string };

/** The longest wait for the edge. Milliseconds. */
const TIMEOUT_MS = 10_000;

/** Asks an edge for the stats of its site, with the token of `TIDEMARK_TOKEN`. */
export async function askStats(
  endpoint: string | undefined,
  last: string,
  { pop, signal }: { readonly pop?: string | undefined; readonly signal?: AbortSignal } = {},
): Promise<AskedStats> {
  const failed = (exit: number, message: string): AskedStats => ({ kind: "failed", exit, message });
  const token = process.env.TIDEMARK_TOKEN;
  if (!endpoint || !URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    return failed(
      EXIT.usage,
      "set TIDEMARK_ENDPOINT or --endpoint to the site's origin, as in https://www.example.com.",
    );
  }
  // A character that no field may have would be named, with the token around it, by the error of the request.
  if (!token || !/^[!-~]+$/.test(token)) {
    return failed(EXIT.usage, "set TIDEMARK_TOKEN to a token with the scope read.");
  }
  const url = new URL("/_tidemark/stats", endpoint);
  url.searchParams.set("last", last);
  if (pop !== undefined) url.searchParams.set("pop", pop);
  let status: number;
  let text: string;
  try {
    // A redirect could lead the token to another host.
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "manual",
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
    });
    status = answer.status;
    text = await answer.text();
  } catch (error) {
    return failed(EXIT.unreachable, `the edge at ${url.origin} cannot be reached: ${causeOf(error)}.`);
  }
  const body = parsed(text);
  if (status === 200 && body?.scope === "site") return { kind: "stats", stats: body as unknown as SiteStats };
  const detail =
    typeof body?.detail === "string" ? printable(body.detail) : `it answered with ${status}, and not with stats`;
  return failed(status >= 500 ? EXIT.unreachable : EXIT.refused, `the edge at ${url.origin}: ${detail}`);
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return null; // the caller says that these are no stats
  }
}

function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}
