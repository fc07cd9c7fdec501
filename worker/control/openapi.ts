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

/** The control plane as an OpenAPI 3.1 document, made from the schemas that check its requests. */
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
    paths: {
      "/purge": {
        post: {
          operationId: "purge",
          summary: "Purge by URL, tag, prefix or host, or everything: all of it, or nothing",
          parameters: [
            {
              name: IDEMPOTENCY_FIELD,
              in: "header",
              description: "The same as id in the body: the purge happens once, however often it is sent.",
              schema: { type: "string", pattern: "^[!-~]{1,128}$" },
            },
          ],
          requestBody: { required: true, content: { "application/json": { schema: ref("PurgeRequest") } } },
          responses: {
            200: answer("Accepted. It is true everywhere settlesInMs after the receipt has arrived", "PurgeReceipt"),
            ...refusals("invalid", "unauthorized", "forbidden", "conflict", "too-large"),
            ...refusals("unsupported-media-type", "unavailable"),
          },
        },
      },
      "/purges": {
        get: {
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
          responses: {
            200: answer("A page of it", "PurgeRecordPage"),
            ...refusals("invalid", "unauthorized", "forbidden", "unavailable"),
          },
        },
      },
      "/purges/{seq}": {
        get: {
          operationId: "findPurge",
          summary: "One purge, and whether it has settled",
          parameters: [
            { name: "seq", in: "path", required: true, schema: { type: "integer", minimum: 1 } },
            {
              name: "wait",
              in: "query",
              description: "Hold the answer until the purge has settled, for at most so many milliseconds",
              schema: { type: "integer", minimum: 1, maximum: MAX_PURGE_WAIT_MS },
            },
          ],
          responses: {
            200: answer("The purge", "PurgeRecord"),
            ...refusals("invalid", "unauthorized", "forbidden", "not-found", "unavailable"),
          },
        },
      },
      "/stats": {
        get: {
          operationId: "stats",
          summary: "What the site's isolates have counted, or the isolate that answers",
          parameters: ["scope", "last", "pop"].map((name) => ({ name, in: "query", schema: TEXT })),
          responses: {
            200: answer("Counts of the site; with scope=isolate, Stats", "SiteStats"),
            ...refusals("invalid", "unauthorized", "forbidden"),
            ...WITHOUT_PURGE_LOG,
          },
        },
      },
      "/metrics": {
        get: {
          operationId: "metrics",
          summary: "The same since the ledger began, for Prometheus",
          responses: {
            200: {
              description: "By Accept",
              content: { "text/plain": { schema: TEXT } },
            },
            ...refusals("unauthorized", "forbidden"),
            ...WITHOUT_PURGE_LOG,
          },
        },
      },
      "/explain": {
        get: { operationId: "explain", summary: "What the edge would do with a GET of this URL", ...EXPLAIN },
        post: {
          operationId: "explainRequest",
          summary: "The same for a request with these fields",
          requestBody: { required: true, content: { "application/json": { schema: ref("PretendedRequest") } } },
          ...EXPLAIN,
        },
      },
      "/site": {
        get: {
          operationId: "site",
          summary: "The settings in force",
          responses: { 200: ANY_JSON, ...refusals("unauthorized", "forbidden"), ...WITHOUT_PURGE_LOG },
        },
      },
      "/session": {
        post: {
          operationId: "logIn",
          summary: "Begins a session of the dashboard: a cookie that may read",
          responses: {
            200: ANY_JSON,
            ...refusals("unauthorized", "forbidden", "not-found"),
            ...WITHOUT_PURGE_LOG,
          },
        },
      },
      "/health": open("health", "Whether the edge runs", answer("It does", "Health")),
      "/openapi.json": open("openapi", "This document", {
        description: "OpenAPI 3.1",
        content: { "application/json": { schema: { type: "object" } } },
      }),
    },
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: {
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
      },
    },
  };
}

const TEXT = { type: "string" };

const ANY_JSON = { description: "It", content: { "application/json": { schema: { type: "object" } } } };

/** What both calls of `explain` have. The URL may stand in the body, too. */
const EXPLAIN = {
  parameters: [{ name: "url", in: "query", schema: { type: "string" } }],
  responses: {
    200: answer("What would happen now, and why", "Explanation"),
    ...refusals("invalid", "unauthorized", "forbidden", "too-large", "unsupported-media-type", "unavailable"),
  },
};

/** The fields of a pretended request that may be left out, with their defaults. */
const PRETENDED_DEFAULTS = {
  method: z.prefault(pretendedRequestSchema.shape.method, "GET"),
  fields: z.prefault(pretendedRequestSchema.shape.fields, {}),
};

/** An endpoint that needs no token. */
function open(operationId: string, summary: string, response: object): object {
  return { get: { operationId, summary, security: [], responses: { 200: response, ...WITHOUT_PURGE_LOG } } };
}

function answer(description: string, schema: string): object {
  return { description, content: { "application/json": { schema: ref(schema) } } };
}

function refusals(...codes: ProblemCode[]): Record<number, object> {
  const content = { [PROBLEM_MEDIA_TYPE]: { schema: ref("Problem") } };
  return Object.fromEntries(
    codes.map((code) => [PROBLEM_CODES[code].status, { description: PROBLEM_CODES[code].title, content }]),
  );
}

/** An edge without the binding of its purge log answers every call so. */
const WITHOUT_PURGE_LOG = refusals("unavailable");

function ref(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` };
}

/**
 * JSON Schema 2020-12, the dialect of OpenAPI 3.1. It leaves out checks that JSON Schema cannot express; their error
 * messages explain them.
 */
function jsonSchema(schema: z.core.$ZodType, io: "input" | "output"): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, override: withoutPlatitudes });
  return rest;
}

/** Leaves out that an integer is a safe one, and the pattern of a date, which its format says already. */
function withoutPlatitudes({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
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
