import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAIN } from "../server/serve/running-server.ts";
import { listenLocally, localUrl } from "../suite/local-url.ts";
import { MembersSite } from "../tools/audit/members-site.ts";
import { type ToyCache, toyCache } from "../tools/audit/toy-cache.ts";
import { tidemark } from "./run-command.ts";

const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/tidemark-cli", import.meta.url));

/** Pages that the cache stores for all: one is another for each visitor, and says nothing. */
const STORED = ["/style.css", "/me.json"];

const site = new MembersSite();
let origin: URL;
let cache: ToyCache;
let folder: string;
let alice: string;
let bob: string;
/** Another server, to which no request may go. */
let elsewhere: Server;
const wentElsewhere: string[] = [];

beforeAll(async () => {
  origin = await site.start();
  cache = await toyCache(origin, { stores: (path, status) => status === 200 && STORED.includes(path) });
  folder = await mkdtemp(join(tmpdir(), "tidemark-cli-"));
  [alice, bob] = [site.logIn("alice"), site.logIn("bob")];
  await writeFile(join(folder, "alice.txt"), `Cookie: ${alice}\n`);
  elsewhere = createServer((request, response) => {
    wentElsewhere.push(`${request.url} ${request.headers.cookie}`);
    response.end();
  });
  await listenLocally(elsewhere);
});
afterAll(async () => {
  await cache[Symbol.asyncDispose]();
  await site.stop();
  await new Promise((resolve) => elsewhere.close(resolve));
  await rm(folder, { recursive: true });
});

function start(parameters: readonly string[], input = "") {
  const child = spawn(process.execPath, [MAIN, "audit", ...parameters], {
    cwd: folder,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, BOB: bob },
  });
  child.stdin.on("error", () => undefined); // a command that fails does not read it
  child.stdin.end(input);
  const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]).then(
    ([[exit], stdout, stderr]) => ({ exit: exit as number, stdout, stderr }),
  );
  return { child, ended };
}

const visitors = () => ["--as", "alice=@alice.txt", "--as", "bob=env:BOB", "--rate", "10000"];
const run = (parameters: readonly string[]) =>
  tidemark({ args: ["audit", ...parameters], cwd: folder, env: { BOB: bob } });
const audit = (parameters: readonly string[]) => run(["--edge", cache.url.origin, ...visitors(), ...parameters]);

describe("tidemark audit", () => {
  test("exits with 0 if there are no findings, and prints nothing else into a pipe", async () => {
    const { exit, stdout, stderr } = await audit(["/style.css", "/account", "/", "--timeout", "16.1"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toMatch(
      /^3 pages at http:\S+ as alice, bob and a stranger: clean\n\d+ requests, \d+ of them answered/,
    );
    expect(stdout).not.toContain("\u001b");
  });

  test("exits with 1 if there are findings, and says how to fix them", async () => {
    const { exit, stdout } = await audit(["/style.css", "/me.json"]);
    expect(exit).toBe(1);
    expect(stdout).toContain(
      "1. /me.json\n   alice's answer was given to bob and a stranger; bob's answer was given to",
    );
    expect(stdout).toContain("the site: send Cache-Control: private on answers for one visitor");
    for (const secret of [alice, bob]) expect(stdout).not.toContain(secret.split("=")[1]);
  });

  test("reads pages from standard input, and prints JSON", { tags: ["deep"] }, async () => {
    const lines = `# the site's pages\n/style.css\nGET /me.json\n\n${cache.url.origin}/account#top\n`;
    const parameters = ["--edge", cache.url.origin, ...visitors(), "--paths", "-", "--json"];
    const { exit, stdout } = await start([...parameters, "--canary", "alice=alice@example.com"], lines).ended;
    expect(exit).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      verdict: "findings",
      pages: expect.arrayContaining(["/style.css", "/me.json", "/account"]),
      findings: [{ id: "shared:/me.json", kind: "shared", path: "/me.json" }],
    });
  });

  test("exits with 0 if all findings are accepted", async () => {
    expect((await audit(["/style.css", "/me.json", "--accept", "shared:/me.json"])).exit).toBe(0);
  });

  test("exits with 2 if a session does not work", { tags: ["deep"] }, async () => {
    const { exit, stdout } = await start([
      ...["--edge", cache.url.origin, "--as", "alice=sessionid=over", "--rate", "10000", "/style.css", "/account"],
    ]).ended;
    expect(exit).toBe(2);
    expect(stdout).toContain("alice gets the same answers as a stranger everywhere");
  });

  test("exits with 2 if nobody listens", async () => {
    const gone = createServer();
    const edge = await listenLocally(gone);
    await new Promise((resolve) => gone.close(resolve));
    const { exit, stdout } = await run(["--edge", edge, ...visitors(), "/"]);
    expect(exit).toBe(2);
    expect(stdout).toContain("/ has no answer: the connection was refused.");
  });

  test("says so if https is asked of a port that speaks http", async () => {
    const { exit, stdout } = await run(["--edge", `https://${cache.url.host}`, ...visitors(), "/"]);
    expect(exit).toBe(2);
    expect(stdout).toContain("/ has no answer: the port does not speak https, perhaps http.");
  });

  test("keeps its results at Ctrl-C", { tags: ["deep"] }, async () => {
    // An edge that never answers /hold, for which the command asks when the other pages are done.
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
    const waiting = await toyCache(origin, { stores: (path) => STORED.includes(path), holds: held });
    const { child, ended } = start([
      ...["--edge", waiting.url.origin, ...visitors(), "--concurrency", "1", "--json"],
      ...["/style.css", "/me.json", "/hold"],
    ]);
    await isHeld;
    child.kill("SIGINT");
    const { exit, stdout } = await ended;
    await waiting[Symbol.asyncDispose]();
    expect(exit).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ interrupted: true, findings: [{ id: "shared:/me.json" }] });
  });
});

