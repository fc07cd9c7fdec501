import { CONTROL_PREFIX, IDEMPOTENCY_FIELD } from "../../wire/fields.ts";
import { MAX_PURGE_BYTES } from "../../wire/purge-request.ts";
import type { IsolateStats } from "../../wire/stats.ts";
import type { CountTree } from "../metrics/count-tree.ts";
import type { LedgerReading } from "../metrics/ledger-reading.ts";
import type { LedgerClient } from "../metrics/reports.ts";
import type { Bodies } from "../ports/bodies.ts";
import type { PurgeAudit } from "../ports/purge-log.ts";
import { EDGE_ANSWER_FIELDS } from "../rules/forwarding/edge-answer-fields.ts";
import { resolveUrl } from "../rules/key/cache-key.ts";
import { type AccessPorts, authorize } from "./access/access.ts";
import { addDashboard } from "./dashboard/dashboard.ts";
import openApiDocument from "./openapi.json" with { type: "json" };
import { type ExplainPage, readPretended } from "./pretended-request.ts";
import { nothingAt, problemResponse } from "./problem-response.ts";
import { type AuditVerdict, findPurge, listPurges } from "./purging/audit.ts";
import { type PurgeVerdict, purge } from "./purging/purge.ts";
import { type FetchPage, refreshFields, refreshUrls } from "./purging/refresh.ts";
import { readJson } from "./read-json.ts";
import { metricsMediaType, metricsText, takesOpenMetrics } from "./stats/metrics.ts";
import { findStats } from "./stats/site-stats.ts";
import { answerAtDoor, type DoorPorts } from "./vendor-apis/doors.ts";

/** The ports that the control plane calls. */
export interface ControlPorts extends DoorPorts, AccessPorts {
  readonly audit: PurgeAudit;
  /** The site's ledger; `null` where isolates report to none. */
  readonly ledger: LedgerClient | null;
  /** The counts of an isolate that has counted nothing. */
  readonly nothing: () => CountTree;
  /** The counters of this isolate. */
  readonly stats: () => IsolateStats;
  /** The owner's settings as they are in force, without secrets. */
  readonly settings: object;
}

/** The context of one request to the control plane. */
export interface ControlCall {
  readonly bodies: Bodies;
  /** Fetches a page through the corridor, in the background of this request. */
  readonly refresh: FetchPage;
  /** Says what the corridor would do with a request. */
  readonly explain: ExplainPage;
}

/** Answers the calls of the control plane. */
export interface ControlPlane {
  fetch(request: Request, call: ControlCall): Promise<Response>;
}

/** A request to the control plane, and the context of its call. */
interface Asked extends ControlCall {
  readonly request: Request;
  /** The last part of `/_tidemark/purges/SEQ`; elsewhere it is empty. */
  readonly seq: string;
}

type Handler = (asked: Asked) => Response | Promise<Response>;

