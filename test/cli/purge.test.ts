import { describe, expect, test, vi } from "vitest";
import { systemClock } from "../../sdk/clock.ts";
import type { ReceiptBody } from "../../sdk/index.ts";
import { type Act, accepts, deadEndpoint, purgeRecord, receiptBody, refuses, startFakeEdge } from "../sdk/fake-edge.ts";
import { type Call, startTidemark, tidemark } from "./run-command.ts";

const TOKEN = "a-token-of-the-edge";

function receipt(more: Partial<ReceiptBody>): Act {
  return { json: { ...receiptBody, ...more } };
}

const none = { urls: 0, tags: 0, prefixes: 0, hosts: 0, everything: false };

/** A pause that is longer than the deadline of a purge, so that the purge is not sent again. */
const longPause = { "retry-after": "60" };

interface Case extends Call {
  readonly name: string;
  readonly edge?: Act;
  /** The body that the edge receives, without the id; `null` if it must receive nothing. */
  readonly sent?: Readonly<Record<string, unknown>> | null;
  readonly exit: number;
  readonly stdout?: string | RegExp;
  readonly stderr?: string | RegExp;
}

const settles = "It settles in 1.25 s: from then on no PoP serves what was purged.";

const settlesSoft =
  "It settles in 1.25 s: from then on every PoP fetches again what was purged, and may show the old page meanwhile.";

