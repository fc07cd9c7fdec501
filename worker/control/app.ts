import { type Context, Hono } from "hono";
import { CONTROL_PREFIX, IDEMPOTENCY_FIELD } from "../../wire/fields.ts";
import { CONTROL_PLANE_CLOSED } from "../../wire/problem.ts";
import { MAX_PURGE_BYTES } from "../../wire/purge-request.ts";
import type { IsolateStats } from "../../wire/stats.ts";
import type { Bodies, PurgeAudit, TokenScope } from "../ports.ts";
import { EDGE_ANSWER_FIELDS } from "../rules/forwarding/edge-answer-fields.ts";
import { resolveUrl } from "../rules/key/cache-key.ts";
import { type AuditVerdict, findPurge, listPurges } from "./audit.ts";
import { answerAtDoor, type DoorPorts } from "./doors/doors.ts";
import { openApiDocument } from "./openapi.ts";
import { problemResponse } from "./problem-response.ts";
import { type PurgeVerdict, purge } from "./purge.ts";
import { readText } from "./read-text.ts";
import { type FetchPage, refreshUrls } from "./refresh.ts";
import { bearerToken } from "./tokens.ts";

/** The ports that the control plane calls. */
export interface ControlPorts extends DoorPorts {
  readonly audit: PurgeAudit;
  /** The counters of this isolate. */
  readonly stats: () => IsolateStats;
}

/** The context of one request to the control plane. */
export interface ControlCall {
  readonly bodies: Bodies;
  /** Fetches a page through the corridor, in the background of this request. */
  readonly refresh: FetchPage;
}

type App = { Bindings: ControlCall };

/** Everything under `/_tidemark/`, and the methods `PURGE` and, at a door, `BAN` on any URL of the site. */
export function controlApp(ports: ControlPorts): Hono<App> {
  const app = new Hono<App>();

  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(EDGE_ANSWER_FIELDS)) context.res.headers.set(name, value);
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
    const mediaType = context.req.header("content-type") ?? "no Content-Type";
    if (!/^application\/json\s*(;|$)/i.test(mediaType)) {
      return problemResponse("unsupported-media-type", `Send the purge as application/json: this one is ${mediaType}.`);
    }
    const text = await readText(context.req.raw.body, MAX_PURGE_BYTES);
    if (text === null)
      return problemResponse("too-large", `A purge has at most ${MAX_PURGE_BYTES} bytes: split it into several.`);
    const body = readBody(text, context.req.header(IDEMPOTENCY_FIELD));
    if (body.kind === "invalid") return problemResponse("invalid", body.detail);
    return runPurge(ports, body.value, context, access.token, access.name);
  });

  app.get(`${CONTROL_PREFIX}purges`, async (context) => {
    const access = await authorize(ports, context.req.raw, "read");
    return access.kind === "refused" ? access.response : auditAnswer(await listPurges(context.req.query(), ports));
  });

  app.get(`${CONTROL_PREFIX}purges/:seq`, async (context) => {
    const access = await authorize(ports, context.req.raw, "read");
    if (access.kind === "refused") return access.response;
    return auditAnswer(await findPurge(context.req.param("seq"), context.req.query(), ports));
  });

  app.get(`${CONTROL_PREFIX}stats`, async (context) => {
    const access = await authorize(ports, context.req.raw, "read");
    return access.kind === "refused" ? access.response : ownJson(ports.stats());
  });

  app.get(`${CONTROL_PREFIX}health`, () => ownJson({ status: "ok" }));

  app.get(`${CONTROL_PREFIX}openapi.json`, () => ownJson(openApiDocument()));

  for (const [path, allow] of [
    ["purge", "POST"],
    ["purges", "GET, HEAD"],
    ["purges/:seq", "GET, HEAD"],
    ["stats", "GET, HEAD"],
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

type Access =
  | { readonly kind: "allowed"; readonly name: string; readonly token: string }
  | { readonly kind: "refused"; readonly response: Response };

async function authorize(ports: ControlPorts, request: Request, scope: TokenScope): Promise<Access> {
  const token = bearerToken(request.headers.get("authorization"));
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

type ReadBody =
  | { readonly kind: "body"; readonly value: unknown }
  | { readonly kind: "invalid"; readonly detail: string };

/** The JSON of a purge, with the id from `Idempotency-Key` if the body has none. */
function readBody(text: string, idempotencyKey: string | undefined): ReadBody {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return { kind: "invalid", detail: `The body is not JSON: ${(cause as Error).message}` };
  }
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