/** Everything under `/_tidemark/`, and the methods `PURGE` and, at a door, `BAN` on any URL of the site. */
export function controlPlane(ports: ControlPorts): ControlPlane {
  /** The handlers of each path below `/_tidemark/`, by method. */
  const routes = new Map<string, Map<string, Handler>>();
  const on = (method: string, path: string, handler: Handler) => {
    routes.set(path, (routes.get(path) ?? new Map()).set(method, handler));
  };

  on("POST", "purge", async (asked) => {
    const access = await authorize(ports, asked.request, "purge");
    if (access.kind === "refused") return access.response;
    const read = await readJson(asked.request, MAX_PURGE_BYTES, "purge");
    if (read.kind === "refused") return read.response;
    const body = withId(read.value, asked.request.headers.get(IDEMPOTENCY_FIELD));
    if (body.kind === "invalid") return problemResponse("invalid", body.detail);
    return runPurge(ports, body.value, asked, access.token, access.name);
  });

  on("GET", "purges", async ({ request }) => {
    const access = await authorize(ports, request, "read");
    return access.kind === "refused" ? access.response : auditAnswer(await listPurges(queryOf(request), ports));
  });

  on("GET", "purges/:seq", async ({ request, seq }) => {
    const access = await authorize(ports, request, "read");
    if (access.kind === "refused") return access.response;
    return auditAnswer(await findPurge(seq, queryOf(request), ports));
  });

  on("GET", "stats", async ({ request }) => {
    const access = await authorize(ports, request, "read");
    if (access.kind === "refused") return access.response;
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
  });

  on("GET", "metrics", async ({ request }) => {
    const access = await authorize(ports, request, "read");
    if (access.kind === "refused") return access.response;
    const isOpen = takesOpenMetrics(request.headers.get("accept"));
    const totals = await ports.ledger?.readLedger(null, null).catch((cause: unknown) => {
      ports.reporter.report({ kind: "log-failed", cause });
    });
    if (totals === undefined) return withoutLedger();
    const text = metricsText(JSON.parse(totals) as LedgerReading, isOpen);
    return new Response(text, { headers: { "content-type": metricsMediaType(isOpen), vary: "accept" } });
  });

  on("GET", "site", async ({ request }) => {
    const access = await authorize(ports, request, "read");
    return access.kind === "refused" ? access.response : ownJson(ports.settings);
  });

  for (const method of ["GET", "POST"]) {
    on(method, "explain", async ({ request, explain }) => {
      const access = await authorize(ports, request, "read");
      if (access.kind === "refused") return access.response;
      const asked = await readPretended(queryOf(request), request);
      if (asked.kind === "refused") return asked.response;
      return ownJson(await explain(asked.url, asked.method, asked.fields));
    });
  }

  if (ports.hasDashboard) addDashboard(on, ports);

  on("GET", "health", () => ownJson({ status: "ok" }));

  on("GET", "openapi.json", () => ownJson(openApiDocument));

  const purgeByMethod = async (asked: Asked): Promise<Response> => {
    const access = await authorize(ports, asked.request, "purge");
    if (access.kind === "refused") return access.response;
    const target = resolveUrl(asked.request.url, ports.rules);
    if (target.kind === "refused") return problemResponse("invalid", `This URL cannot be purged: ${target.because}.`);
    return runPurge(ports, { urls: [target.cacheKey] }, asked, access.token, access.name);
  };

  const answer = async (request: Request, call: ControlCall): Promise<Response> => {
    const { method } = request;
    const atDoor = await answerAtDoor(request, ports);
    if (atDoor) return atDoor;
    if (method === "PURGE") return purgeByMethod({ ...call, request, seq: "" });
    const path = decodedPath(request);
    // A method of the control plane may come with any path of the site.
    const below = path.startsWith(CONTROL_PREFIX) ? path.slice(CONTROL_PREFIX.length) : null;
    const seq = /^purges\/([^/]+)$/.exec(below ?? "")?.[1];
    const handlers = below === null ? undefined : routes.get(seq === undefined ? below : "purges/:seq");
    if (!handlers) return nothingAt(path);
    const handler = handlers.get(method === "HEAD" ? "GET" : method);
    if (handler) return handler({ ...call, request, seq: seq ?? "" });
    const allow = [...handlers.keys()].map((each) => (each === "GET" ? "GET, HEAD" : each)).join(", ");
    const words = `${path} does not take ${method}: use ${allow}.`;
    return problemResponse("method-not-allowed", words, undefined, { allow });
  };

  return {
    async fetch(request, call) {
      const answered = await answer(request, call);
      const { headers } = answered;
      for (const [name, value] of Object.entries(EDGE_ANSWER_FIELDS)) if (!headers.has(name)) headers.set(name, value);
      return request.method === "HEAD" ? new Response(null, answered) : answered;
    },
  };
}

/** The path of a URL. A client may have encoded more of it than it had to. */
function decodedPath(request: Request): string {
  const { pathname } = new URL(request.url);
  try {
    return decodeURI(pathname);
  } catch {
    return pathname; // It is not UTF-8.
  }
}

/** The parameters of the query, each with the first of its values. */
function queryOf(request: Request): Readonly<Record<string, string>> {
  return Object.fromEntries([...new URL(request.url).searchParams].reverse());
}

async function runPurge(
  ports: ControlPorts,
  body: unknown,
  { request, refresh, bodies }: Asked,
  token: string,
  by: string,
): Promise<Response> {
  const base = new URL(request.url).origin;
  const verdict = await purge(body, { by, base }, ports);
  if (verdict.kind !== "accepted") return refusal(verdict);
  if (verdict.refresh.length === 0) return ownJson(verdict.receipt);
  const fields = refreshFields(token, request);
  return ownJson({ ...verdict.receipt, refreshed: await refreshUrls(verdict.refresh, fields, refresh, bodies) });
}

function refusal(verdict: Exclude<PurgeVerdict, { kind: "accepted" }>): Response {
  switch (verdict.kind) {
    case "invalid":
      return problemResponse("invalid", "Nothing was purged. Correct the fields listed in errors.", verdict.errors);
    case "conflict":
      return problemResponse("conflict", "This id was used for a purge of other items. Use a new id for a new purge.");
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
      return problemResponse("not-found", `The log has no purge ${verdict.seq}, or has it no more.`);
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