describe("a wrong call gets an error before anything is sent", () => {
  const edge = () => ["--edge", cache.url.origin];
  test.each<{ name: string; parameters: () => readonly string[]; message: string | RegExp }>([
    { name: "no edge", parameters: () => ["/", ...visitors()], message: "required option '--edge <url>'" },
    {
      name: "an edge with a path",
      parameters: () => ["--edge", "http://localhost/shop", ...visitors(), "/"],
      message: "--edge must be only scheme and host",
    },
    {
      name: "an edge with a password",
      parameters: () => ["--edge", "http://a:b@localhost", ...visitors(), "/"],
      message: "--edge cannot have a user and password",
    },
    {
      name: "nobody with credentials",
      parameters: () => [...edge(), "/"],
      message: "there is no visitor with credentials",
    },
    { name: "no page", parameters: () => [...edge(), ...visitors()], message: "there are no pages" },
    {
      name: "the same name twice",
      parameters: () => [...edge(), "--as", "a=b=c", "--as", "a=d=e", "/"],
      message: "two --as have the same name",
    },
    {
      name: "no cookie in a name's value",
      parameters: () => [...edge(), "--as", "alice=secret-value", "/"],
      message: "--as alice: write cookies as NAME=VALUE",
    },
    {
      name: "a name that is missing",
      parameters: () => [...edge(), "--as", "secret value", "/"],
      message: "write --as as NAME=COOKIES",
    },
    {
      name: "a file that is missing",
      parameters: () => [...edge(), "--as", "alice=@gone.txt", "/"],
      message: "--as alice: gone.txt cannot be read",
    },
    {
      name: "a variable that is not set",
      parameters: () => [...edge(), "--as", "alice=env:NOBODY_HERE", "/"],
      message: "--as alice: the variable NOBODY_HERE is not set",
    },
    {
      name: "the Host as a credential",
      parameters: () => [...edge(), "--as", "alice=Host: secret-value", "/"],
      message: "no field of that name is a credential",
    },
    {
      name: "a canary of no visitor",
      parameters: () => [...edge(), ...visitors(), "--canary", "carol=carol", "/"],
      message: "there is no --as carol",
    },
    {
      name: "a method that changes something",
      parameters: () => [...edge(), ...visitors(), "POST /basket"],
      message: /POST may change something/,
    },
    {
      name: "a page of another host",
      parameters: () => [...edge(), ...visitors(), "/", "http://www.example.org/"],
      message: "sends credentials to no other origin",
    },
    {
      name: "a page of the same host over another scheme",
      parameters: () => [...edge(), ...visitors(), cache.url.origin.replace("http", "https")],
      message: "sends credentials to no other origin",
    },
    {
      name: "a page that may name a host",
      parameters: () => [...edge(), ...visitors(), "//www.example.org/"],
      message: "may begin a host or a path",
    },
    {
      name: "a credential without its flag",
      parameters: () => [...edge(), ...visitors(), "/", "sessionid=secret-value"],
      message: "page 2 is neither a path",
    },
    {
      name: "an input that makes a GET change something",
      parameters: () => [...edge(), ...visitors(), "--try", "field:X-HTTP-Method-Override=DELETE", "/"],
      message: "the audit only reads",
    },
    {
      name: "a rate of nothing",
      parameters: () => [...edge(), ...visitors(), "--rate", "0", "/"],
      message: "--rate must be a number above 0",
    },
    {
      name: "half a page at a time",
      parameters: () => [...edge(), ...visitors(), "--concurrency", "0.5", "/"],
      message: "--concurrency must be a whole number from 1 to 64",
    },
  ])("$name", async ({ parameters, message }) => {
    const before = site.seen.length;
    const { exit, stdout, stderr } = await run(parameters());
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("    at ");
    expect(stderr).not.toMatch(/secret-value|secret value/);
    expect(site.seen.length).toBe(before);
  });
});

test("credentials do not follow a redirect to another origin", async () => {
  const away = `${localUrl(elsewhere)}/account`;
  const redirecting = createServer((request, response) => {
    const isStyle = request.url!.startsWith("/style.css");
    if (isStyle) response.writeHead(200, { "x-cache": asked.has(request.url!) ? "HIT" : "MISS" });
    else response.writeHead(302, { location: away });
    asked.add(request.url!);
    response.end();
  });
  const asked = new Set<string>();
  const edge = await listenLocally(redirecting);
  await run(["--edge", edge, ...visitors(), "/style.css", "/account"]);
  redirecting.closeAllConnections();
  await new Promise((resolve) => redirecting.close(resolve));
  expect([...asked].filter((url) => url.startsWith("/account")).length).toBeGreaterThan(5);
  expect(wentElsewhere).toEqual([]);
});
