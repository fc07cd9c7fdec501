import { IDEMPOTENCY_FIELD } from "../../wire/fields.ts";
import { MAX_PURGE_BYTES } from "../../wire/purge-request.ts";
import type { Health } from "../../wire/stats-schema.ts";
import type { LedgerReading } from "../metrics/ledger-reading.ts";
import { resolveUrl } from "../rules/key/cache-key.ts";
import { urlOfPurge } from "../rules/key/purge-url.ts";
import { answerPage, closeSession, openSession } from "./dashboard/dashboard.ts";
import openApiDocument from "./openapi.json" with { type: "json" };
import { readPretended } from "./pretended-request.ts";
import { problemResponse } from "./problem-response.ts";
import { type AuditVerdict, findPurge, listPurges } from "./purging/audit.ts";
import { type PurgeVerdict, purge } from "./purging/purge.ts";
import { refreshFields, refreshUrls } from "./purging/refresh.ts";
import { readJson } from "./read-json.ts";
import type { ControlPorts, Route, RoutedCall } from "./route.ts";
import { metricsMediaType, metricsText, takesOpenMetrics } from "./stats/metrics.ts";
import { findStats } from "./stats/site-stats.ts";
import { wideningFields } from "./vendor-apis/door.ts";

/** The routes of every site. `openapi.ts` describes each of them. */
export const ROUTES = [
  { method: "POST", path: "purge", scope: "purge", answer: purgeItems },
  { method: "GET", path: "purges", scope: "read", answer: listOfPurges },
  { method: "GET", path: "purges/:seq", scope: "read", answer: onePurge },
  { method: "GET", path: "stats", scope: "read", answer: siteStats },
  { method: "GET", path: "metrics", scope: "read", answer: siteMetrics },
  { method: "GET", path: "site", scope: "read", answer: (_, { settings }) => ownJson(settings) },
  { method: "GET", path: "explain", scope: "read", answer: explainPage },
  { method: "POST", path: "explain", scope: "read", answer: explainPage },
  { method: "GET", path: "health", scope: null, answer: originHealth },
  { method: "GET", path: "openapi.json", scope: null, answer: () => ownJson(openApiDocument) },
] as const satisfies readonly Route[];

/** The routes of a site with the dashboard. */
export const DASHBOARD_ROUTES = [
  { method: "GET", path: "", scope: null, answer: answerPage },
  { method: "POST", path: "session", scope: "read", answer: openSession },
  { method: "DELETE", path: "session", scope: null, answer: closeSession },
] as const satisfies readonly Route[];

/** The method `PURGE` on any URL of the site. */
export const PURGE_OF_PAGE: Route = { method: "PURGE", path: "*", scope: "purge", answer: purgePage };

function originHealth(_: RoutedCall, { originIsDown }: ControlPorts): Response {
  return ownJson({ status: "ok", origin: originIsDown() ? "down" : "up" } satisfies Health);
}

async function purgeItems(call: RoutedCall, ports: ControlPorts): Promise<Response> {
  const read = await readJson(call.request, MAX_PURGE_BYTES, "purge");
  if (read.kind === "refused") return read.response;
  const body = withId(read.value, call.request.headers.get(IDEMPOTENCY_FIELD));
  if (body.kind === "invalid") return problemResponse("invalid", body.detail);
  return runPurge(body.value, call, ports);
}

async function purgePage(call: RoutedCall, ports: ControlPorts): Promise<Response> {
  const [wider] = wideningFields(call.request.headers);
  if (wider !== undefined) {
    const because = `a PURGE with ${wider} may name more than its URL, but this site has no door that reads such fields`;
    return problemResponse("invalid", `Nothing was purged: ${because}. Open one with doors: { varnish: true }.`);
  }
  const target = resolveUrl(call.request.url, ports.rules);
  if (target.kind === "refused") return problemResponse("invalid", `Nothing was purged: ${target.because}.`);
  return runPurge({ urls: [urlOfPurge(target.cacheKey)] }, call, ports);
}

async function listOfPurges({ request }: RoutedCall, ports: ControlPorts): Promise<Response> {
  return auditAnswer(await listPurges(queryOf(request), ports));
}

async function onePurge({ request, seq }: RoutedCall, ports: ControlPorts): Promise<Response> {
  return auditAnswer(await findPurge(seq, queryOf(request), ports));
}

