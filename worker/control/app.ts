import { CONTROL_PREFIX, IDEMPOTENCY_FIELD } from "../../wire/fields.ts";
import { CONTROL_PLANE_CLOSED } from "../../wire/problem.ts";
import { MAX_PURGE_BYTES } from "../../wire/purge-request.ts";
import type { IsolateStats } from "../../wire/stats.ts";
import type { Bodies, PurgeAudit, TokenScope } from "../ports.ts";
import { EDGE_ANSWER_FIELDS } from "../rules/forwarding/edge-answer-fields.ts";
import { resolveUrl } from "../rules/key/cache-key.ts";
import { type AuditVerdict, findPurge, listPurges } from "./audit.ts";
import { answerAtDoor, type DoorPorts } from "./doors/doors.ts";
import openApiDocument from "./openapi.json" with { type: "json" };
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
    const mediaType = asked.request.headers.get("content-type") ?? "no Content-Type";
    if (!/^application\/json\s*(;|$)/i.test(mediaType)) {
      return problemResponse("unsupported-media-type", `Send the purge as application/json: this one is ${mediaType}.`);
    }
    const text = await readText(asked.request.body, MAX_PURGE_BYTES);
    if (text === null)
      return problemResponse("too-large", `A purge has at most ${MAX_PURGE_BYTES} bytes: split it into several.`);
    const body = readBody(text, asked.request.headers.get(IDEMPOTENCY_FIELD));
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
    return access.kind === "refused" ? access.response : ownJson(ports.stats());
  });

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
    if (!handlers) {
      return problemResponse("not-found", `Tidemark has nothing at ${path}. /_tidemark/openapi.json lists its paths.`);
    }
    const handler = handlers.get(method === "HEAD" ? "GET" : method);
    if (handler) return handler({ ...call, request, seq: seq ?? "" });
    const allow = [...handlers.keys()].map((each) => (each === "GET" ? "GET, HEAD" : each)).join(", ");
    const words = `${path} does not take ${method}: use ${allow}.`;
    return problemResponse("method-not-allowed", words, undefined, { allow });
  };

  return {
    async fetch(request, call) {
      const answered = await answer(request, call);
      for (const [name, value] of Object.entries(EDGE_ANSWER_FIELDS)) answered.headers.set(name, value);
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
  return ownJson({ ...verdict.receipt, refreshed: await refreshUrls(verdict.refresh, token, refresh, bodies) });
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
function readBody(text: string, idempotencyKey: string | null): ReadBody {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return { kind: "invalid", detail: `The body is not JSON: ${(cause as Error).message}` };
  }
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
