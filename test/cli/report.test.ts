import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chances } from "../engine/chances.ts";
import { MAIN } from "../server/serve/running-server.ts";
import { inGate } from "../suite/depth.ts";
import {
  combinedLine,
  type GeneratedRequest,
  generatedLog,
  generatedRequests,
  ODD_LINES,
} from "../tools/generated-log.ts";
import { tidemark } from "./run-command.ts";

const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/tidemark-cli", import.meta.url));

let folder: string;
const log = generatedLog({ seed: 1, requests: 1_000, days: 1 });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-cli-"));
  await writeFile(join(folder, "access.log"), log);
  await writeFile(join(folder, "odd.log"), Buffer.from(ODD_LINES.slice(4).join("\n"), "latin1"));
  await writeFile(join(folder, "words.txt"), "no log\n");
  await writeFile(join(folder, "tls.log"), '10.0.0.1 - - [05/Oct/2026:00:00:00 +0000] "\\x16\\x03" 400 5 "-" "-"\n');
  await writeFile(join(folder, "empty.log"), "");
  await writeFile(join(folder, "purges.log"), '10.0.0.1 - - [05/Oct/2026:00:00:00 +0000] "PURGE / HTTP/1.1" 200 5\n');
  await writeFile(join(folder, "hour.mjs"), siteFor("1h"));
  await writeFile(join(folder, "day.mjs"), siteFor("1d"));
  await writeFile(join(folder, "wrong.mjs"), siteFor("1 day"));
});
afterAll(() => rm(folder, { recursive: true }));

function siteFor(ttl: string): string {
  return `export default { origin: "https://origin.example.com", routes: [{ match: "/*", defaultTtl: "${ttl}" }] };\n`;
}

function start(...parameters: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...parameters], {
    cwd: folder,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
  const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]).then(
    ([[exit], stdout, stderr]) => ({ exit: exit as number, stdout, stderr }),
  );
  return { child, ended };
}

/**
 * The JSON log of an edge that has a limit at its origin: each of ten pages got an answer after 1,000 ms, and three times
 * none, without a turn there, which was the first time for nine of them. Twenty requests were for another host.
 */
function ownAnswersLog(): string {
  let at = Date.UTC(2026, 9, 5);
  const line = (target: string, answer: object) => {
    at += 1_001;
    const request = { time: new Date(at).toISOString(), method: "GET", target, host: "www.example", bytes: 50 };
    return `${JSON.stringify({ ...request, ...answer })}\n`;
  };
  const busy = { status: 503, xCache: null, detail: "origin-busy", ms: 5000, queue: { ms: 5000, turn: false } };
  const own = { host: "scan.example", status: 421, xCache: null, detail: "host-unknown", ms: 0.2 };
  const missed = { status: 200, xCache: "MISS", detail: null, ms: 1000 };
  const rest = [own, busy, own, busy];
  const ofPage = (answers: readonly object[], page: number) => answers.map((answer) => line(`/p/${page}`, answer));
  const answers = [[missed, busy, ...rest], ...new Array(9).fill([busy, missed, ...rest])];
  return answers.flatMap(ofPage).join("");
}

/** Runs a command with something on its standard input. */
const run = (args: readonly string[], stdin: string | Buffer = "") => tidemark({ args, stdin, cwd: folder });

