import { type Context, Hono } from "hono";
import { CONTROL_PREFIX, IDEMPOTENCY_FIELD } from "../../wire/fields.ts";
import { MAX_PURGE_BYTES } from "../../wire/purge-request.ts";
import type { IsolateStats } from "../../wire/stats.ts";
import type { CountTree } from "../insight/count-tree.ts";
import type { LedgerReading } from "../insight/ledger-reading.ts";
import type { LedgerClient } from "../insight/reports.ts";
import type { Bodies, PurgeAudit } from "../ports.ts";
import { EDGE_ANSWER_FIELDS } from "../rules/forwarding/edge-answer-fields.ts";
import { resolveUrl } from "../rules/key/cache-key.ts";
import { type AccessPorts, authorize } from "./access.ts";
import { type AuditVerdict, findPurge, listPurges } from "./audit.ts";
import { addDashboard } from "./dashboard.ts";
import { answerAtDoor, type DoorPorts } from "./doors/doors.ts";
import { metricsMediaType, metricsText, takesOpenMetrics } from "./metrics.ts";
import { openApiDocument } from "./openapi.ts";
import { type ExplainPage, readPretended } from "./pretended-request.ts";
import { problemResponse } from "./problem-response.ts";
import { type PurgeVerdict, purge } from "./purge.ts";
import { readJson } from "./read-json.ts";
import { type FetchPage, refreshUrls } from "./refresh.ts";
import { findStats } from "./site-stats.ts";

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

type App = { Bindings: ControlCall };

/** Everything under `/_tidemark/`, and the methods `PURGE` and, at a door, `BAN` on any URL of the site. */
export function controlApp(ports: ControlPorts): Hono<App> {
  const app = new Hono<App>();

  app.use(async (context, next) => {
    await next();
    const { headers } = context.res;
    for (const [name, value] of Object.entries(EDGE_ANSWER_FIELDS)) if (!headers.has(name)) headers.set(name, value);
  });

  app.use(async (context, next) => (await answerAtDoor(context.req.raw, ports)) ?? next());

  app.on("PURGE", "*", async (context) => {
    const access = await authorize(ports, context.req.raw, "purge");
    if (access.kind === "refused") return access.response;
    const target = resolveUrl(context.req.raw.url, ports.rules);
    if (target.kind === "refused") return problemResponse("invalid", `This URL cannot be purged: ${target.because}.`);
    return runPurge(ports, { urls: [target.cacheKey] }, context, access.token, access.name);
  });

  app.post(`${CONTROL_PREFIX}purge`, async (context) => {
    const access = await authorize(ports, context.req.raw, "purge");
    if (access.kind === "refused") return access.response;
    const read = await readJson(context.req.raw, MAX_PURGE_BYTES, "purge");
    if (read.kind === "refused") return read.response;
    const body = withId(read.value, context.req.header(IDEMPOTENCY_FIELD));
    if (body.kind === "invalid") return problemResponse("invalid", body.detail);
    return runPurge(ports, body.value, context, access.token, access.name);
  });

  app.get(`${CONTROL_PREFIX}purges`, async (context) => {
    const access = await authorize(ports, context.req.raw, "read");
    return access.kind === "refused" ? access.response : auditAnswer(await listPurges(context.req.query(), ports));
  });

  app.get(`${CONTROL_PREFIX}purges/:seq`, async (context) => {
    const access = await authorize(ports, context.req.raw, "read");
    return access.kind === "refused" ? access.response : auditAnswer(await findPurge(context.req.param("seq"), ports));
  });

  app.get(`${CONTROL_PREFIX}stats`, async (context) => {
    const access = await authorize(ports, context.req.raw, "read");
    if (access.kind === "refused") return access.response;
    const verdict = await findStats(context.req.query(), ports);
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

  app.get(`${CONTROL_PREFIX}metrics`, async (context) => {
    const access = await authorize(ports, context.req.raw, "read");
    if (access.kind === "refused") return access.response;
    const isOpen = takesOpenMetrics(context.req.header("accept") ?? null);
    const totals = await ports.ledger?.readLedger(null, null).catch((cause: unknown) => {
      ports.reporter.report({ kind: "log-failed", cause });
    });
    if (totals === undefined) return withoutLedger();
    const text = metricsText(JSON.parse(totals) as LedgerReading, isOpen);
    return new Response(text, { headers: { "content-type": metricsMediaType(isOpen), vary: "accept" } });
  });

  app.get(`${CONTROL_PREFIX}site`, async (context) => {
    const access = await authorize(ports, context.req.raw, "read");
    return access.kind === "refused" ? access.response : ownJson(ports.settings);
  });

  if (ports.hasDashboard) addDashboard(app, ports);

  app.on(["GET", "POST"], `${CONTROL_PREFIX}explain`, async (context) => {
    const access = await authorize(ports, context.req.raw, "read");
    if (access.kind === "refused") return access.response;
    const { raw } = context.req;
    const asked = await readPretended(context.req.query(), raw);
    if (asked.kind === "refused") return asked.response;
    return ownJson(await context.env.explain(asked.url, asked.method, asked.fields));
  });

  app.get(`${CONTROL_PREFIX}health`, () => ownJson({ status: "ok" }));

  app.get(`${CONTROL_PREFIX}openapi.json`, () => ownJson(openApiDocument()));

  for (const [path, allow] of [
    ["purge", "POST"],
    ["purges", "GET, HEAD"],
    ["purges/:seq", "GET, HEAD"],
    ["stats", "GET, HEAD"],
    ["metrics", "GET, HEAD"],
    ["site", "GET, HEAD"],
    ...(ports.hasDashboard ? ([["session", "POST, DELETE"]] as const) : []),
    ["explain", "GET, HEAD, POST"],
    ["health", "GET, HEAD"],
    ["openapi.json", "GET, HEAD"],
  ] as const) {
    app.all(CONTROL_PREFIX + path, (context) =>
      problemResponse(
        "method-not-allowed",
        `${context.req.path} does not take ${context.req.method}: use ${allow}.`,
        undefined,
        {
          allow,
        },
      ),
    );
  }
  app.notFound((context) =>
    problemResponse(
      "not-found",
      `Tidemark has nothing at ${context.req.path}. /_tidemark/openapi.json lists its paths.`,
    ),
  );
  return app;
}

async function runPurge(
  ports: ControlPorts,
  body: unknown,
  context: Context<App>,
  token: string,
  by: string,
): Promise<Response> {
  const base = new URL(context.req.raw.url).origin;
  const verdict = await purge(body, { by, base }, ports);
  if (verdict.kind !== "accepted") return refusal(verdict);
  const { receipt, refresh } = verdict;
  if (refresh.length === 0) return ownJson(receipt);
  return ownJson({ ...receipt, refreshed: await refreshUrls(refresh, token, context.env.refresh, context.env.bodies) });
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
function withId(value: unknown, idempotencyKey: string | undefined): PurgeBody {
  if (idempotencyKey === undefined || typeof value !== "object" || value === null) return { kind: "body", value };
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
