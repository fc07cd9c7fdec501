/**
 * The control plane as an OpenAPI document. The edge serves `openapi.json`, which `npm run docs` writes from this file:
 * making it from the schemas at run time would add zod's converter to the worker, a tenth of its weight.
 */

import * as z from "zod/mini";
import { explanationSchema } from "../../wire/explanation.ts";
import { IDEMPOTENCY_FIELD } from "../../wire/fields.ts";
import { pretendedRequestSchema } from "../../wire/pretended-request.ts";
import { PROBLEM_CODES, PROBLEM_MEDIA_TYPE, type ProblemCode } from "../../wire/problem.ts";
import { problemSchema } from "../../wire/problem-schema.ts";
import { purgeReceiptSchema } from "../../wire/purge-receipt.ts";
import { purgeRecordPageSchema, purgeRecordSchema } from "../../wire/purge-record.ts";
import { DEFAULT_LISTED_PURGES, MAX_LISTED_PURGES, MAX_PURGE_WAIT_MS } from "../../wire/purge-record-query.ts";
import { purgeRequestSchema } from "../../wire/purge-request.ts";
import { healthSchema, statsSchema } from "../../wire/stats-schema.ts";
import type { Route } from "./route.ts";
import { DASHBOARD_ROUTES, ROUTES } from "./routes.ts";

/** The control plane as an OpenAPI 3.1 document, made from its routes and from the schemas that check its requests. */
export function openApiDocument(): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Tidemark control plane",
      version: "1",
      summary: "Purges, counters and health of an edge cache.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/_tidemark", description: "On every host of the site" }],
    security: [{ token: [] }],
    paths: describedPaths(),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: describedSchemas(),
    },
  };
}

const DESCRIBED = [...ROUTES, ...DASHBOARD_ROUTES];

type NameOf<Row> = Row extends Route ? `${Row["method"]} ${Row["path"]}` : never;

/** The description of a route, without what follows from its row in the table. */
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly answer: object;
  /** The refusals besides those that follow from the row. */
  readonly refusals?: readonly ProblemCode[];
}

const TEXT = { type: "string" };

const ANY_JSON = { description: "It", content: { "application/json": { schema: { type: "object" } } } };

const EXPLAINED_URL = { name: "url", in: "query", schema: TEXT };

/** The parts that both calls of `explain` share. */
const EXPLAIN = {
  answer: answer("What the edge would do now, and why", "Explanation"),
  refusals: ["invalid", "too-large", "unsupported-media-type"],
} as const;

/** Every route by its name, in the order of the document; `null` where only the dashboard calls. */
const OPERATIONS: Readonly<Record<NameOf<(typeof DESCRIBED)[number]>, Operation | null>> = {
  "POST purge": {
    operationId: "purge",
    summary: "Purge by URL, tag, prefix or host, or everything. It purges all items or none",
    parameters: [
      {
        name: IDEMPOTENCY_FIELD,
        in: "header",
        description: "The same as id in the body: however often it is sent, the purge happens once.",
        schema: { type: "string", pattern: "^[!-~]{1,128}$" },
      },
    ],
    requestBody: { required: true, content: { "application/json": { schema: ref("PurgeRequest") } } },
    answer: answer("Accepted. The purge is in force everywhere settlesInMs after the receipt arrived", "PurgeReceipt"),
    refusals: ["invalid", "conflict", "too-large", "unsupported-media-type"],
  },
  "GET purges": {
    operationId: "listPurges",
    summary: "The audit trail, the newest purge first",
    parameters: [
      {
        name: "before",
        in: "query",
        description: "Only purges below this number: `next` of the page before.",
        schema: { type: "integer", minimum: 1 },
      },
      {
        name: "limit",
        in: "query",
        schema: { type: "integer", minimum: 1, maximum: MAX_LISTED_PURGES, default: DEFAULT_LISTED_PURGES },
      },
    ],
    answer: answer("A page of it", "PurgeRecordPage"),
    refusals: ["invalid"],
  },
  "GET purges/:seq": {
    operationId: "findPurge",
    summary: "One purge, and whether it has settled",
    parameters: [
      { name: "seq", in: "path", required: true, schema: { type: "integer", minimum: 1 } },
      {
        name: "wait",
        in: "query",
        description: "Wait with the answer until the purge has settled, for at most this many milliseconds",
        schema: { type: "integer", minimum: 1, maximum: MAX_PURGE_WAIT_MS },
      },
    ],
    answer: answer("The purge", "PurgeRecord"),
    refusals: ["invalid", "not-found"],
  },
  "GET stats": {
    operationId: "stats",
    summary: "What the site's isolates have counted, or the isolate that answers",
    parameters: ["scope", "last", "pop"].map((name) => ({ name, in: "query", schema: TEXT })),
    answer: answer("Counts of the site; with scope=isolate, Stats", "SiteStats"),
    refusals: ["invalid"],
  },
  "GET metrics": {
    operationId: "metrics",
    summary: "The same counts since the ledger began, for Prometheus",
    answer: { description: "By Accept", content: { "text/plain": { schema: TEXT } } },
  },
  "GET explain": {
    operationId: "explain",
    summary: "What the edge would do with a GET of this URL",
    parameters: [{ ...EXPLAINED_URL, required: true }],
    ...EXPLAIN,
  },
  "POST explain": {
    operationId: "explainRequest",
    summary: "The same for a request with these fields. The URL may also be in the body",
    parameters: [EXPLAINED_URL],
    requestBody: { required: true, content: { "application/json": { schema: ref("PretendedRequest") } } },
    ...EXPLAIN,
  },
  "GET site": { operationId: "site", summary: "The settings in force", answer: ANY_JSON },
  "POST session": {
    operationId: "logIn",
    summary: "Begins a session of the dashboard: a cookie that may read",
    answer: ANY_JSON,
    refusals: ["not-found"],
  },
  "GET health": { operationId: "health", summary: "Whether the edge runs", answer: answer("It does", "Health") },
  "GET openapi.json": {
    operationId: "openapi",
    summary: "This document",
    answer: { description: "OpenAPI 3.1", content: { "application/json": { schema: { type: "object" } } } },
  },
  "GET ": null,
  "DELETE session": null,
};