describe("tidemark report", () => {
  test("prints for a person, and nothing else into a pipe", { tags: ["deep"] }, async () => {
    const { exit, stdout, stderr } = await run(["report", "access.log"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toMatch(
      /^1,0\d\d requests in 2\d\.\d hours, from 2026-10-05 00:\d\d to .* UTC\nWith a lifetime of 1h, a cache would answer \d\d\.\d %/,
    );
    expect(stdout).toContain("export default defineSite({");
    expect(stdout).not.toContain("\u001b");
  });

  test("uses the singular for one", async () => {
    const at = (minute: string, url: string) =>
      `10.0.0.1 - - [05/Oct/2026:00:${minute}:00 +0000] "GET ${url} HTTP/1.1" 200 100 "-" "-"`;
    const one = await run(["report", "-"], `${at("00", "/a")}\n`);
    expect(one.stdout).toMatch(/^1 request in 1 minute, from /);
    expect(one.stdout).toContain(": 1 spelling is 1 page.");
    const two = await run(["report", "-"], `${at("00", "/a?utm_source=x")}\n${at("05", "/a")}\n${at("01", "/a")}\n`);
    expect(two.stdout).toContain(": 2 spellings are 1 page.");
    expect(two.stdout).toContain("the origin would get 1 request instead of 3.");
    expect(two.stdout).toContain("1 line is older than an earlier one (33.3 %), and was put in order.");
  });

  test("takes answers of the edge itself neither for the origin's nor for visits", async () => {
    await writeFile(join(folder, "serve.json"), ownAnswersLog());
    const { stdout } = await run(["report", "serve.json", "--concurrency", "4"]);
    expect(stdout).toMatch(/^40 requests in /);
    expect(stdout).toContain("a cache would answer 75.0 % of them.");
    expect(stdout).toContain("20 answers of the edge itself, like host-unknown, do not count.");
    expect(stdout).toContain(
      "1,000 ms on average. For 9 misses without a time, the report assumes the average so far.",
    );
    expect(stdout).not.toContain("scan.example");
    const { stdout: replayed } = await run(["replay", "serve.json", "--config", "hour.mjs", "--json"]);
    const { logs, edges } = JSON.parse(replayed) as { logs: object; edges: readonly object[] };
    expect(logs).toMatchObject({ lines: 60, broken: 0, own: 20 });
    expect(edges).toMatchObject([{ requests: 40, hits: 30, originRequests: 10 }]);
    const { stdout: words } = await run(["replay", "serve.json", "--config", "hour.mjs"]);
    expect(words).toContain("20 lines are the edge's own answers, and were not replayed.");
  });

  test("tells that lines lack hosts, although a visitor who looked for an open proxy named one", async () => {
    const line = (url: string) => `192.0.2.7 - - [05/Oct/2026:00:00:00 +0000] "GET ${url} HTTP/1.1" 200 9\n`;
    const { stdout } = await run(["report", "-"], line("/a") + line("http://proxy.example/") + line("/b"));
    expect(stdout).toContain("The lines name no host, so the same path of several hosts counts as one page.");
  });

  test("says how many lines remove pages, and takes them for no requests", async () => {
    const line = (method: string) => `192.0.2.7 - - [05/Oct/2026:00:00:00 +0000] "${method} / HTTP/1.1" 200 9\n`;
    const visitAndPurge = line("GET") + line("PURGE");
    const { stdout: report } = await run(["report", "-"], visitAndPurge);
    expect(report).toMatch(/^1 request in /);
    expect(report).toContain("Not counted as requests: 1 call of PURGE or BAN.");
    const { stdout: replay } = await run(["replay", "-"], visitAndPurge + line("BAN"));
    expect(replay).toContain("Replayed, but not counted as requests: 2 calls of PURGE or BAN.");
    expect(replay).toContain("\n1 request through the edge, timed as in the log\n");
  });

  test("tells that lines without hosts are taken for one site's, and takes those with hosts apart", async () => {
    const line = (host: string) => `192.0.2.7 - - [05/Oct/2026:00:00:00 +0000] ${host}"GET / HTTP/1.1" 200 9\n`;
    const { stdout: ofOne } = await run(["report", "-"], line("") + line(""));
    expect(ofOne).toContain("a cache would answer 50.0 % of them.");
    expect(ofOne).toContain("The lines name no host, so the same path of several hosts counts as one page.");
    const { stdout: ofTwo } = await run(["report", "-"], line("www.a.example ") + line("www.b.example "));
    expect(ofTwo).toContain("a cache would answer 0.0 % of them.");
    expect(ofTwo).not.toContain("name no host");
  });

  test.each([
    ["without a captured host", "", true],
    ["with one", "{www.example.com} ", false],
  ])("HAProxy's log %s", async (_, captured, isTold) => {
    const line = `192.0.2.7:33317 [10/Oct/2026:13:55:36.000] in web/a 0/0/0/9/9 200 9 - - ---- 1/1/1/1/0 0/0 ${captured}"GET /a HTTP/1.1"`;
    const { stdout } = await run(["report", "-"], `${line}\n${line}\n`);
    expect(stdout.includes("capture request header Host len 64")).toBe(isTold);
  });

  test("extrapolates a month from what was logged, and says so of less than an hour", async () => {
    const at = (minute: string) =>
      `10.0.0.1 - - [05/Oct/2026:00:${minute}:00 +0000] "GET /a HTTP/1.1" 200 100 "-" "-"\n`;
    const { stdout } = await run(["report", "-"], at("00") + at("10"));
    expect(stdout).toContain("for 8,640 requests at the prices of November 2026, extrapolated from 10 minutes.");
    const { stdout: ofOne } = await run(["report", "-"], at("00"));
    expect(ofOne).toContain("for 43,200 requests at the prices of November 2026, extrapolated from 1 minute.");
    expect((await run(["report", "access.log"])).stdout).not.toContain("extrapolated");
  });

  test("reads compressed standard input, and prints JSON", async () => {
    const { exit, stdout } = await run(["report", "-", "--json", "--lifetime", "10m"], gzipSync(log));
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, lifetimeSeconds: 600, logs: { files: ["-"], broken: 0 } });
  });

  test("writes one HTML file that loads nothing and runs nothing", async () => {
    const hostile = "<script>alert(1)</script> is no line of a log\n";
    const { exit } = await run(["report", "-", "--html", "report.html"], Buffer.concat([log, Buffer.from(hostile)]));
    expect(exit).toBe(0);
    const page = await readFile(join(folder, "report.html"), "utf8");
    expect(page).toMatch(/^<!doctype html>/);
    expect(page.match(/<svg /g)).toHaveLength(4);
    expect(page).toContain("&#60;script&#62;");
    expect(page).not.toMatch(/<script|<link|<img|src=|@import|url\(/);
  });

  test("never takes a log for the page to write", async () => {
    await writeFile(join(folder, "named.log"), log);
    expect((await run(["report", "--html", "named.log", "access.log"])).exit).toBe(2);
    expect((await readFile(join(folder, "named.log"))).equals(log)).toBe(true);
  });

  test("leaves no page behind if a log is missing", async () => {
    const { exit, stderr } = await run(["report", "access.log", "gone.log", "--html", "gone.html"]);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining("gone.log: there is no such file") });
    await expect(access(join(folder, "gone.html"))).rejects.toThrow("ENOENT");
  });

  test("names the missing folder of a page that cannot be written", async () => {
    const { exit, stderr } = await run(["report", "access.log", "--html", "none/report.html"]);
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: "tidemark: none/report.html cannot be opened: there is no folder none.\n",
    });
  });

  test("reports what a limit of requests at the origin would have done, if asked", async () => {
    // A client asks for three pages at once, and another one for one. Each takes 600 ms: they come at 0, 250, 500 and 750.
    const at = (client: string, url: string, rest = '"-" "-"') =>
      `${client} - - [05/Oct/2026:00:00:00 +0000] "GET ${url} HTTP/1.1" 200 100 ${rest}\n`;
    const four = at("10.0.0.1", "/a") + at("10.0.0.1", "/b") + at("10.0.0.1", "/c") + at("10.0.0.2", "/d");
    const limit = ["--concurrency", "1", "--origin-ms", "600"];
    const { exit, stdout, stderr } = await run(["report", "-", ...limit, "--html", "limit.html"], four);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    const told = `With 1 request at a time at the origin
Each answer takes 600 ms, as --origin-ms says.
3 of 4 misses (75.0 %) would have waited for their turn: 99 % of these within 1,300 ms, the longest after 1,300 ms.
None would have got a 503 or a stale page.
Without the limit there would have been 3 at a time at most.
The addresses with the most misses: 10.0.0.1 (75.0 %), 10.0.0.2 (25.0 %).
`;
    expect(stdout).toContain(told);
    expect(await readFile(join(folder, "limit.html"), "utf8")).toContain(
      "<h2>With 1 request at a time at the origin</h2>",
    );
    const { budget } = JSON.parse((await run(["report", "-", "--json", ...limit], four)).stdout);
    expect(budget).toMatchObject({
      concurrency: 1,
      originMs: 600,
      queue: { maxMs: 5000, maxWaiting: 1000 },
      waited: 3,
      networks: [{ network: "10.0.0.1", misses: 3, share: 0.75 }, { network: "10.0.0.2" }],
    });
  });

  test("takes an answer's duration from the log, and treats its addresses as untrusted text", async () => {
    const at = (client: string, url: string, rest: string) =>
      `${client} - - [05/Oct/2026:00:00:00 +0000] "GET ${url} HTTP/1.1" 200 100 "-" "-"${rest}\n`;
    const said = async (log: string) =>
      (await run(["report", "-", "--concurrency", "1"], Buffer.from(log, "latin1"))).stdout;
    const byLog = await said(at("10.0.0.1", "/a", " MISS 6.000") + at("10.0.0.2", "/b", " MISS 0.100"));
    expect(byLog).toContain("Each answer takes as long as the log says, 3,050 ms on average.\n");
    const inPart = await said(at("10.0.0.1", "/a", " MISS 0.400") + at("10.0.0.2", "/b", ""));
    expect(inPart).toContain("400 ms on average. For 1 miss without a time, the report assumes the average so far.\n");
    const neither = await said(at("-", "/a", "") + at("-", "/b", ""));
    expect(neither).toContain(
      "Each answer takes 200 ms, because the log does not say how long; --origin-ms sets another time.\n",
    );
    expect(neither).toContain("None of 2 misses would have waited.\n");
    expect(neither).toContain("The log shows no addresses, so all clients are equal.\n");
    expect(await said(at("10\u009b31m", "/a", ""))).toContain(
      "The addresses with the most misses: 10\ufffd31m (100.0 %).\n",
    );
    const late = await said(at("10.0.0.1", "/a", " MISS 6.000") + at("10.0.0.2", "/b", " MISS 6.000"));
    // Of 1,500 misses of one second, the first is at the origin, 1,000 wait, and the others have no place.
    const flood = Array.from({ length: 1_500 }, (_none, each) => at("10.0.0.1", `/${each}`, " MISS 6.000")).join("");
    expect(await said(flood)).toContain(
      "1,499 (99.9 %) would have got a 503 or a stale page: 499 because as many others waited as may, 1,000 because their turn had not",
    );
    expect(late).toContain(
      "None of 2 misses would have got its turn after a wait.\n1 (50.0 %) would have got a 503 or",
    );
    expect(late).toContain("a stale page, because their turn had not come after 5 s.\n");
    const scattered = Array.from({ length: 1_001 }, (_none, each) =>
      at(`10.0.${each >> 8}.${each & 255}`, `/${each}`, ""),
    );
    expect(await said(scattered.join(""))).toContain("No address made as much as 0.1 % of the misses.\n");
    const refused = at("10.0.0.1", "/%", "");
    expect(await said(refused)).toContain("at the origin\nNo request would have reached it.\n");
  });

  test("reports everything else the same with a limit as without", async () => {
    const limit = ["--concurrency", "2"];
    const [plain, limited] = [await run(["report", "access.log"]), await run(["report", "access.log", ...limit])];
    expect(plain.stdout).not.toContain("at a time");
    const section = /^With 2 requests at a time at the origin\n(?:.+\n)+\n/m;
    expect(limited.stdout).toMatch(section);
    expect(limited.stdout.replace(section, "")).toBe(plain.stdout);
    const json = async (...flags: string[]) =>
      JSON.parse((await run(["report", "access.log", "--json", ...flags])).stdout);
    const { budget, ...rest } = await json(...limit);
    expect(budget).toMatchObject({ concurrency: 2 });
    expect(JSON.stringify(rest)).toBe(JSON.stringify(await json()));
  });

  test("reports broken lines, and continues", async () => {
    const { exit, stdout } = await run(["report", "odd.log", "access.log"]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/2 of 1,0\d\d lines could not be read, and do not count\. The first:\n {2}odd\.log:2: /);
    expect(stdout).toContain("1 line is not about an HTTP request.");
  });

  test.each(["report", "replay"])("%s says of lines with a wrong clock that it is their time", async (command) => {
    const line = (year: number) => `192.0.2.7 - - [05/Oct/${year}:00:00:00 +0000] "GET / HTTP/1.1" 200 9\n`;
    const times = "before 1995, or more than a day ahead of this machine's clock";
    const some = await run([command, "-"], `${line(1970)}${line(2026)}${line(9026)}broken\n`);
    expect(some.stdout).toMatch(/3 of 4 lines could not be read/);
    expect(some.stdout).toContain(`2 lines have an impossible time: ${times}.`);
    const all = await run([command, "-"], line(1970) + line(9026));
    expect(all.exit).toBe(1);
    expect(all.stderr).toContain(`no line of these logs has a possible time: 2 are ${times}.`);
    const one = await run([command, "-"], `${line(1970)}broken\n`);
    expect(one.stdout).toContain(`1 line has an impossible time: ${times}.`);
    expect(one.stderr).toContain(`no line of these logs has a possible time: 1 is ${times}.`);
  });

  test("keeps its results at Ctrl-C, even if standard input has nothing more to say", { tags: ["deep"] }, async () => {
    const { child, ended } = start("report", "-", "--json");
    // More than the pipe holds: when all of it is written, the command is reading.
    for (let at = 0; at < 40; at++) if (!child.stdin.write(log)) await once(child.stdin, "drain");
    child.kill("SIGINT");
    const { exit, stdout } = await ended;
    expect(exit).toBe(130);
    const { logs, requests } = JSON.parse(stdout) as { logs: object; requests: { all: number } };
    expect(logs).toMatchObject({ interrupted: true });
    expect(requests.all).toBeGreaterThan(1_000);
  });

  test.each(
    inGate(1, [
      { parameters: ["report", "gone.log"], exit: 2, message: "gone.log: there is no such file" },
      {
        parameters: ["report", "access.log", "--lifetime", "soon"],
        exit: 2,
        message: "It must be like 90s, 10m, 1h or 7d",
      },
      { parameters: ["report", "access.log", "--concurrency", "0"], exit: 2, message: "It must be 1 to 10,000." },
      { parameters: ["report", "access.log", "--origin-ms", "9"], exit: 2, message: "--origin-ms needs --concurrency" },
      {
        parameters: ["report", "access.log", "--html", "no/such/folder.html"],
        exit: 2,
        message: "no/such/folder.html",
      },
      {
        parameters: ["report", "--html", "access.log", "odd.log"],
        exit: 2,
        message: "Its name must end in .html or .htm, because the file is overwritten: --html report.html",
      },
      {
        parameters: ["report", "words.txt"],
        exit: 1,
        message: "no line of these logs is in a format that this command knows",
      },
      ...["report", "replay"].map((command) => ({
        parameters: [command, "tls.log"],
        exit: 1,
        message: "no line of these logs has an HTTP request, with a method and a path.",
      })),
      ...["report", "replay"].flatMap((command) => [
        { parameters: [command, "empty.log"], exit: 1, message: "these logs are empty." },
        { parameters: [command, "purges.log"], exit: 1, message: "no line of these logs has an HTTP request" },
      ]),
      { parameters: ["replay", "access.log", "--config", "wrong.mjs"], exit: 2, message: "is not a duration" },
    ]),
  )("$parameters ends with $exit and says why", async ({ parameters, exit, message }) => {
    const ended = await run(parameters);
    expect(ended.exit).toBe(exit);
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toContain("    at ");
  });
});