const done: readonly Case[] = [
  {
    name: "URLs and tags can be repeated",
    args: ["--url", "/a", "--tag", "x", "--url", "https://www.example.com/b", "--tag", "y"],
    edge: receipt({ accepted: { ...receiptBody.accepted, urls: 2, tags: 2 } }),
    sent: { urls: ["/a", "https://www.example.com/b"], tags: ["x", "y"] },
    exit: 0,
    stdout: `Purge 7 is accepted: 2 URLs and 2 tags. ${settles}\n`,
    stderr: "",
  },
  {
    name: "Everything is the whole site",
    args: ["--everything", "--reason", "a new design", "--id", "deploy-42"],
    edge: receipt({ accepted: { ...receiptBody.accepted, tags: 0, everything: true } }),
    sent: { everything: true, reason: "a new design", id: "deploy-42" },
    exit: 0,
    stdout: `Purge 7 is accepted: the whole site. ${settles}\n`,
  },
  {
    name: "Prefixes, hosts and a soft purge",
    args: ["--prefix", "/shop", "--host", "m.example.com", "--prefix", "m.example.com/a", "--soft"],
    edge: receipt({ accepted: { ...receiptBody.accepted, tags: 0, prefixes: 2, hosts: 1 } }),
    sent: { prefixes: ["/shop", "m.example.com/a"], hosts: ["m.example.com"], mode: "soft" },
    exit: 0,
    stdout: `Purge 7 is accepted: 2 prefixes and 1 host. ${settlesSoft}\n`,
  },
  {
    name: "A dry run prints what would be purged, waits for nothing, and warns",
    args: ["--url", "/a?utm_source=x", "--url", "/b", "--prefix", "/shop/", "--dry-run", "--wait"],
    edge: receipt({
      seq: 0,
      dryRun: true,
      accepted: { ...receiptBody.accepted, tags: 0, urls: 2, prefixes: 1 },
      warnings: ["It has query parameters."],
      planned: [
        { item: "/a?utm_source=x", key: "/a", route: "/a" },
        { item: "/b", key: "/b", route: null },
        { item: "/shop/", key: "/shop" },
      ],
    }),
    sent: { urls: ["/a?utm_source=x", "/b"], prefixes: ["/shop/"], dryRun: true },
    exit: 0,
    stdout: `Nothing was purged. This purge would cover 2 URLs and 1 prefix.
/a?utm_source=x  is purged as /a, on the route /a
/b  is purged as /b, on no route
/shop/  is purged as /shop
`,
    stderr: "tidemark: It has query parameters.\n",
  },
  {
    name: "A purge that matches nothing is accepted, and suggests the nearest tag",
    args: ["--tag", "plog-hello"],
    edge: receipt({
      warnings: ["No page was stored lately under tag:plog-hello; the nearest is tag:plog:hello."],
      unseen: [{ item: "tag:plog-hello", nearest: "tag:plog:hello" }],
    }),
    exit: 0,
    stdout: `Purge 7 is accepted: 1 tag. ${settles}\n`,
    stderr: "tidemark: No page was stored lately under tag:plog-hello; the nearest is tag:plog:hello.\n",
  },
  {
    name: "A replay says so",
    args: ["--tag", "x"],
    edge: receipt({ replayed: true, settlesInMs: 0 }),
    exit: 0,
    stdout: "Purge 7 was accepted earlier under this id: 1 tag. It has settled: no PoP serves what was purged.\n",
  },
  {
    name: "A replay of a soft purge does not say that nobody sees the old page",
    args: ["--tag", "x", "--soft"],
    edge: receipt({ replayed: true, settlesInMs: 0 }),
    exit: 0,
    stdout:
      "Purge 7 was accepted earlier under this id: 1 tag. It has settled: every PoP fetches again what was purged, and may show the old page meanwhile.\n",
  },
  {
    name: "Each refreshed URL has a line, and the purge is accepted although one was not fetched",
    args: ["--url", "/a", "--url", "/b", "--url", "/c", "--refresh"],
    edge: receipt({
      accepted: { ...receiptBody.accepted, urls: 3, tags: 0 },
      refreshed: [
        { url: "/a", status: 200, xCache: "BYPASS" },
        { url: "/b", status: 404, xCache: "MISS" },
        { url: "/c", status: 502, error: "the origin did not answer" },
      ],
    }),
    sent: { urls: ["/a", "/b", "/c"], refresh: true },
    exit: 0,
    stdout: `Purge 7 is accepted: 3 URLs. ${settles}
BYPASS  200  /a
MISS    404  /b
-       502  /c  the origin did not answer
`,
  },
  {
    name: "With --json the receipt is one object, and warnings go to standard error",
    args: ["--tag", "x", "--json"],
    edge: receipt({ warnings: ["Browsers may keep it longer."] }),
    exit: 0,
    stdout: `${JSON.stringify({ ...receiptBody, warnings: ["Browsers may keep it longer."] })}\n`,
    stderr: "tidemark: Browsers may keep it longer.\n",
  },
  {
    name: "With --wait it exits when the purge has settled",
    args: ["--tag", "x", "--wait"],
    edge: receipt({ settlesInMs: 10 }),
    exit: 0,
    stdout: /^Purge 7 is accepted: 1 tag\. It settles in 0\.01 s: /,
    stderr: "Waiting 0.01 s for it to settle …\nSettled.\n",
  },
  {
    name: "With --wait it says nothing more of a purge that had settled when it was accepted",
    args: ["--tag", "x", "--wait"],
    edge: receipt({ settlesInMs: 0 }),
    exit: 0,
    stdout: "Purge 7 is accepted: 1 tag. It has settled: no PoP serves what was purged.\n",
    stderr: "",
  },
  {
    name: "A purge that does not settle in time has its own exit code, and its receipt is printed",
    args: ["--tag", "x", "--wait-timeout", "0.01", "--json"],
    edge: receipt({ settlesInMs: 60_000 }),
    exit: 4,
    stdout: `${JSON.stringify({ ...receiptBody, settlesInMs: 60_000 })}\n`,
    stderr: /purge 7 has not settled within 0\.01 s\. It was accepted/,
  },
  {
    name: "A dash reads items from standard input, after those of the flags",
    args: ["--url", "/first", "-"],
    stdin:
      "# what the job changed\n/a?b=c\n\n  https://www.example.com/d \r\ntag:song:42\nHTTP://www.example.com/e\n" +
      "prefix:/shop\nhost:m.example.com\nprefix:m.example.com/a",
    sent: {
      urls: ["/first", "/a?b=c", "https://www.example.com/d", "HTTP://www.example.com/e"],
      tags: ["song:42"],
      prefixes: ["/shop", "m.example.com/a"],
      hosts: ["m.example.com"],
    },
    exit: 0,
  },
  {
    name: "Without a dash standard input is not read",
    args: ["--tag", "x"],
    stdin: "tag:y\n",
    sent: { tags: ["x"] },
    exit: 0,
  },
  {
    name: "The flag --endpoint overrides TIDEMARK_ENDPOINT",
    args: ["--tag", "x"],
    env: { TIDEMARK_ENDPOINT: "https://nowhere.invalid" },
    exit: 0,
  },
];

