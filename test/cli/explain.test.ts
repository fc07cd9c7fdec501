import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { PurgeTimeout } from "../../sdk/errors.ts";
import { MAX_ANSWER_BYTES } from "../../sdk/http/answer.ts";
import { askExplanation } from "../../sdk/http/ask-explanation.ts";
import type { Explanation } from "../../wire/explanation.ts";
import { PROBLEM_CODES, PROBLEM_MEDIA_TYPE, type ProblemCode } from "../../wire/problem.ts";
import { startFakeEdge } from "../sdk/fake-edge.ts";
import { createVirtualClock } from "../sdk/virtual-clock.ts";
import { listenLocally } from "../suite/local-url.ts";
import { startTidemark, tidemark } from "./run-command.ts";

const TOKEN = "a-token-that-may-read";
const CODINGS = { "accept-encoding": "gzip, deflate, br, zstd" };

const miss: Explanation = {
  version: 1,
  url: "https://www.example.com/list?page=2&utm_source=mail",
  method: "GET",
  route: "/list",
  key: "https://www.example.com/list?page=2",
  dropped: ["utm_source=mail"],
  memory: null,
  sharedTier: null,
  purge: null,
  outcome: { xCache: "MISS", detail: null },
  steps: [
    { step: "memory", because: "nothing" },
    { step: "sharedTier", because: "nothing" },
    { step: "fetch", because: "fetch" },
    { step: "store", because: "yes" },
    { step: "store", because: "unkeyed-field:x-app" },
  ],
  nearest: [{ key: "https://www.example.com/list?page=1", differsIn: ["query page=2", "query page=1"] }],
};

const purged: Explanation = {
  ...miss,
  url: "https://www.example.com/a",
  route: null,
  key: "https://www.example.com/a",
  dropped: [],
  memory: {
    status: 200,
    bodyBytes: 12,
    since: "2026-01-02T03:04:05.678Z",
    ageSeconds: 90,
    freshForSeconds: -30,
    selectedBy: ["accept-language"],
    tags: ["song:42"],
  },
  purge: {
    seq: 12,
    made: "soft",
    record: {
      seq: 12,
      at: "2026-01-02T03:05:00.000Z",
      by: "shop",
      reason: "an\u001b[2Jimport",
      mode: "soft",
      accepted: { urls: 0, tags: 1, prefixes: 0, hosts: 0, everything: false },
      items: ["tag:song:42"],
      itemCount: 1,
      id: null,
      repeatOf: null,
      settled: true,
    },
  },
  outcome: { xCache: "UPDATING", detail: "soft-purge" },
  steps: [{ step: "memory", because: "soft-purge" }],
  nearest: [],
};

const missText = `MISS  GET https://www.example.com/list?page=2&utm_source=mail

  1. /list is the first route that matches /list.
  2. Memory has nothing under this key.
  3. The shared tier has nothing under this key.
  4. The edge asks the origin.
  5. The answer is stored if its own fields allow that.
  6. The answer is stored only if Vary, key.fields, fields.drop or fields.trust names x-app, or if second looks find that it changes nothing: usual fields get no looks, credentials neither looks nor trust.

Key          https://www.example.com/list?page=2
Dropped      utm_source=mail
Nearest      https://www.example.com/list?page=1
             differs in: query page=2, query page=1
`;

const purgedText = `UPDATING (soft-purge)  GET https://www.example.com/a

  1. No route matches /a: the fields of the origin's answer decide.
  2. Memory has the answer: a soft purge has made it stale; it may still answer, and the edge fetches it again after that.

Key          https://www.example.com/a
Memory       200, 12 bytes, since 2026-01-02T03:04:05.678Z, age 90 s, stale for 30 s, selected by accept-language
Tags         song:42
Purge        soft by purge 12 of tag:song:42, 2026-01-02T03:05:00.000Z, by shop, because: an\ufffd[2Jimport
`;

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly answer?: { readonly status: number; readonly mediaType: string; readonly body: string };
  /** The connection ends after this many bytes of the body. */
  readonly hangsUpAfter?: number;
  /** The body of the call; `null` if nothing may be sent. */
  readonly asks: object | null;
  readonly exit: number;
  readonly stdout?: string;
  readonly stderr?: RegExp;
}

const json = (body: unknown) => ({ status: 200, mediaType: "application/json", body: JSON.stringify(body) });

function refusal(code: ProblemCode, errors?: object[]) {
  const { status, title } = PROBLEM_CODES[code];
  const body = JSON.stringify({ type: `urn:${code}`, title, status, code, errors });
  return { status, mediaType: PROBLEM_MEDIA_TYPE, body };
}

const asked = { url: "/a", method: "GET", fields: CODINGS };

