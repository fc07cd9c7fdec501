import { Agent } from "node:http";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { openApiDocument } from "../../worker/control/openapi.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { byDepth } from "../suite/depth.ts";

/** How many generated requests each property sends. */
const RUNS = byDepth({ test: 25, gate: 25, all: 150 });

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

const agent = new Agent({ keepAlive: false });
let edge: EdgeRuntime;
let document: Document;
let ajv: Ajv2020;

beforeAll(async () => {
  const variables = { SITE: { origin: "http://127.0.0.1:1", hosts: [HOST] }, TIDEMARK_TOKEN: TOKEN };
  edge = await startEdgeRuntime(
    { script: await bundleWorker("local/runtime/virtual-time.worker.ts"), variables },
    { port: 0 },
  );
  document = JSON.parse((await exchange(edge.url, agent, { path: "/_tidemark/openapi.json" })).body) as Document;
  ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(closed(document), "document");
  ajv.addSchema(document, "published");
});

afterAll(() => edge.stop());

/** The document with no room for other fields, because this edge has none that it does not describe, but in `SiteStats`. */
function closed(open: Document): object {
  return JSON.parse(JSON.stringify(open), (name, value) =>
    name !== "SiteStats" && value?.properties ? { additionalProperties: false, ...value } : value,
  );
}

function schemaAt(pointer: string): ValidateFunction {
  return ajv.compile({ $ref: `document#${pointer}` });
}

/** The way in which the answer differs from the document's description of this call; nothing if it does not. */
function undescribed(path: string, method: string, answer: ClientAnswer): string | undefined {
  const described = document.paths[path]?.[method]?.responses[String(answer.status)];
  if (!described) return `status ${answer.status} is not described: ${answer.body}`;
  const mediaType = answer.fields["content-type"]?.split(";")[0] ?? "none";
  const content = described.content[mediaType];
  if (!content) return `${mediaType} is not described for ${answer.status}`;
  const validate = ajv.compile(resolved(content.schema));
  return validate(JSON.parse(answer.body)) ? undefined : `${answer.body}: ${ajv.errorsText(validate.errors)}`;
}

function resolved(schema: object): object {
  const { $ref } = schema as { $ref?: string };
  return $ref === undefined ? schema : { $ref: `document${$ref}` };
}

function purge(body: unknown, fields: Record<string, string> = {}): Promise<ClientAnswer> {
  return exchange(edge.url, agent, {
    method: "POST",
    path: "/_tidemark/purge",
    fields: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...fields },
    body: JSON.stringify(body),
  });
}

const tag = fc.stringMatching(/^[!-+\--~]{1,20}$/);
const path = fc.stringMatching(/^\/[a-z0-9/._~-]{0,20}$/);
const segment = fc.stringMatching(/^\/[a-z0-9]{1,20}$/);
const goodPurge = fc.oneof(
  fc.record({ everything: fc.constant(true) }),
  fc.record(
    { tags: fc.array(tag, { minLength: 1, maxLength: 5 }), reason: fc.string({ maxLength: 500 }) },
    { requiredKeys: ["tags"] },
  ),
  fc.record(
    {
      prefixes: fc.array(segment, { minLength: 1, maxLength: 3 }),
      hosts: fc.constant([HOST]),
      mode: fc.constantFrom("hard", "soft"),
      dryRun: fc.boolean(),
    },
    { requiredKeys: ["prefixes"] },
  ),
  fc.record({
    urls: fc.array(path, { minLength: 1, maxLength: 5 }),
    tags: fc.array(tag, { minLength: 1, maxLength: 3 }),
  }),
);

/** Other texts that a person or a broken program may send. */
const anyValue = fc.oneof(
  fc.jsonValue(),
  goodPurge.map((good) => ({ ...good, surplus: 1 })),
);
const anyPurge = fc.oneof(
  anyValue,
  fc.record(
    {
      urls: anyValue,
      tags: anyValue,
      prefixes: anyValue,
      hosts: anyValue,
      everything: anyValue,
      mode: anyValue,
      dryRun: anyValue,
      refresh: anyValue,
      id: anyValue,
      reason: anyValue,
    },
    { requiredKeys: [] },
  ),
);

