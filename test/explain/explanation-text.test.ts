import { expect, test } from "vitest";
import type { Explanation } from "../../wire/explanation.ts";
import { stepTexts } from "../../wire/text/explanation-text.ts";
import { startMemoryEngine } from "../engine/memory/memory-engine.ts";
import type { SiteChange } from "../engine/scenario.ts";

const MISS: Explanation = {
  version: 1,
  url: "https://www.example.test/a",
  method: "GET",
  route: null,
  key: "https://www.example.test/a",
  dropped: [],
  memory: null,
  sharedTier: null,
  purge: null,
  outcome: { xCache: "MISS", detail: null },
  steps: [],
  nearest: [],
};

test("the last sentence of a miss says why and when the last answer was not stored", () => {
  const lastRefusal = { because: "set-cookie", at: "2026-01-01T12:00:00.000Z" };
  expect(stepTexts({ ...MISS, lastRefusal }).at(-1)).toBe(
    "The last answer, at 2026-01-01T12:00:00.000Z, was not stored: set-cookie.",
  );
});

test("a sentence says that nobody waits for an origin that is down", () => {
  const steps = [{ step: "origin-down", because: null }];
  expect(stepTexts({ ...MISS, outcome: { xCache: null, detail: "origin-down" }, steps }).at(-1)).toBe(
    "The origin is down, so only one request a second waits for it.",
  );
});

test.each([
  [
    "queue-full",
    null,
    "The origin has as many requests as it may get, and no more may wait, so this one gets no turn.",
  ],
  ["refresh", null, "The request is a refresh: the edge fetches the page and replaces what is stored."],
  ["refresh", "unauthorized", "The token in Tidemark-Refresh is refused: unauthorized."],
])("a sentence says what %s means: %s", (step, because, text) => {
  expect(stepTexts({ ...MISS, steps: [{ step, because }] }).at(-1)).toBe(text);
});

test("the one sentence of a URL that no page has says who answers", () => {
  const told = (step: string, because: string | null) => stepTexts({ ...MISS, key: null, steps: [{ step, because }] });
  expect(told("refuse", "it is longer than 9 bytes")).toEqual([
    "The edge refuses this URL: it is longer than 9 bytes.",
  ]);
  expect(told("control-plane", null)).toEqual(["The control plane answers, to which all of /_tidemark/ belongs."]);
});

test.each<{ name: string; field?: string; site?: SiteChange; vary?: string }>([
  { name: "Vary", vary: "x-api-key" },
  { name: "key.fields", site: { routes: [{ match: "/*", key: { fields: ["x-api-key"] } }] } },
  { name: "fields.drop", site: { fields: { drop: ["x-api-key"] } } },
  { name: "fields.trust", field: "x-app", site: { fields: { trust: ["x-app"] } } },
])("a sentence names $name, by which an answer to an unkeyed field is stored", async (row) => {
  const { name, field = "x-api-key", site = {}, vary = "accept-encoding" } = row;
  const said = stepTexts({ ...MISS, steps: [{ step: "store", because: `unkeyed-field:${field}` }] }).at(-1);
  expect(said!.split(` names ${field}`)[0]).toContain(name);
  const engine = startMemoryEngine(site, 1);
  let asked = 0;
  engine.answerBy!(() => {
    asked++;
    return { status: 200, fields: { "cache-control": "max-age=60", vary }, body: "a page" };
  });
  for (let count = 0; count < 2; count++) await engine.settle(engine.send({ path: "/a", fields: { [field]: "7" } }));
  await engine.finishWork();
  expect(asked).toBe(1);
  await engine.stop();
});

test.each([
  ["stale-if-error", /^If the origin fails, .*: stale-if-error allows this\.$/],
  ["stale.ifError", /^If the origin fails, .*: the site's stale\.ifError allows this\.$/],
  ["stale.ifDisconnected", /^If the origin gives no answer, .*: the site's stale\.ifDisconnected allows this\.$/],
])("a sentence says that %s allows a stale answer", (because, text) => {
  expect(stepTexts({ ...MISS, steps: [{ step: "stale-if-error", because }] }).at(-1)).toMatch(text);
});

test.each([
  [
    "dcz pZGm1Av",
    "The visitor has the version with the SHA-256 pZGm1Av, and gets the changes since then as dcz, once the edge has made them.",
  ],
  [
    "not-wanted",
    "No delta from an older version is sent: the request names none, or prefers other codings to dcz and dcb.",
  ],
  [
    "unknown-dictionary",
    "No delta from an older version is sent: the version that the request names is not kept here, or no longer.",
  ],
  ["keyed", "It is not offered as a dictionary: something besides its path selects it."],
  ["digest", "It is not offered as a dictionary: it has a digest or signature of its bytes."],
  [
    "no-browser-lifetime",
    "It is not offered as a dictionary: browsers get neither a lifetime nor stale-while-revalidate for it.",
  ],
])("a sentence names the older version that a delta is based on, or says why there is none: %s", (because, text) => {
  const steps = [
    { step: "memory", because: "fresh" },
    { step: "coding", because: "dcz" },
    { step: "delta", because },
  ];
  const memory = { status: 200, bodyBytes: 9, since: "2026-01-01T12:00:00.000Z", ageSeconds: 0, freshForSeconds: 60 };
  const said = stepTexts({ ...MISS, memory: { ...memory, selectedBy: [], tags: [] }, steps });
  expect(said.slice(-3)).toEqual([
    "Memory has the answer: it is fresh for 60 s more.",
    "It is sent compressed as dcz.",
    text,
  ]);
});