const HOW_TO_CONFIGURE =
  "Set TIDEMARK_ENDPOINT or --endpoint to the site's origin, like https://www.example.com, and TIDEMARK_TOKEN to a " +
  "token of its edge.";

const usage: readonly Case[] = [
  {
    name: "nothing is named",
    args: [],
    exit: 2,
    stderr: /there is nothing to purge\. Name items with --url, --tag, --prefix, --host or --everything/,
  },
  {
    name: "standard input names nothing",
    args: ["-"],
    stdin: "# none\n",
    exit: 2,
    stderr: /there is nothing to purge/,
  },
  {
    name: "a line is neither URL nor tag",
    args: ["-"],
    stdin: "/a\nabout\n",
    exit: 2,
    stderr:
      /standard input, line 2: "about" is neither a URL .* nor a tag \(tag:NAME\), a prefix .* or a host .*\. Nothing was purged/,
  },
  {
    name: "a line is in Latin-1",
    args: ["-"],
    stdin: Buffer.from("/a\n/caf\u00e9\n", "latin1"),
    exit: 2,
    stderr: /^tidemark: "\/caf\ufffd" is not in UTF-8\. Write it in UTF-8, .* like %E9\. Nothing was purged\.\n$/,
  },
  {
    name: "an argument was no UTF-8",
    args: ["--prefix", "/caf\ufffd"],
    exit: 2,
    stderr: /^tidemark: "\/caf\ufffd" is not in UTF-8/,
  },
  {
    name: "a tag is not valid",
    args: ["--tag", "a b"],
    exit: 2,
    stderr: /^tidemark: tags\[0\]: a tag must be printable ASCII/,
  },
  {
    name: "--everything is combined with a tag",
    args: ["--everything", "--tag", "x"],
    exit: 2,
    stderr: /^tidemark: everything: must stand alone/,
  },
  {
    name: "tags are to be refreshed",
    args: ["--tag", "x", "--refresh"],
    exit: 2,
    stderr: /^tidemark: --refresh needs a URL/,
  },
  { name: "an item has no flag", args: ["/about"], exit: 2, stderr: /"\/about" needs a flag: --url/ },
  { name: "a flag does not exist", args: ["--tags", "x"], exit: 2, stderr: /unknown option '--tags'\n\(Did you mean/ },
  {
    name: "a flag stands where a value is missing",
    args: ["--tag", "--refresh", "--url", "/a"],
    exit: 2,
    stderr: /'--tag <tag>' argument '--refresh' is invalid\. That is a flag; the value before it is missing/,
  },
  {
    name: "the time to wait is not a number",
    args: ["--tag", "x", "--wait-timeout", "soon"],
    exit: 2,
    stderr: /'--wait-timeout <seconds>' argument 'soon' is invalid/,
  },
  {
    name: "the time to wait is longer than a timer runs",
    args: ["--tag", "x", "--wait-timeout", "2147484"],
    exit: 2,
    stderr: /argument '2147484' is invalid\. It must be a number of seconds, more than 0 and at most 2147483\./,
  },
  {
    name: "there is no token",
    args: ["--tag", "x"],
    env: { TIDEMARK_TOKEN: "" },
    exit: 2,
    stderr: `tidemark: There is no token. ${HOW_TO_CONFIGURE}\n`,
  },
  {
    name: "there is no token for items that become several purges",
    args: ["-", "--id", "x"],
    stdin: Array.from({ length: 10_001 }, (_, index) => `tag:t${index}`).join("\n"),
    env: { TIDEMARK_TOKEN: "" },
    exit: 2,
    stderr: /The first failure: There is no token\. Set TIDEMARK_ENDPOINT or --endpoint .* to a token of its edge\.\n/,
  },
  {
    name: "the reason is too long",
    args: ["--tag", "x", "--reason", "r".repeat(10_000)],
    exit: 2,
    stderr: /^tidemark: reason: /,
  },
  {
    name: "nothing is configured",
    args: ["--tag", "x", "--endpoint", ""],
    env: { TIDEMARK_TOKEN: "" },
    exit: 2,
    stderr: `tidemark: There is no endpoint. ${HOW_TO_CONFIGURE}\n`,
  },
  {
    name: "the endpoint is not an origin",
    args: ["--tag", "x", "--endpoint", "www.example.com"],
    exit: 2,
    stderr: /is not an origin/,
  },
];

const failures: readonly Case[] = [
  {
    name: "the edge rejects an item",
    args: ["--url", "/a"],
    edge: refuses("invalid", { errors: [{ path: "urls[0]", message: "is on no host of the site" }] }),
    exit: 1,
    stderr: /^tidemark: The edge .* refused the request \(400\) and purged nothing: urls\[0\]: is on no host/,
  },
  { name: "the token is wrong", args: ["--tag", "x"], edge: refuses("unauthorized"), exit: 1, stderr: /\(401\)/ },
  {
    name: "the token lacks the permission",
    args: ["--tag", "x"],
    edge: refuses("forbidden"),
    exit: 1,
    stderr: /\(403\)/,
  },
  { name: "the id is taken", args: ["--tag", "x"], edge: refuses("conflict"), exit: 1, stderr: /\(409\)/ },
  { name: "the request is too large", args: ["--tag", "x"], edge: refuses("too-large"), exit: 1, stderr: /\(413\)/ },
  {
    name: "there were too many purges",
    args: ["--tag", "x"],
    edge: refuses("rate-limited", {}, longPause),
    exit: 1,
    stderr: /\(429; 1 attempt\)\. Wait 60 s/,
  },
  {
    name: "the log cannot be reached",
    args: ["--tag", "x"],
    edge: refuses("unavailable", {}, longPause),
    exit: 3,
    stderr: /accepts no purges at the moment \(503/,
  },
  {
    name: "the edge has no such address",
    args: ["--tag", "x"],
    edge: refuses("not-found"),
    exit: 3,
    stderr: /\(404\)/,
  },
  {
    name: "the edge fails",
    args: ["--tag", "x"],
    edge: { status: 500, text: "oh" },
    exit: 3,
    stderr: /failed \(500\)\. The purge may have happened/,
  },
  {
    name: "something else answers",
    args: ["--tag", "x", "--json"],
    edge: { text: "<p>Welcome</p>", headers: { "content-type": "text/html" } },
    exit: 3,
    stdout: "",
    stderr: /which is not an answer of a Tidemark edge/,
  },
];

test("With --refresh the edge may take five minutes for all pages", async () => {
  await using edge = await startFakeEdge(receipt({ refreshed: [{ url: "/a", status: 200, xCache: "BYPASS" }] }));
  const { sleep } = systemClock;
  // The deadline of five minutes, which the answer ends, is the only wait: all shorter ones are over at once.
  const clock = vi
    .spyOn(systemClock, "sleep")
    .mockImplementation((ms, signal) => (ms > 300_000 ? sleep(ms, signal) : Promise.resolve()));
  const args = ["purge", "--url", "/a", "--endpoint", edge.endpoint];
  const env = { TIDEMARK_TOKEN: TOKEN };
  const [refreshes, purges] = [await tidemark({ args: [...args, "--refresh"], env }), await tidemark({ args, env })];
  clock.mockRestore();
  expect(refreshes).toMatchObject({ exit: 0, stderr: "" });
  expect(purges).toMatchObject({ exit: 3, stderr: expect.stringContaining("within 10000 ms") });
});

describe.concurrent("tidemark purge", () => {
  test.for(done)("$name", runs);
  test.for(usage.map((each): Case => ({ sent: null, stdout: "", ...each })))("Wrong usage: $name", runs);
  test.for(failures.map((each): Case => ({ stdout: "", ...each })))("Failure: $name", runs);

  test("An endpoint where nothing listens has the exit code for unreachable", async ({ expect }) => {
    const endpoint = await deadEndpoint();
    const ended = await tidemark({
      args: ["purge", "--tag", "x", "--endpoint", endpoint],
      env: { TIDEMARK_TOKEN: TOKEN },
    });
    expect(ended).toEqual({ exit: 3, stdout: "", stderr: expect.stringContaining(`No connection to ${endpoint}`) });
  });

  test("In a process of its own, the variables alone are enough", async ({ expect }) => {
    await using edge = await startFakeEdge(accepts);
    const env = { TIDEMARK_ENDPOINT: edge.endpoint, TIDEMARK_TOKEN: TOKEN };
    expect((await startTidemark({ args: ["purge", "--tag", "x"], env })).exit).toBe(0);
    expect(edge.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test.for([["--token", "s3cret"], ["--token=s3cret"], ["--token"]])(
    "%s is refused, and its value is not printed",
    async (args, { expect }) => {
      const ended = await tidemark({ args: ["purge", "--tag", "x", ...args], env: { TIDEMARK_TOKEN: TOKEN } });
      expect(ended.exit).toBe(2);
      expect(ended.stderr).toContain("Set the variable TIDEMARK_TOKEN");
      expect(ended.stdout + ended.stderr).not.toContain("s3cret");
    },
  );

  test("Many items become several purges, with progress, and the same command with the id continues, in whatever order they come", async ({
    expect,
  }) => {
    const numbered = (seq: number, replayed = false) => receipt({ seq, replayed, accepted: { ...none, tags: 1 } });
    await using edge = await startFakeEdge(
      numbered(7),
      refuses("rate-limited", {}, longPause),
      numbered(7, true),
      numbered(8),
      numbered(9),
    );
    const lines = Array.from({ length: 20_001 }, (_, index) => `tag:song:${index}`);
    const stdin = lines.join("\n");
    const env = { TIDEMARK_ENDPOINT: edge.endpoint, TIDEMARK_TOKEN: TOKEN };

    const first = await tidemark({ args: ["purge", "-"], stdin, env });
    const id = /^Purging under the id (\S+)\. /.exec(first.stderr)![1]!;
    const second = await tidemark({ args: ["purge", "-", "--id", id], stdin: lines.toReversed().join("\n"), env });

    expect(first).toMatchObject({ exit: 1, stdout: "" });
    expect(first.stderr).toMatch(/\n1 of 3 purges: 1 item\n/);
    expect(first.stderr).toContain(`tidemark: run the same command with --id ${id} to send those that failed.\n`);
    expect(second).toEqual({
      exit: 0,
      stdout: `3 purges, the last with number 9, are accepted, 1 of them earlier under this id: 3 tags. ${settles}\n`,
      stderr: expect.stringMatching(/\n1 of 3 purges: 1 item, accepted earlier\n2 of 3 purges: 2 items\n3 of 3 /),
    });
    const sent = edge.requests.map(({ body }) => [body.id, (body.tags as string[]).length]);
    const all = [10_000, 10_000, 1].map((count, index) => [`${id}.${index + 1}`, count]);
    expect(sent).toEqual([all[0], all[1], ...all]);
    expect(edge.requests[1]?.body).toEqual(edge.requests[3]?.body);
  });

  test("A dry run of many items tells nothing of a purge that could be continued", async ({ expect }) => {
    const planned = receipt({ seq: 0, dryRun: true, accepted: { ...none, tags: 1 }, planned: [] });
    await using edge = await startFakeEdge(planned, planned);
    const stdin = Array.from({ length: 10_001 }, (_, index) => `tag:song:${index}`).join("\n");
    const env = { TIDEMARK_ENDPOINT: edge.endpoint, TIDEMARK_TOKEN: TOKEN };
    expect(await tidemark({ args: ["purge", "-", "--dry-run"], stdin, env })).toEqual({
      exit: 0,
      stdout: "Nothing was purged. This purge would cover 2 tags.\n",
      stderr: "1 of 2 purges: 1 item\n2 of 2 purges: 2 items\n",
    });
  });

  test("Few items that are long become several purges, too, under an id that was told before", async ({ expect }) => {
    const numbered = (seq: number) => receipt({ seq, accepted: { ...none, tags: 1 } });
    await using edge = await startFakeEdge(numbered(7), numbered(8));
    const stdin = Array.from({ length: 1_500 }, (_, index) => `/${String(index).padStart(4_000, "0")}`).join("\n");
    const env = { TIDEMARK_ENDPOINT: edge.endpoint, TIDEMARK_TOKEN: TOKEN };
    const { stderr } = await tidemark({ args: ["purge", "-"], stdin, env });
    const id = /^Purging under the id (\S+)\. /.exec(stderr)?.[1];
    expect(edge.requests.map(({ body }) => body.id)).toEqual([`${id}.1`, `${id}.2`]);
  });

  test("With --refresh there are fifty URLs in a purge, and with --json one object has all receipts", async ({
    expect,
  }) => {
    const urls = Array.from({ length: 51 }, (_, index) => `/${index}`);
    const refreshed = (of: string[]) => of.map((url) => ({ url, status: 200, xCache: "BYPASS" }));
    await using edge = await startFakeEdge(
      receipt({ refreshed: refreshed(urls.slice(0, 50)) }),
      receipt({ seq: 8, refreshed: refreshed(urls.slice(50)) }),
    );
    const args = ["purge", "-", "--refresh", "--json", "--id", "nightly", "--endpoint", edge.endpoint];
    const { exit, stdout } = await tidemark({ args, stdin: urls.join("\n"), env: { TIDEMARK_TOKEN: TOKEN } });

    expect(exit).toBe(0);
    const printed = JSON.parse(stdout) as ReceiptBody & { receipts: ReceiptBody[] };
    expect(printed).toMatchObject({ seq: 8, refreshed: refreshed(urls), receipts: [{ seq: 7 }, { seq: 8 }] });
    expect(edge.requests.map(({ body }) => [body.id, (body.urls as string[]).length, body.refresh])).toEqual([
      ["nightly.1", 50, true],
      ["nightly.2", 1, true],
    ]);
  });

  test("With --wait and --json, standard output is one JSON object", async ({ expect }) => {
    await using edge = await startFakeEdge(receipt({ settlesInMs: 1 }));
    const args = ["purge", "--tag", "x", "--wait", "--json", "--endpoint", edge.endpoint];
    const { stdout } = await tidemark({ args, env: { TIDEMARK_TOKEN: TOKEN } });
    expect(JSON.parse(stdout)).toEqual({ ...receiptBody, settlesInMs: 1 });
  });
});

async function runs(each: Case): Promise<void> {
  await using edge = await startFakeEdge(each.edge ?? accepts);
  const endpoint = each.args.includes("--endpoint") ? [] : ["--endpoint", edge.endpoint];
  const ended = await tidemark({
    ...each,
    args: ["purge", ...each.args, ...endpoint],
    env: { TIDEMARK_TOKEN: TOKEN, ...each.env },
  });

  const words = (given: string | RegExp = /^/) => (typeof given === "string" ? given : expect.stringMatching(given));
  expect(ended).toEqual({ exit: each.exit, stdout: words(each.stdout), stderr: words(each.stderr) });
  if (each.sent === undefined) return;
  const bodies = edge.requests.map(({ body }) => body);
  expect(bodies).toEqual(each.sent === null ? [] : [{ id: expect.any(String), ...each.sent }]);
}

describe.concurrent("tidemark", () => {
  test("--version is the package's", async ({ expect }) => {
    await expect(tidemark({ args: ["--version"] })).resolves.toEqual({ exit: 0, stdout: "0.1.0\n", stderr: "" });
  });

  test("--help goes to standard output, and is not a failure", async ({ expect }) => {
    const { exit, stdout, stderr } = await tidemark({ args: ["purge", "--help"] });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: tidemark purge \[options\] \[-\]/);
  });

  test("For a misspelt command the nearest one is suggested", async ({ expect }) => {
    const { exit, stderr } = await tidemark({ args: ["pruge"] });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining("(Did you mean purge?)") });
  });

  test("--help names no default where there is none", async ({ expect }) => {
    const { stdout } = await tidemark({ args: ["explain", "--help"] });
    expect(stdout).not.toContain("default: {}");
  });

  test("A command that is loaded when it is called reads its own flags", async ({ expect }) => {
    const help = await tidemark({ args: ["dev", "--help"] });
    expect(help).toEqual({ exit: 0, stdout: expect.stringContaining("--origin <url>"), stderr: "" });
    const ofServe = await tidemark({ args: ["serve", "--help"] });
    for (const words of ["TIDEMARK_HOSTS", "TIDEMARK_TOKEN", "Exit codes: 0 ", "tidemark serve --origin unix:"]) {
      expect(ofServe.stdout).toContain(words);
    }
    const wrong = await tidemark({ args: ["dev", "--port", "x"] });
    expect(wrong).toEqual({ exit: 2, stdout: "", stderr: expect.stringContaining("It must be 1 to 65535.") });
  });

  test("With --wait it exits as soon as the edge says that the purge has settled", async ({ expect }) => {
    await using edge = await startFakeEdge(receipt({ settlesInMs: 60_000, maySettleSooner: true }), {
      json: purgeRecord,
    });
    const args = ["purge", "--tag", "x", "--wait-timeout", "16.1", "--endpoint", edge.endpoint];
    const { exit } = await tidemark({ args, env: { TIDEMARK_TOKEN: TOKEN } });
    expect(exit).toBe(0);
  });
});
