import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { prepare, type ServeOptions } from "../../../server/startup/prepare-server.ts";
import { startedText } from "../../../server/startup/started-text.ts";
import { freePort } from "../../suite/free-ports.ts";
import { ServerProcess } from "./running-server.ts";

const MIB = 1024 ** 2;
const LISTEN = [{ host: "127.0.0.1", port: 8080 }];

describe("what a server prints when it has started", () => {
  let folder: string;
  let server: ServerProcess | null;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    server = null;
  });
  afterEach(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  /** What it prints, with `PORT` for its port. */
  async function printed(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const port = await freePort();
    const listen = ["--listen", `127.0.0.1:${port}`, "--workers", "1"];
    server = new ServerProcess(folder, ["--origin", "http://127.0.0.1:8000", ...listen, ...args], environment);
    await server.prints(/^ {2}disk /m); // all of it is one write
    return server.printed.replaceAll(String(port), "PORT");
  }

  test("without hosts: where the dashboard is, what to try, and what a second MISS means", {
    tags: ["deep"],
  }, async () => {
    const text = await printed([], { TIDEMARK_TOKEN: "a-token-of-this-server-000123456789" });
    expect(text).toContain("  look     http://localhost:PORT/_tidemark/ in a browser  (log in with the token)\n");
    expect(text).toContain(
      "  rules    none: a page is stored if the origin says s-maxage or max-age  (a tidemark.config.ts is picked up)\n",
    );
    expect(text).toContain("\n  curl -si http://localhost:PORT/ | grep ");
    expect(text).toContain("\nMISS twice with detail=no-freshness: the origin gave the page no lifetime.");
  });

  const OPTIONS: ServeOptions = {
    ...{ config: null, defaultConfig: "tidemark.config.ts", sites: null, environment: {}, listen: LISTEN, sockets: [] },
    ...{ origin: "http://127.0.0.1:8000", parent: null, parentToken: null, predecessor: null },
    ...{ certificates: { pairs: [], folder: null }, acme: null },
    ...{ usesProxyProtocol: false, redirectsToHttps: null, strictTransportSecurity: null, usesFastAnswers: true },
    ...{ cache: "cache", log: null, memoryBytes: MIB, diskBytes: MIB, workers: 1, accessLog: null },
    ahead: null,
    report: () => undefined,
  };

  /** The same without a start of the server. */
  async function textOf(options: Partial<ServeOptions>): Promise<string> {
    const prepared = await prepare({ ...OPTIONS, ...options });
    return startedText({ addresses: ["127.0.0.1:8080"], prepared }).replaceAll("8080", "PORT");
  }

  test("a file system that is smaller than --disk bounds the pages", async () => {
    const cache = join(folder, "cache");
    const text = await textOf({ cache, diskBytes: 2 ** 50 });
    expect(text).toMatch(/^ {2}disk {5}\S+pages {2}\(at most the [\d.]+GiB of its file system\)$/m);
  });

  test("a config takes the routes that it proposes for pages without a lifetime", async () => {
    const proposed = /gives it one: (routes: .+)$/m.exec(await textOf({}))?.[1];
    const config = join(folder, "tidemark.config.ts");
    writeFileSync(config, `export default { ${proposed} };\n`);
    expect(await textOf({ config })).toContain(`  rules    ${config}  (edits are picked up)\n`);
  });

  test("with hosts: how to ask as a visitor of one of them", { tags: ["deep"] }, async () => {
    const text = await textOf({ environment: { TIDEMARK_HOSTS: "www.example.test,example.test" } });
    expect(text).toContain('\n  curl -si http://localhost:PORT/ -H "Host: www.example.test" | grep ');
    expect(text).toContain("  look     /_tidemark/ at each host, in a browser  (log in with a token)\n");
  });

  test("for any host no host has to be named", async () => {
    const text = await textOf({ environment: { TIDEMARK_HOSTS: "*" } });
    expect(text).toContain("\n  curl -si http://localhost:PORT/ | grep ");
  });

  test("no dashboard if the site has none", async () => {
    const config = join(folder, "tidemark.config.ts");
    writeFileSync(config, 'export default { origin: "http://127.0.0.1:1", dashboard: false };\n');
    expect(await textOf({ config, origin: null })).not.toContain("_tidemark/ in");
  });
});