describe("a log whose lines are out of order", () => {
  const json = async (command: string, stdin: string | Buffer) => {
    const flags = command === "replay" ? ["--config", "hour.mjs"] : [];
    return JSON.parse((await run([command, "-", "--json", ...flags], stdin)).stdout);
  };

  test("counts for both commands as if it were in order", { tags: ["deep"] }, async () => {
    const random = chances(7);
    const requests = [...generatedRequests({ seed: 1, requests: 1_000, days: 0.1 })];
    // A server that writes a line at the end of its answer, which takes up to five minutes.
    const ended = requests
      .map((request) => ({ request, at: Math.floor(request.at / 1000) * 1000 + random() * 300_000 }))
      .sort((a, b) => a.at - b.at)
      .map(({ request }) => request);
    const sorted = ended.toSorted((a, b) => Math.floor(a.at / 1000) - Math.floor(b.at / 1000));
    const logOf = (all: readonly GeneratedRequest[]) => `${all.map(combinedLine).join("\n")}\n`;
    const [report, reportOfSorted] = [await json("report", logOf(ended)), await json("report", logOf(sorted))];
    expect(reportOfSorted.logs).toMatchObject({ outOfOrder: 0, late: 0 });
    expect(report).toEqual({ ...reportOfSorted, logs: { ...reportOfSorted.logs, outOfOrder: expect.any(Number) } });
    expect(report.logs.outOfOrder).toBeGreaterThan(500);
    const [replay, replayOfSorted] = [await json("replay", logOf(ended)), await json("replay", logOf(sorted))];
    expect(replay.edges).toEqual(replayOfSorted.edges);
    expect(replay.logs).toMatchObject({ late: 0, outOfOrder: report.logs.outOfOrder });
  });

  test("beyond the window is reported by both, and counts the same for both", { tags: ["deep"] }, async () => {
    const at = (time: string, url: string) =>
      `10.0.0.1 - - [05/Oct/2026:${time}:00 +0000] "GET ${url} HTTP/1.1" 200 100 "-" "-"\n`;
    const times = { "/a": ["10:00", "12:00"], "/c": ["12:30"] };
    const inOrder = Object.entries(times).flatMap(([url, each]) => each.map((time) => at(time, url)));
    // With the line of 12:30 that of noon was handed on, so that these come at noon: the page /a is stored then.
    const odd = [...inOrder, at("10:30", "/a"), at("11:45", "/b"), at("12:30", "/b")].join("");
    const [report, replay] = [await json("report", odd), await json("replay", odd)];
    const order = { outOfOrder: 2, late: 2 };
    expect(report).toMatchObject({ logs: order, prediction: { hits: 2 } });
    expect(replay).toMatchObject({ logs: order, edges: [{ hits: 2 }] });
    const said = `2 lines are older than an earlier one (33.3 %). 0 of them were put in order.
2 lines came more than 10 minutes or 100,000 lines too late for that: they count as if logged at the time of the previous line.
`;
    expect((await run(["report", "-"], odd)).stdout).toContain(said);
    expect((await run(["replay", "-"], odd)).stdout).toContain(said);
  });
});