async function siteStats({ request }: RoutedCall, ports: ControlPorts): Promise<Response> {
  const verdict = await findStats(queryOf(request), ports);
  switch (verdict.kind) {
    case "isolate":
      return ownJson(ports.stats());
    case "found":
      return ownJson(verdict.body);
    case "invalid":
      return problemResponse("invalid", "Correct the fields listed in errors.", verdict.errors);
    case "unavailable":
      return withoutLedger();
  }
}

async function siteMetrics({ request }: RoutedCall, ports: ControlPorts): Promise<Response> {
  const isOpen = takesOpenMetrics(request.headers.get("accept"));
  const totals = await ports.readLedger?.(null, null).catch(() => undefined);
  if (totals === undefined) return withoutLedger();
  const text = metricsText(JSON.parse(totals) as LedgerReading, isOpen);
  return new Response(text, { headers: { "content-type": metricsMediaType(isOpen), vary: "accept" } });
}

async function explainPage({ request, explain }: RoutedCall, { rules }: ControlPorts): Promise<Response> {
  const asked = await readPretended(queryOf(request), request, rules.hosts);
  if (asked.kind === "refused") return asked.response;
  return ownJson(await explain(asked.url, asked.method, asked.fields));
}

/** The parameters of the query, each with the first of its values. */
function queryOf(request: Request): Readonly<Record<string, string>> {
  return Object.fromEntries([...new URL(request.url).searchParams].reverse());
}

async function runPurge(
  body: unknown,
  { request, refresh, bodies, token, by }: RoutedCall,
  ports: ControlPorts,
): Promise<Response> {
  const base = new URL(request.url).origin;
  const verdict = await purge(body, { by, base }, ports, ports);
  if (verdict.kind !== "accepted") return refusal(verdict);
  if (verdict.refresh.length === 0) return ownJson(verdict.receipt);
  const fields = refreshFields(token, request);
  const refreshed = await refreshUrls(verdict.refresh, fields, refresh, { bodies, clock: ports.clock });
  return ownJson({ ...verdict.receipt, refreshed });
}

function refusal(verdict: Exclude<PurgeVerdict, { kind: "accepted" }>): Response {
  switch (verdict.kind) {
    case "invalid":
      return problemResponse("invalid", "Nothing was purged. Correct the fields listed in errors.", verdict.errors);
    case "conflict":
      return problemResponse(
        "conflict",
        "This id was used for a purge of other items, or in another mode. Use a new id for a new purge.",
      );
    case "unavailable":
      return problemResponse(
        "unavailable",
        "The purge log did not answer, so this purge may not have happened. Send it again with the same id.",
        undefined,
        { "retry-after": "1" },
      );
  }
}

function withoutLedger(): Response {
  const detail =
    "The purge log, which keeps the site's counts, did not answer. ?scope=isolate asks this isolate alone.";
  return problemResponse("unavailable", detail, undefined, { "retry-after": "1" });
}

function auditAnswer(verdict: AuditVerdict): Response {
  switch (verdict.kind) {
    case "found":
      return ownJson(verdict.body);
    case "invalid":
      return problemResponse("invalid", "Correct the fields listed in errors.", verdict.errors);
    case "unknown":
      return problemResponse("not-found", `The log has no purge ${verdict.seq}, or no longer has it.`);
    case "unavailable":
      return problemResponse("unavailable", "The purge log did not answer.", undefined, { "retry-after": "1" });
  }
}

type PurgeBody =
  | { readonly kind: "body"; readonly value: unknown }
  | { readonly kind: "invalid"; readonly detail: string };

/** The JSON of a purge, with the id from `Idempotency-Key` if it has none. */
function withId(value: unknown, idempotencyKey: string | null): PurgeBody {
  if (idempotencyKey === null || typeof value !== "object" || value === null) return { kind: "body", value };
  const { id } = value as { id?: unknown };
  if (id !== undefined && id !== idempotencyKey) {
    return { kind: "invalid", detail: "id and Idempotency-Key name different ids: send one of them." };
  }
  return { kind: "body", value: { ...value, id: idempotencyKey } };
}

function ownJson(body: object): Response {
  // With a line end, so that a terminal's prompt starts on its own line.
  return new Response(`${JSON.stringify(body)}\n`, { headers: { "content-type": "application/json" } });
}