const cases: readonly Case[] = [
  { name: "A miss in sentences", args: ["/a"], asks: asked, exit: 0, stdout: missText },
  {
    name: "The nearest page has its whole key, even with a second question mark",
    args: ["/a"],
    answer: json({ ...miss, nearest: [{ key: "https://www.example.com/list?to=/a?b&page=1", differsIn: [] }] }),
    asks: asked,
    exit: 0,
    stdout: missText.replace("list?page=1\n", "list?to=/a?b&page=1\n").replace(/differs in: .*/, "differs in: "),
  },
  { name: "A purged page", args: ["/a"], answer: json(purged), asks: asked, exit: 0, stdout: purgedText },
  {
    name: "--json prints the edge's JSON",
    args: ["/a", "--json"],
    asks: asked,
    exit: 0,
    stdout: `${JSON.stringify(miss)}\n`,
  },
  {
    name: "-H gives fields and -X the method; lines of one field are joined",
    args: ["/a", "-X", "head", "-H", "Accept-Encoding: gzip", "-H", "Cookie: a=1", "-H", "cookie:b=2"],
    asks: { url: "/a", method: "HEAD", fields: { "accept-encoding": "gzip", cookie: "a=1; b=2" } },
    exit: 0,
    stdout: missText,
  },
  {
    name: "A field may have the name of what every object has",
    args: ["/a", "-H", "constructor: x", "-H", "__proto__: y"],
    asks: { url: "/a", method: "GET", fields: { ...CODINGS, constructor: "x", ["__proto__"]: "y" } },
    exit: 0,
    stdout: missText,
  },
  {
    name: "A field Host, because the URL names the host",
    args: ["/a", "-H", "Host: www.example.com"],
    asks: null,
    exit: 2,
    stderr: /The URL names the host: write https:\/\/www\.example\.com\/path in place of a path and Host\./,
  },
  {
    name: "A field without a colon",
    args: ["/a", "-H", "Cookie"],
    asks: null,
    exit: 2,
    stderr: /Write it as "Name: value"/,
  },
  {
    name: "A method that the edge does not explain",
    args: ["/a", "-X", "PROPFIND"],
    asks: null,
    exit: 2,
    stderr: /'PROPFIND' is invalid\. It must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\./,
  },
  { name: "No URL", args: [], asks: null, exit: 2, stderr: /missing required argument/ },
  {
    name: "A request that the edge does not understand",
    args: ["a"],
    answer: refusal("invalid", [{ path: "url", message: "must be an absolute URL" }]),
    asks: { ...asked, url: "a" },
    exit: 1,
    stderr: /refused the request \(400\): url: must be an absolute URL\.\n$/,
  },
  {
    name: "A refusal that would clear the terminal",
    args: ["/a"],
    answer: refusal("invalid", [{ path: "url", message: "\u001b[2Jis \u202efine" }]),
    asks: asked,
    exit: 1,
    stderr: /refused the request \(400\): url: \ufffd\[2Jis \ufffdfine\.\n$/,
  },
  {
    name: "A token that may not read",
    args: ["/a"],
    answer: refusal("forbidden"),
    asks: asked,
    exit: 1,
    stderr: /Use a token with the scope read/,
  },
  {
    name: "A proxy in front that cannot reach the edge",
    args: ["/a"],
    answer: { status: 502, mediaType: "text/html", body: "<h1>502 Bad Gateway</h1>" },
    asks: asked,
    exit: 3,
    stderr:
      /^tidemark: The edge at http\S+ cannot answer at the moment \(502; 1 attempt\)\. Try again later; if this continues, look at/,
  },
  {
    name: "An edge that accepts no more requests for now",
    args: ["/a"],
    answer: refusal("rate-limited"),
    asks: asked,
    exit: 1,
    stderr:
      /^tidemark: The edge at http\S+ accepts no more requests for now \(429; 1 attempt\)\. Wait, then try again\.\n$/,
  },
  {
    name: "Something else that answers",
    args: ["/a"],
    answer: { status: 200, mediaType: "text/html", body: "<p>Welcome</p>" },
    asks: asked,
    exit: 3,
    stderr: /which is not an answer of a Tidemark edge/,
  },
  {
    name: "An answer that breaks off",
    args: ["/a"],
    hangsUpAfter: 20,
    asks: asked,
    exit: 3,
    stderr: /The answer from http\S+ broke off \(200; 1 attempt\)\. Try again\./,
  },
  {
    name: "An answer that is too long",
    args: ["/a"],
    answer: { status: 200, mediaType: "application/json", body: " ".repeat(MAX_ANSWER_BYTES + 1) },
    asks: asked,
    exit: 3,
    stderr: /answered 200 with more than \d+ bytes, which is not an answer of a Tidemark edge/,
  },
];

describe.concurrent("tidemark explain", () => {
  test.for(cases)("$name", async (row) => {
    const { args, answer = json(miss), hangsUpAfter, asks, exit, stdout = "", stderr = /^$/ } = row;
    const calls: unknown[] = [];
    const server = createServer(async (request, response) => {
      const { authorization } = request.headers;
      calls.push({ path: request.url, authorization, body: JSON.parse(await text(request)) as unknown });
      response.writeHead(answer.status, { "content-type": answer.mediaType });
      if (hangsUpAfter === undefined) response.end(answer.body);
      else response.write(answer.body.slice(0, hangsUpAfter), () => response.destroy());
    });
    const endpoint = await listenLocally(server);
    const env = { TIDEMARK_ENDPOINT: endpoint, TIDEMARK_TOKEN: TOKEN };
    const start = args === cases[0]!.args ? startTidemark : tidemark;
    const ended = await start({ args: ["explain", ...args], env });
    server.close();
    expect(ended).toEqual({
      exit,
      stdout,
      stderr: expect.stringMatching(stderr) as string,
    });
    const expected = { path: "/_tidemark/explain", authorization: `Bearer ${TOKEN}`, body: asks };
    expect(calls).toEqual(asks === null ? [] : [expected]);
  });
});

test("An answer that stalls until the deadline is told as a timeout", async () => {
  const clock = createVirtualClock();
  await using edge = await startFakeEdge({ json: miss, stallsAfterBytes: 0, afterwards: () => clock.advance(10_000) });
  const { endpoint } = edge;
  const refused = await askExplanation(asked, { endpoint, token: TOKEN }, clock).catch((cause: unknown) => cause);
  expect(refused).toBeInstanceOf(PurgeTimeout);
  expect(refused).toMatchObject({
    message: expect.stringMatching(/^No answer from http\S+ within 10000 ms\. Try again later/),
  });
});