describe("openapi.json", () => {
  test("is what `npm run docs` makes of the schemas", () => {
    expect(document).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
  });

  test("is a valid OpenAPI 3.1 document", async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document) as unknown as Record<string, unknown>);
    expect(result.errors).toBeUndefined();
    expect({ valid: result.valid, version: validator.version }).toEqual({ valid: true, version: "3.1" });
  });

  test("describes every path of the control plane that answers", async () => {
    const paths = [
      "/explain",
      "/health",
      "/metrics",
      "/openapi.json",
      "/purge",
      "/purges",
      "/purges/{seq}",
      "/session",
      "/site",
      "/stats",
    ];
    expect(Object.keys(document.paths).sort()).toEqual(paths);
  });

  test("an answer may have fields of a later version, so that generated clients go on, and a purge may not", async () => {
    const later = { ofALaterVersion: 1 };
    const receipt = JSON.parse((await purge({ tags: ["a"] })).body) as { accepted: object };
    const isReceipt = ajv.compile({ $ref: "published#/components/schemas/PurgeReceipt" });
    expect(isReceipt({ ...receipt, ...later, accepted: { ...receipt.accepted, ...later } })).toBe(true);
    expect(isReceipt({ ...receipt, seq: "1" })).toBe(false); // control
    const isRequest = ajv.compile({ $ref: "published#/components/schemas/PurgeRequest" });
    expect(isRequest({ tags: ["a"], ...later })).toBe(false);
  });

  test("every purge that its schema allows is accepted, and the receipt fits its schema", {
    tags: ["deep"],
  }, async () => {
    const isRequest = schemaAt("/components/schemas/PurgeRequest");
    await fc.assert(
      fc.asyncProperty(goodPurge, async (body) => {
        expect(isRequest(body)).toBe(true);
        const answer = await purge(body);
        expect({ status: answer.status, wrong: undescribed("/purge", "post", answer) }).toEqual({
          status: 200,
          wrong: undefined,
        });
      }),
      { numRuns: RUNS },
    );
  });

  test("every body gets an answer that fits it: an invalid one is refused, and none gets a 500", async () => {
    const isRequest = schemaAt("/components/schemas/PurgeRequest");
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(anyPurge, async (body) => {
        const answer = await purge(body);
        expect(undescribed("/purge", "post", answer)).toBeUndefined();
        if (!isRequest(body)) expect(answer.status).toBe(400);
        if (answer.status === 400) refused++;
      }),
      { numRuns: RUNS },
    );
    expect(refused).toBeGreaterThan(RUNS / 2); // control: the generator does produce requests that are refused
  });

  test.each([
    ["/stats", "get", {}, 401],
    ["/stats", "get", { authorization: `Bearer ${TOKEN}` }, 200],
    ["/health", "get", {}, 200],
    ["/openapi.json", "get", {}, 200],
    ["/site", "get", {}, 401],
    ["/site", "get", { authorization: `Bearer ${TOKEN}` }, 200],
    ["/session", "post", {}, 401],
    ["/session", "post", { authorization: `Bearer ${TOKEN}` }, 200],
    ["/purges", "get", {}, 401],
    ["/purges", "get", { authorization: `Bearer ${TOKEN}` }, 200],
    ["/purges/{seq}", "get", { authorization: `Bearer ${TOKEN}` }, 404],
    ["/purge", "post", { authorization: "Bearer wrong" }, 401],
    ["/purge", "post", { authorization: `Bearer ${TOKEN}`, "content-type": "text/plain" }, 415],
  ])("%s (%s) with %j answers %d as it says", async (place, method, fields, status) => {
    const answer = await exchange(edge.url, agent, {
      method: method.toUpperCase(),
      path: `/_tidemark${place}`,
      fields,
    });
    expect({ status: answer.status, wrong: undescribed(place, method, answer) }).toEqual({ status, wrong: undefined });
  });
});