function describedPaths(): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const { method, path, scope } = DESCRIBED.find((route) => `${route.method} ${route.path}` === name)!;
    if (operation === null) continue;
    const place = `/${path.replace(":seq", "{seq}")}`;
    paths[place] = { ...paths[place], [method.toLowerCase()]: describe(operation, scope) };
  }
  return paths;
}

function describe({ answer, refusals = [], ...operation }: Operation, scope: Route["scope"]): object {
  // An edge without the binding of its purge log answers every call with 503.
  const always: readonly ProblemCode[] =
    scope === null ? ["unavailable"] : ["unauthorized", "forbidden", "unavailable"];
  return {
    ...operation,
    ...(scope === null && { security: [] }),
    responses: { 200: answer, ...describedRefusals([...always, ...refusals]) },
  };
}

function describedSchemas(): Record<string, object> {
  return {
    PurgeRequest: withInteger(jsonSchema(purgeRequestSchema, "input"), "repeatAfterMs"),
    PurgeReceipt: jsonSchema(purgeReceiptSchema, "output"),
    PurgeRecord: jsonSchema(purgeRecordSchema, "output"),
    PurgeRecordPage: withReference(jsonSchema(purgeRecordPageSchema, "output"), "purges", "PurgeRecord"),
    Problem: jsonSchema(problemSchema, "output"),
    SiteStats: {
      type: "object",
      description: "The counters of Stats for the whole site, with times, routes, URLs and PoPs",
      properties: { scope: { enum: ["site", "isolate"] } },
      required: ["scope"],
    },
    Stats: jsonSchema(statsSchema, "output"),
    PretendedRequest: jsonSchema(z.partial(z.extend(pretendedRequestSchema, PRETENDED_DEFAULTS)), "input"),
    Explanation: jsonSchema(explanationSchema, "output"),
    Health: jsonSchema(healthSchema, "output"),
  };
}

/** The fields of a pretended request that may be left out, with their defaults. */
const PRETENDED_DEFAULTS = {
  method: z.prefault(pretendedRequestSchema.shape.method, "GET"),
  fields: z.prefault(pretendedRequestSchema.shape.fields, {}),
};

function answer(description: string, schema: string): object {
  return { description, content: { "application/json": { schema: ref(schema) } } };
}

function describedRefusals(codes: readonly ProblemCode[]): Record<number, object> {
  const content = { [PROBLEM_MEDIA_TYPE]: { schema: ref("Problem") } };
  return Object.fromEntries(
    codes.map((code) => [PROBLEM_CODES[code].status, { description: PROBLEM_CODES[code].title, content }]),
  );
}

function ref(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` };
}

/**
 * JSON Schema 2020-12, the dialect of OpenAPI 3.1. Checks that JSON Schema cannot express are missing; their error
 * messages explain them. Answers stay open: a later version may add fields, which a generated client must not refuse.
 */
function jsonSchema(schema: z.core.$ZodType, io: "input" | "output"): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    override: (each) => {
      withoutPlatitudes(each);
      if (io === "output" && each.jsonSchema.additionalProperties === false)
        delete each.jsonSchema.additionalProperties;
    },
  });
  return rest;
}

/** Removes the bounds of safe integers, the type of names, and the pattern of a date, which its format implies. */
function withoutPlatitudes({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.propertyNames && Object.keys(jsonSchema.propertyNames).join() === "type") {
    delete jsonSchema.propertyNames;
  }
}

/** Names the schema of an array's items, instead of repeating it. */
function withReference(schema: z.core.JSONSchema.BaseSchema, property: string, items: string): object {
  return { ...schema, properties: { ...schema.properties, [property]: { type: "array", items: ref(items) } } };
}

/** Says that a number is whole where the schema only refines it to be. */
function withInteger(schema: z.core.JSONSchema.BaseSchema, property: string): object {
  const properties = schema.properties as Record<string, object>;
  return { ...schema, properties: { ...properties, [property]: { ...properties[property], type: "integer" } } };
}
