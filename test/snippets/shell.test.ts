import { spawn, spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { LogFile } from "../../server/log/log-file.ts";
import { systemClock } from "../../server/system-clock.ts";
import { noPostgres, startPostgres } from "../sdk/outbox/postgres-server.ts";
import { makeCertificate } from "../server/connections/make-certificate.ts";
import { MAIN } from "../server/serve/running-server.ts";
import { byDepth } from "../suite/depth.ts";
import { listenLocally } from "../suite/local-url.ts";
import { blocksOf, blockWith } from "./blocks.ts";
import { SnippetEdge } from "./snippet-edge.ts";

/** The address of a shared log in the pages. */
const LOG = "postgres://tidemark@db.internal/tidemark";

/** A database costs as much as ten commands. */
const HAS_POSTGRES = byDepth({ test: false, gate: false, all: true });

const missing = ["bash", "curl", "openssl", "sha256sum", "python3"].filter(
  (tool) => spawnSync(tool, ["--version"]).error !== undefined,
);
const NOT_RUN = `the blocks for a shell are SKIPPED, because this machine has no ${missing.join(", no ")}`;
if (missing.length > 0) process.stdout.write(`${NOT_RUN}\n`);

/** The site that the pages speak of. */
const SITE = "https://www.example.com";

/** `npx` and `curl` of the blocks: our commands as they are built, other ones only written down, and the edge for the site. */
const NPX = `#!/usr/bin/env bash
case "$1 $2" in
"tidemark serve") shift; exec "$NODE" "$CLI" "$@" --check ;;
"tidemark "*) shift; exec "$NODE" "$CLI" "$@" ;;
*) echo "$*" >> "$WRITTEN_DOWN" ;;
esac
`;
const CURL = `#!/usr/bin/env bash
exec "${spawnSync("which", ["curl"], { encoding: "utf8" }).stdout.trim()}" "\${@/#https:\\/\\/www.example.com/$TIDEMARK_ENDPOINT}"
`;

describe.skipIf(missing.length > 0)(missing.length > 0 ? NOT_RUN : "the blocks for a shell", () => {
  let edge: SnippetEdge;
  let folder: string;

  beforeAll(async () => {
    edge = await SnippetEdge.start();
  }, 60_000);
  afterAll(() => edge?.[Symbol.asyncDispose]());

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-shell-"));
    for (const [name, text] of [
      ["npx", NPX],
      ["curl", CURL],
    ] as const) {
      writeFileSync(join(folder, name), text);
      chmodSync(join(folder, name), 0o755);
    }
    for (const path of ["/plog/", "/plog/hello", "/about", "/team", "/shop/a", "/", "/feed.xml"]) {
      await edge.publish(path, path === "/plog/hello" ? "plog:hello, song:42" : "other");
    }
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function start(script: string, cwd = folder, more: Readonly<Record<string, string>> = {}) {
    const env = {
      ...process.env,
      ...edge.settings,
      PATH: [folder, process.env.PATH].join(delimiter),
      NODE: process.execPath,
      CLI: MAIN,
      WRITTEN_DOWN: join(folder, "written-down"),
      NO_COLOR: "1",
      ...more,
    };
    // With a socket as its input, bash would read the settings of a login.
    const stdio = ["ignore", "pipe", "pipe"] as const;
    return spawn("bash", ["--norc", "-e", "-u", "-o", "pipefail", "-c", script], {
      cwd,
      env,
      stdio: [...stdio],
      detached: true,
    });
  }

  /** Runs a script to its end. Rejects with what it has written if it fails. */
  async function run(script: string, cwd?: string, more?: Readonly<Record<string, string>>): Promise<string> {
    const child = start(script, cwd, more);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
    const [exit] = (await once(child, "close")) as [number | null];
    if (exit !== 0) throw new Error(`${script}\nended with ${exit}: ${output}`);
    return output;
  }

  /** Runs a command that follows the purges until it has told of this one. */
  async function follow(command: string, reason: string): Promise<void> {
    const child = start(command);
    let output = "";
    const told = Promise.withResolvers<void>();
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk;
        if (output.includes(reason)) told.resolve();
      });
    }
    const closed = once(child, "close");
    closed.then(() => told.reject(new Error(`${command} ended: ${output}`)));
    await told.promise;
    process.kill(-child.pid!, "SIGINT");
    await closed;
  }

  const linesOf = (script: string) => script.trimEnd().split("\n");
  const follows = (line: string) => line.includes("--follow");

  const commandsWrittenDown = () => readFileSync(join(folder, "written-down"), "utf8").trimEnd().split("\n");

  /** Whether wrangler has a command, by the table of its commands. */
  const wrangler = readFileSync("node_modules/wrangler/wrangler-dist/cli.js", "utf8");
  const isCommandOfWrangler = (command: string) => wrangler.includes(`"${command.replace(/ [A-Z_]+$/, "")}"`);

  test("README.md: the purge with curl purges what it names", async () => {
    const answer = await run(blockWith("README.md", "curl -X POST"));
    expect(answer).toContain('"accepted":{"urls":1,"tags":1,"prefixes":0');
    for (const path of ["/plog/hello", "/plog/"]) expect(await edge.xCache(path)).toBe("MISS");
    expect(await edge.xCache("/about")).toBe("HIT");
  });

  test("docs/reference/http-api.md: the call with curl purges its tag", async () => {
    const answer = await run(blockWith("docs/reference/http-api.md", "/_tidemark/purge -H"));
    expect(answer).toContain('"accepted":{"urls":0,"tags":1,');
    expect(await edge.xCache("/plog/hello")).toBe("MISS");
  });

  test("README.md: the commands of a deployment exist, and tidemark serve takes its settings", async () => {
    const said = await run(blockWith("README.md", "npx wrangler deploy"), folder, { TIDEMARK_HOSTS: "" });
    expect(said).toContain("http://127.0.0.1:8000");
    expect(commandsWrittenDown()).toEqual(["wrangler deploy"]);
  });

  test("docs/getting-started.md: a token is made, and the edge says that it is well", async () => {
    const said = await run(blockWith("docs/getting-started.md", "openssl rand -base64 32                    #"));
    expect(said).toMatch(/^[A-Za-z0-9+/]{43}=\n\{"status":"ok","origin":"up"\}\n$/);
    expect(commandsWrittenDown()).toEqual(["wrangler login", "wrangler deploy", "wrangler secret put TIDEMARK_TOKEN"]);
    expect(commandsWrittenDown().filter((command) => !isCommandOfWrangler(command))).toEqual([]);
  });

  test("docs/operations.md: the commands that roll back exist", async () => {
    await run(blockWith("docs/operations.md", "npx wrangler rollback"));
    expect(commandsWrittenDown()).toEqual(["wrangler deployments list", "wrangler rollback"]);
    expect(commandsWrittenDown().filter((command) => !isCommandOfWrangler(command))).toEqual([]);
    expect(isCommandOfWrangler("wrangler roll-back")).toBe(false);
  });

  test("docs/operations.md: the hash for the list of tokens is that of the new token", async () => {
    const said = await run(`${blockWith("docs/operations.md", "sha256sum")}\necho "$NEW"`);
    const [hash, token] = said.trim().split("\n");
    expect(hash!.split(" ")[0]).toBe(createHash("sha256").update(token!).digest("hex"));
  });

  describe("docs/operations.md: what backs up every night", () => {
    /** Makes a log in a folder of the state. */
    function makeLog(at: string): void {
      const log = join(folder, "state", at);
      mkdirSync(log, { recursive: true });
      new LogFile({
        folder: log,
        clocks: systemClock,
        newId: randomUUID,
        grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
        onReplaced: () => undefined,
      }).close();
    }

    /** Runs it on a state and a backup in the folder of this test. Resolves to what it has said, and copied. */
    async function backUp() {
      for (const [name, command] of [
        ["tidemark", `exec "$NODE" "$CLI" "$@"`],
        ["tar", `echo tar >> "$WRITTEN_DOWN"`],
        ["rsync", `echo rsync >> "$WRITTEN_DOWN"`],
      ] as const) {
        writeFileSync(join(folder, name), `#!/bin/sh\n${command}\n`);
        chmodSync(join(folder, name), 0o755);
      }
      const script = blockWith("docs/operations.md", "tidemark backup");
      const [state, backup] = [join(folder, "state"), join(folder, "backup")];
      writeFileSync(
        join(folder, "nightly"),
        script.replaceAll("/var/lib/tidemark", state).replaceAll(/\/backup(?=[/\n ])/g, backup),
      );
      const said = await run("sh nightly || echo failed: $?");
      expect(commandsWrittenDown()).toEqual(["tar", "rsync"]);
      return { said, copied: readdirSync(backup).map((name) => name.replace(/-\d{4}-\d\d-\d\d/, "")) };
    }

    test("copies the log of one site", async () => {
      makeLog("log");
      expect(await backUp()).toEqual({ said: "", copied: ["log.sqlite"] });
    });

    test("copies the logs of several sites, which have none beside them", async () => {
      for (const site of ["blog", "shop"]) makeLog(`sites/${site}/log`);
      mkdirSync(join(folder, "state", "log"));
      expect(await backUp()).toEqual({ said: "", copied: ["sites-blog-log.sqlite", "sites-shop-log.sqlite"] });
    });

    test("copies no log of a machine that shares it", async () => {
      mkdirSync(join(folder, "state", "log", "shared-log.json"), { recursive: true });
      expect(await backUp()).toEqual({ said: "", copied: [] });
    });

    test("names a site without its log, and fails when it has saved the others", async () => {
      for (const site of ["blog", "third"]) makeLog(`sites/${site}/log`);
      mkdirSync(join(folder, "state", "sites", "shop"));
      const { said, copied } = await backUp();
      expect(said).toMatch(/^tidemark: There is no purge log in \S+\/sites\/shop\/log\. .*\nfailed: 1\n$/);
      expect(copied).toEqual(["sites-blog-log.sqlite", "sites-third-log.sqlite"]);
    });

    test("names the folder of one site without its log", async () => {
      mkdirSync(join(folder, "state", "log"), { recursive: true });
      const { said, copied } = await backUp();
      expect(said).toMatch(/^tidemark: There is no purge log in \S+\/state\/log\. .*\nfailed: 1\n$/);
      expect(copied).toEqual([]);
    });
  });

  /** The block of the operations page with this text: the lines that name the edge, and those that ask it. */
  function askingBlock(text: string): { readonly settings: string; readonly commands: readonly string[] } {
    const lines = linesOf(blockWith("docs/operations.md", text)).filter((line) => !line.startsWith("#"));
    return { settings: lines.slice(0, 2).join("\n"), commands: lines.slice(2) };
  }

  test("docs/operations.md: what to ask of a page that is old", async () => {
    await run("npx tidemark purge --url /team");
    const [answer, explain, purges, ...others] = askingBlock("cache-status|age").commands;
    expect(others).toEqual([]);
    const said = await run(answer!.replace("words of the old page", "/plog/"));
    expect(said).toMatch(/^cache-status: tidemark; hit/im);
    expect(said).toMatch(/^x-cache: HIT/im);
    expect(said).toMatch(/^\/plog\/$/m);
    expect(await run(answer!)).not.toMatch(/^\/plog\/$/m);
    expect(await run(explain!)).toMatch(/^HIT {2}GET .*\/plog\/\n/);
    expect(await run(purges!)).toMatch(/SETTLED[\s\S]*\/team/);
  });

  test("docs/operations.md: what to ask of a page that misses", async () => {
    const said = await run(askingBlock('explain "/plog').commands.join("\n"));
    expect(said).toMatch(/^(cache-status: tidemark; fwd=.*\r\n){2}MISS {2}GET .*\/plog\/\?page=2\n/i);
    expect(said).toContain("Last 24 h: ");
  });

  test.each(["cache-status|age", 'explain "/plog'])(
    "docs/operations.md: the token is read from the terminal, before %s",
    async (text) => {
      const { settings } = askingBlock(text);
      const said = await run(`printf 'secret\\n' | { ${settings}\nprintenv TIDEMARK_ENDPOINT TIDEMARK_TOKEN; }`);
      expect(said).toBe(`${SITE}\nsecret\n`);
    },
  );

  test("docs/getting-started.md and docs/server.md: tidemark serve takes these settings", async () => {
    const started = blocksOf("docs/getting-started.md").filter(({ code }) => code.startsWith("npx tidemark serve"));
    const scripts = [...started, ...blocksOf("docs/server.md").filter(({ code }) => code.includes("tidemark serve"))];
    expect(scripts).toHaveLength(8);
    const unset = { TIDEMARK_HOSTS: "", TIDEMARK_TOKEN: "" };
    expect(await run(scripts[0]!.code, folder, unset)).toContain("http://127.0.0.1:8000");
    expect(await run(scripts[1]!.code, folder, unset)).toContain("www.example.com");
    const { chain, key } = makeCertificate(["www.example.com"]);
    writeFileSync(join(folder, "a.crt"), chain);
    writeFileSync(join(folder, "a.key"), key);
    const withTls = scripts[2]!.code.replace("/etc/letsencrypt/live", folder);
    expect(await run(withTls, folder, { ...unset, TIDEMARK_HOSTS: "www.example.com" })).toContain("www.example.com");
    const withAcme = scripts[3]!.code.replace(/^npm install acme-client.*\n/, "");
    expect(await run(withAcme, folder, unset)).toContain("hosts www.example.com, example.com");
    const sites = await run(scripts[4]!.code, folder, unset);
    expect(sites).toContain("site blog: origin http://127.0.0.1:8001, 0 routes, hosts blog.example.com");
    expect(sites).toContain("site shop: origin http://127.0.0.1:8000, 0 routes, hosts shop.example.com");
    const withLog = linesOf(scripts[5]!.code);
    expect(withLog[1]).toBe("npm install pg");
    const hosts = { ...unset, TIDEMARK_HOSTS: "www.example.com" };
    // Without a database the options are read, too, and the check then says what is wrong with the database alone.
    const postgres = noPostgres || !HAS_POSTGRES ? null : await startPostgres();
    onTestFinished(() => postgres?.stop());
    if (postgres) {
      // The user of the page is the superuser of this server.
      const create = withLog[0]!.replace(" --pwprompt", "").replaceAll("tidemark", "owner");
      await run(create, folder, { PGHOST: postgres.host, PGUSER: postgres.user });
    }
    const runWithLog = async (script: string) => {
      expect(script).toContain(LOG);
      if (postgres) {
        const url = postgres.url("owner").replace(postgres.user, "owner");
        return run(script.replace(LOG, url), folder, hosts);
      }
      const withoutServer = script.replace(LOG, LOG.replace("db.internal", "127.0.0.1:1"));
      const { message } = await run(withoutServer, folder, hosts).then(
        () => expect.fail("there is no database"),
        Object,
      );
      expect(message).toContain("The purge log in PostgreSQL at 127.0.0.1:1/tidemark: ");
      // Before that, it has the script.
      return (message as string).slice((message as string).indexOf("\nended with "));
    };
    expect(await runWithLog(withLog[2]!)).toContain("www.example.com");
    const parent = await runWithLog(scripts[6]!.code.replace("/etc/letsencrypt/live", folder));
    expect(parent).toContain("origin unix:/run/gunicorn.sock");
    expect(parent).not.toContain("TIDEMARK_TOKENS");
    expect(await runWithLog(scripts[7]!.code)).toContain(
      "parent https://shield.example.com, no config, hosts www.example.com",
    );
  });

  test.each(["docs/getting-started.md", "docs/sites.md"])(
    "%s: the options for HTTPS with the Debian package are such, for systemd and for a shell",
    async (page) => {
      const lines = linesOf(blockWith(page, "TIDEMARK_OPTIONS"));
      const [echo] = lines.filter((line) => line.includes("TIDEMARK_OPTIONS"));
      expect(lines.filter((line) => /^systemctl restart (gunicorn )?tidemark$/.test(line))).toHaveLength(1);
      expect(await runWithOptions(echo!)).toContain("hosts www.example.com");
    },
  );

  test("docs/getting-started.md: the option for certificates of one's own stands in place of the one for ACME", async () => {
    const [, certificates, acme] = /For your own files, put `([^`]+)` in place of `([^`]+)`/.exec(
      readFileSync("docs/getting-started.md", "utf8"),
    )!;
    const { chain, key } = makeCertificate(["www.example.com"]);
    writeFileSync(join(folder, "a.crt"), chain);
    writeFileSync(join(folder, "a.key"), key);
    const [echo] = linesOf(blockWith("docs/getting-started.md", "TIDEMARK_OPTIONS"));
    const ofAcme = `${acme} you@example.com`;
    expect(echo).toContain(ofAcme);
    const own = certificates!.replace("/etc/tidemark/tls", folder);
    expect(await runWithOptions(echo!.replace(ofAcme, own))).toContain("hosts www.example.com");
  });

  /** Starts the server as the Debian package does, with the options that a line writes into its environment. */
  function runWithOptions(echo: string): Promise<string> {
    const environment = join(folder, "environment");
    const serve = "npx tidemark serve --origin http://127.0.0.1:8000 --listen '*:80' $TIDEMARK_OPTIONS";
    const script = `${echo.replace("/etc/tidemark/environment", environment)}\n. ${environment}\n${serve}`;
    return run(script, folder, { TIDEMARK_HOSTS: "www.example.com", TIDEMARK_TOKEN: "" });
  }

  test("docs/sites.md, Django: gunicorn's unit reads the token where the Debian package has written it", async () => {
    const [print, ...others] = linesOf(blockWith("docs/sites.md", "gunicorn.service.d")).slice(3);
    expect(others).toEqual([]);
    const [, file] = />(\S+)$/.exec(print!)!;
    await run(print!.replace(file!, "tidemark.conf"));
    expect(readFileSync(join(folder, "tidemark.conf"), "utf8")).toBe(
      "[Service]\nEnvironmentFile=/etc/tidemark/environment\n",
    );
    const installation = readFileSync("release/debian/scripts/postinst", "utf8");
    expect(installation).toContain(
      'echo "TIDEMARK_TOKEN=$(head --bytes=32 /dev/urandom | base64)" >/etc/tidemark/environment',
    );
  });

  test("docs/purging.md, From a shell: each command does what its comment says", {
    timeout: 60_000,
  }, async () => {
    const lines = linesOf(blockWith("docs/purging.md", "npx tidemark purge --url /about"));
    const said = await run(lines.filter((line) => !follows(line)).join("\n"));
    expect(said).toMatch(/^Purge \d+ is accepted: 2 URLs\./);
    expect(await edge.xCache("/about")).toBe("HIT"); // fetched again
    expect(edge.origin.countOf("/team")).toBeGreaterThan(1);
    expect(await edge.xCache("/plog/hello")).toBe("MISS");
    expect(await edge.xCache("/shop/a")).toBe("HIT"); // a dry run
    const [latest] = await edge.purges();
    expect(latest!.items).toEqual(["tag:song:42"]);
    for (const line of lines.filter(follows)) await follow(line, "tag:song:42");
  });

  test("docs/purging.md: purges on standard input go on under the same id", { timeout: 60_000 }, async () => {
    writeFileSync(join(folder, "items.txt"), "tag:song:42\n/about\n");
    const lines = linesOf(blockWith("docs/purging.md", "--id import-7"));
    const [purge, ...others] = lines.filter((line) => !follows(line));
    expect(others).toEqual([]);
    await run(purge!);
    const before = (await edge.purges()).length;
    await run(purge!);
    expect((await edge.purges()).length).toBe(before);
    for (const path of ["/plog/hello", "/about"]) expect(await edge.xCache(path)).toBe("MISS");
    for (const line of lines.filter(follows)) await follow(line, "tag:song:42");
  });

  describe("docs/purging.md, From cron: the script", () => {
    /** Runs it with curl alone, for an edge with this token. */
    async function purgeTag(tag: string, { token = edge.settings.TIDEMARK_TOKEN, endpoint = edge.endpoint } = {}) {
      const environment = join(folder, "purge-tag.env");
      writeFileSync(environment, `TIDEMARK_ENDPOINT='${endpoint}'\nTIDEMARK_TOKEN='${token}'\n`);
      const script = blockWith("docs/purging.md", "#!/bin/sh").replace("/etc/purge-tag.env", environment);
      expect(script).toContain("for pause in 1 5 25 0;");
      writeFileSync(join(folder, "purge-tag"), script.replace("in 1 5 25 0;", "in 0 0;"));
      return await run(`sh purge-tag ${tag} && echo next`, folder, { TIDEMARK_ENDPOINT: "", TIDEMARK_TOKEN: "" });
    }

    test("purges the pages with a tag, and writes nothing that cron would send", async () => {
      await edge.publish("/price", "prices");
      expect(await purgeTag("prices")).toBe("next\n");
      expect(await edge.xCache("/price")).toBe("MISS");
      expect((await edge.purges())[0]).toMatchObject({ reason: "cron", items: ["tag:prices"] });
    });

    test("is silent too if the purge was accepted at a second attempt, which has the same id", async () => {
      const asked: string[] = [];
      const busy = createServer(async (request, response) => {
        asked.push(await text(request));
        response.writeHead(asked.length === 1 ? 503 : 200).end('{"seq":1}');
      });
      const endpoint = await listenLocally(busy);
      onTestFinished(() => void busy.close());
      expect(await purgeTag("prices", { endpoint })).toBe("next\n");
      expect(asked).toHaveLength(2);
      expect(asked[1]).toBe(asked[0]);
    });

    test("fails if no page has the tag, if the edge refuses it, and if there is no edge, and gives the reason once", async () => {
      await edge.publish("/price", "prices");
      // In the edge's first hour only near misses are known.
      await expect(purgeTag("Prices")).rejects.toThrow(/ended with 1: purge-tag Prices: \{.*"unseen".*\}\n$/);
      const refused = /ended with 1: purge-tag prices: curl: \(22\) [^\n]*401\n\{[^\n]*"status":401[^\n]*\}\n$/;
      await expect(purgeTag("prices", { token: "x".repeat(43) })).rejects.toThrow(refused);
      const unreachable = /ended with 1: purge-tag prices: curl: \(7\) [^\n]*\n$/;
      await expect(purgeTag("prices", { endpoint: "http://127.0.0.1:1" })).rejects.toThrow(unreachable);
    });

    test.each([
      ["redirects to https", 308, "308: this site is at https://www.example.com/_tidemark/purge."],
      ["is the origin, which takes any POST", 200, "<p>Thank you</p>"],
    ])("fails if what answers %s: there is no receipt", async (_, status, body) => {
      const other = createServer((_, response) => void response.writeHead(status).end(body));
      const endpoint = await listenLocally(other);
      onTestFinished(() => void other.close());
      await expect(purgeTag("prices", { endpoint })).rejects.toThrow(`ended with 1: purge-tag prices: ${body}\n`);
    });

    test("is called by a line that cron understands, as a user who alone may read the token", async () => {
      const [, mode, ...lines] = linesOf(blockWith("docs/purging.md", "/etc/cron.d").replace(" \\\n", ""));
      expect(mode).toBe("chmod 755 /usr/local/bin/purge-tag");
      const user = userInfo().username;
      const script = lines.join("\n").replaceAll("-o www-data", `-o ${user}`).replaceAll("/etc", `${folder}/etc`);
      for (const name of ["tidemark", "cron.d"]) mkdirSync(join(folder, "etc", name), { recursive: true });
      writeFileSync(join(folder, "etc/tidemark/environment"), 'TIDEMARK_TOKEN=a+b/c=\nTIDEMARK_OPTIONS="--x"\n');
      await run(script);
      const settings = join(folder, "etc/purge-tag.env");
      expect(readFileSync(settings, "utf8")).toBe(`TIDEMARK_ENDPOINT=${SITE}\nTIDEMARK_TOKEN=a+b/c=\n`);
      expect(statSync(settings).mode & 0o777).toBe(0o600);
      // A percent sign would end the line.
      expect(readFileSync(join(folder, "etc/cron.d/import-charts"), "utf8")).toMatch(
        /^MAILTO=\S+\n0 4 \* \* \* www-data [^%\n]+ && \/usr\/local\/bin\/purge-tag charts\n$/,
      );
    });
  });

  test("docs/purging.md, From a shell: one page is fetched again without a purge", async () => {
    const command = blockWith("docs/purging.md", "Tidemark-Refresh");
    const before = await edge.purges();
    const seen = edge.origin.countOf("/about");
    expect(await run(command)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*x-cache: BYPASS\r\n/is);
    expect(edge.origin.countOf("/about")).toBe(seen + 1);
    expect(edge.origin.seen.at(-1)!.fields["accept-encoding"]).toBe("br, gzip, zstd");
    expect(await edge.purges()).toEqual(before);
  });

  test("docs/purging.md, Python: the program prints what the page shows", async () => {
    const [command, ...shown] = linesOf(blockWith("docs/purging.md", "$ python3 purge_cdn_urls.py"));
    const said = await run(command!.replace(/^\$ /, ""), resolve("docs/examples"));
    expect(said.replaceAll(edge.endpoint, SITE).trimEnd().split("\n")).toEqual(shown);
  });
});