describe("tidemark replay", () => {
  test("compares configs side by side", { tags: ["deep"] }, async () => {
    const { exit, stdout, stderr } = await run(["replay", "access.log", "--config", "hour.mjs", "--config", "day.mjs"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toMatch(
      /^1,0\d\d requests through the edge, timed as in the log\n +hour\.mjs +day\.mjs\nhit ratio /,
    );
    const [hour, day] = /^hit ratio +([\d.]+) % +([\d.]+) %$/m.exec(stdout)!.slice(1).map(Number);
    expect(day).toBeGreaterThan(hour!);
  });

  test("obeys the origin's Cache-Control if no config gives a lifetime, and stores nothing without it", {
    tags: ["deep"],
  }, async () => {
    const [nothing, ten] = await Promise.all(
      [[], ["--cache-control", "max-age=600, stale-while-revalidate=86400"]].map(async (flags) => {
        const { stdout } = await run(["replay", "-", "--json", ...flags], log);
        return (JSON.parse(stdout) as { edges: { hits: number; stale: number; failures: number; requests: number }[] })
          .edges[0]!;
      }),
    );
    expect(nothing).toMatchObject({ hits: 0, failures: 0 });
    expect(ten!.hits).toBeGreaterThan(ten!.requests / 4);
    expect(ten!.stale).toBeGreaterThan(0);
  });

  test("names the missing option if nothing came from the cache, and only then", { tags: ["deep"] }, async () => {
    const hint = "The simulated origin sends no Cache-Control, so only what the config gives a lifetime is stored.";
    const [nothing, named, given] = await Promise.all(
      [[], ["--cache-control", "no-store"], ["--config", "hour.mjs"]].map((flags) =>
        run(["replay", "-", ...flags], log),
      ),
    );
    expect(nothing!.stdout).toContain(`${hint} --cache-control sets one.\n`);
    expect(named!.stdout).not.toContain(hint);
    expect(given!.stdout).not.toContain(hint);
  });
});
