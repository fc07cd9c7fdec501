import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { PROBLEM_CODES, PROBLEM_MEDIA_TYPE, type ProblemCode } from "../../wire/problem.ts";
import type { PurgeRecordBody } from "../../wire/purge-record.ts";
import { listenLocally } from "../suite/local-url.ts";
import { tidemark } from "./run-command.ts";

const TOKEN = "a-token-that-may-read";

interface Answer {
  readonly status: number;
  readonly mediaType: string;
  readonly body: string;
}

const json = (body: unknown): Answer => ({ status: 200, mediaType: "application/json", body: JSON.stringify(body) });

function refusal(code: ProblemCode): Answer {
  const { status, title } = PROBLEM_CODES[code];
  return { status, mediaType: PROBLEM_MEDIA_TYPE, body: JSON.stringify({ type: `urn:${code}`, title, status, code }) };
}

function record(seq: number, more: Partial<PurgeRecordBody> = {}): PurgeRecordBody {
  return {
    seq,
    at: "2026-01-02T03:04:05.678Z",
    by: "shop",
    reason: null,
    mode: "hard",
    accepted: { urls: 1, tags: 0, prefixes: 0, hosts: 0, everything: false },
    items: ["/a"],
    itemCount: 1,
    id: null,
    repeatOf: null,
    settled: true,
    ...more,
  };
}

const page = {
  purges: [
    record(12, {
      mode: "soft",
      items: ["tag:song:42", "prefix:/shop"],
      itemCount: 5,
      reason: "an\u001b[2Jimport",
      settled: false,
    }),
    record(10, { settled: false, waitsFor: ["web-2:/c"] }),
    record(9, { items: ["/long/".padEnd(70, "x"), "/b"], itemCount: 2, repeatOf: 8 }),
    record(7, { items: ["/visitors/".padEnd(1800, "q")], reason: "a POST" }),
  ],
  next: 9,
};

const what = (words: string) => words.padEnd(`${page.purges[2]!.items[0]} and 1 more`.length);

const table = `SEQ  AT                        BY    MODE  SETTLED             ${what("WHAT")}  WHY
12   2026-01-02T03:04:05.678Z  shop  soft  not yet             ${what("tag:song:42 prefix:/shop and 3 more")}  an\ufffd[2Jimport
10   2026-01-02T03:04:05.678Z  shop  hard  waits for web-2:/c  /a
9    2026-01-02T03:04:05.678Z  shop  hard  yes                 /long/${"x".repeat(64)} and 1 more  (repeats 8)
7    2026-01-02T03:04:05.678Z  shop  hard  yes                 /visitors/${"q".repeat(1790)}  a POST
`;

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly answer?: Answer;
  /** The path that is requested; `null` if none may be. */
  readonly asks: string | null;
  readonly exit: number;
  readonly stdout?: string;
  readonly stderr?: string | RegExp;
}

const cases: readonly Case[] = [
  {
    name: "The latest purges are printed as a table, with the command for the next page",
    args: [],
    answer: json(page),
    asks: "/_tidemark/purges",
    exit: 0,
    stdout: table,
    stderr: "Older ones: tidemark purges --before 9\n",
  },
  {
    name: "--before and --limit choose a page, and --json prints it as JSON",
    args: ["--before", "13", "--limit", "2", "--json"],
    answer: json(page),
    asks: "/_tidemark/purges?before=13&limit=2",
    exit: 0,
    stdout: `${JSON.stringify(page)}\n`,
    stderr: "",
  },
  {
    name: "One purge by its number",
    args: ["12", "--json"],
    answer: json(record(12)),
    asks: "/_tidemark/purges/12",
    exit: 0,
    stdout: `${JSON.stringify(record(12))}\n`,
  },
  {
    name: "A purge that does not exist is refused",
    args: ["99"],
    answer: refusal("not-found"),
    asks: "/_tidemark/purges/99",
    exit: 1,
    stderr: /has no purge 99/,
  },
  {
    name: "A wrong token",
    args: [],
    answer: refusal("unauthorized"),
    asks: "/_tidemark/purges",
    exit: 1,
    stderr: /\(401\)/,
  },
  {
    name: "A token that may not read",
    args: [],
    answer: refusal("forbidden"),
    asks: "/_tidemark/purges",
    exit: 1,
    stderr: /may not read \(403\)\. Use a token with the scope read/,
  },
  {
    name: "A log that does not answer",
    args: [],
    answer: refusal("unavailable"),
    asks: "/_tidemark/purges",
    exit: 3,
    stderr: /cannot answer at the moment/,
  },
  {
    name: "Something else that answers",
    args: [],
    answer: { status: 200, mediaType: "text/html", body: "<p>Welcome</p>" },
    asks: "/_tidemark/purges",
    exit: 3,
    stderr: /which is not an answer of a Tidemark edge/,
  },
  { name: "A purge that is not a number", args: ["latest"], asks: null, exit: 2, stderr: /whole number, 1 or more/ },
  { name: "A limit above the maximum", args: ["--limit", "501"], asks: null, exit: 2, stderr: /at most 500/ },
  {
    name: "One purge with a limit",
    args: ["7", "--limit", "5"],
    asks: null,
    exit: 2,
    stderr: /--before and --limit need a list/,
  },
];

describe.concurrent("tidemark purges", () => {
  test.for(cases)("$name", async ({ args, answer = json(page), asks, exit, stdout = "", stderr = "" }) => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.headers.authorization} ${request.url}`);
      response.writeHead(answer.status, { "content-type": answer.mediaType }).end(answer.body);
    });
    const endpoint = await listenLocally(server);
    const env = { TIDEMARK_ENDPOINT: endpoint, TIDEMARK_TOKEN: TOKEN };
    const ended = await tidemark({ args: ["purges", ...args], env });
    server.close();

    const words = typeof stderr === "string" ? stderr : expect.stringMatching(stderr);
    expect(ended).toEqual({ exit, stdout, stderr: words });
    expect(asked).toEqual(asks === null ? [] : [`Bearer ${TOKEN} ${asks}`]);
  });
});
