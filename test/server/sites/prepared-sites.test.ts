import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  expectUsableFolders,
  type Prepared,
  prepare,
  type ServeOptions,
} from "../../../server/startup/prepare-server.ts";
import { logFolderOf, type PreparedSites, type ReadSites, readSites } from "../../../server/startup/prepared-sites.ts";
import { variablesOf } from "../../../server/startup/sites-folder.ts";
import { serveOptions } from "../serve/serve-options.ts";

describe("the sites of a folder", () => {
  let folder: string;
  /** As they are at first: to read them takes half a second. */
  let both: PreparedSites;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    writeBoth();
    both = (await read()).sites;
  });
  beforeEach(() => {
    for (const name of ["sites", "cache"]) rmSync(join(folder, name), { recursive: true, force: true });
    writeBoth();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function writeBoth(): void {
    mkdirSync(join(folder, "sites"));
    for (const name of ["shop", "blog"]) write(name, `hosts: ["${name}.test"]`);
  }

  function write(name: string, settings: string): void {
    const config = `export default { origin: "http://127.0.0.1:8000", ${settings} };\n`;
    writeFileSync(join(folder, "sites", `${name}.config.ts`), config);
  }

  const appendTo = (file: string, text: string) => appendFileSync(join(folder, "sites", file), text);

  function read(
    before: PreparedSites = new Map(),
    usesProxyProtocol = false,
    keepsUnchanged = false,
    files = new Map<string, string>(),
  ): Promise<ReadSites> {
    const listen = [{ host: "127.0.0.1", port: 8080 }];
    const around = { listen, usesProxyProtocol, redirectsToHttps: null, read: files };
    return readSites(join(folder, "sites"), join(folder, "cache"), around, before, keepsUnchanged);
  }

  const hostsOf = ({ sites }: ReadSites) => [...sites].map(([name, { site }]) => [name, site.hosts]);

  test("one that is new with a log that was shared with other machines is refused alone", async () => {
    const sites = new Map([["shop", both.get("shop")!]]);
    mkdirSync(join(logFolderOf(join(folder, "cache"), "blog"), "shared-log.json"), { recursive: true });
    write("shop", 'hosts: ["www.shop.test"]');
    const again = await read(sites);
    expect(hostsOf(again)).toEqual([["shop", ["www.shop.test"]]]);
    const because = /^site blog: it is not served: .*blog.* shared its purge log with others/;
    expect(again.problems).toEqual([expect.stringMatching(because)]);
  });

  test("none is served if all are refused, and what is wrong with each is told", async () => {
    for (const name of ["shop", "blog"]) appendTo(`${name}.env`, "TIDEMARK_ORGIN=http://127.0.0.1:8001");
    const because = ["blog", "shop"].map(
      (name) => `site ${name}: it is not served: .*TIDEMARK_ORGIN is not a variable`,
    );
    await expect(read()).rejects.toThrow(new RegExp(because.join(".*\n")));
  });

  test("none is served from a cache whose path is too long for the sockets of their logs", async () => {
    const around = { listen: [], usesProxyProtocol: false, redirectsToHttps: null, read: new Map<string, string>() };
    const reading = readSites(join(folder, "sites"), join(folder, "long".repeat(30)), around, new Map());
    await expect(reading).rejects.toThrow(/^site blog: it is not served: .* too long for a Unix socket/);
  });

  test("none is served if there are more than a server takes", async () => {
    for (let count = 2; count <= 200; count++) write(`site-${count}`, "");
    await expect(read()).rejects.toThrow(/^there are 201 sites in .*, but one server takes at most 200\.$/);
  });

  describe("many", () => {
    /** Each tells the thread that loads it. */
    const TELLS_THREAD = 'import { threadId } from "node:worker_threads";';
    const names = Array.from({ length: 12 }, (_, index) => `site-${index}`);

    function writeMany(text: (name: string, index: number) => string): void {
      for (const name of ["shop", "blog"]) rmSync(join(folder, "sites", `${name}.config.ts`));
      for (const [index, name] of names.entries()) {
        writeFileSync(join(folder, "sites", `${name}.config.ts`), text(name, index));
      }
    }

    const siteOf = (name: string, port: string) =>
      `export default { origin: \`http://127.0.0.1:\${${port}}\`, hosts: ["${name}.test"] };\n`;
    const portsOf = ({ sites }: ReadSites) => [...sites].map(([, { site }]) => site.originUrl.split(":").at(-1)!);

    test("that import nothing are loaded by few threads", async () => {
      writeMany((name) => `${TELLS_THREAD}\n${siteOf(name, "9000 + threadId")}`);
      const { sites, problems } = await read();
      expect(problems).toEqual([]);
      expect(sites.size).toBe(names.length);
      expect(new Set(portsOf({ sites, problems })).size).toBeLessThanOrEqual(8);
    });

    test("that change what they import do not see each other's changes", async () => {
      mkdirSync(join(folder, "sites", "rules"));
      writeFileSync(join(folder, "sites", "rules", "ports.ts"), "export const taken: number[] = [];\n");
      const imports = 'import { taken } from "./rules/ports.ts";';
      writeMany((name) => `${imports}\ntaken.push(1);\n${siteOf(name, "9000 + taken.length")}`);
      expect(new Set(portsOf(await read()))).toEqual(new Set(["9001"]));
    });

    test("are loaded though others harm their threads later, and one that ends its process is refused alone", async () => {
      const harms = ['throw new Error("too late");', "delete globalThis.URL;"];
      writeMany((name, index) => {
        const later = `parentPort.once("message", () => { ${harms[index % 2]} });`; // when the thread loads another one
        const fault = name === "site-10" ? "process.exit();" : later;
        return `import { parentPort } from "node:worker_threads";\n${fault}\n${siteOf(name, "8000")}`;
      });
      const { sites, problems } = await read();
      expect(problems).toEqual([
        expect.stringMatching(/^site site-10: it is not served: .*site-10.config.ts: the file ended/),
      ]);
      expect(sites.size).toBe(names.length - 1);
    });

    test("that are links to one config are told its files and take their own variables", async () => {
      const shared = join(folder, "shared.ts");
      writeFileSync(shared, 'export default { origin: "http://127.0.0.1:8000" };\n');
      for (const name of ["shop", "blog"]) rmSync(join(folder, "sites", `${name}.config.ts`));
      for (const name of names) {
        symlinkSync(shared, join(folder, "sites", `${name}.config.ts`));
        appendTo(`${name}.env`, `TIDEMARK_HOSTS=${name}.test\n`);
      }
      const { sites } = await read();
      for (const name of names) {
        expect(sites.get(name)!.site.hosts).toEqual([`${name}.test`]);
        expect([...sites.get(name)!.loaded.files.keys()]).toContain(realpathSync(shared));
      }
    });
  });

  test("one may have variables that an editor of Windows has marked as UTF-8", () => {
    const environment = join(folder, "sites", "shop.env");
    writeFileSync(environment, "\ufeffTIDEMARK_HOSTS=www.shop.test\r\n");
    const files = { name: "shop", config: "shop.config.ts", secondConfig: null, environment };
    expect(variablesOf(files)).toEqual({ TIDEMARK_HOSTS: "www.shop.test" });
  });

  test("two with one token are told of when the settings are read, and two without any are not", async () => {
    /** As they would be read with these variables, which nobody has to read again. */
    const having = (text: string): PreparedSites =>
      new Map(
        [...both].map(([name, site]) => {
          writeFileSync(join(folder, "sites", `${name}.env`), text);
          const environment = parseEnv(text);
          const [sources, settings] = [
            { ...site.sources, environment },
            { ...site.settings, tokens: environment },
          ];
          return [name, { ...site, sources, settings, loaded: { ...site.loaded, files: new Map() } }];
        }),
      );
    const told = async (text: string) => {
      const options = serveOptions(folder, { origin: null, environment: {}, sites: join(folder, "sites") });
      const before = { sites: having(text), settings: { tls: null } } as unknown as Prepared;
      const { warnings } = await prepare(options, before, new Map(), new Map(), true);
      return warnings.filter((line) => line.includes("same"));
    };
    expect(await told("TIDEMARK_TOKEN=a-token-0123456789-abcdefghijklmn\n")).toEqual([
      "the sites blog, shop have the same TIDEMARK_TOKEN: give each its own.",
    ]);
    expect(await told("")).toEqual([]);
  });

  test("two that name no hosts are refused: nobody could tell whose a request is", { tags: ["deep"] }, async () => {
    for (const name of ["first", "second"]) write(name, "");
    const again = await read(both);
    expect([...again.sites.keys()]).toEqual(["blog", "shop"]);
    const because = /^site (first|second): it is not served: .* both serve the hosts that no site names/;
    expect(again.problems).toEqual([expect.stringMatching(because), expect.stringMatching(because)]);
  });

  describe("one that names a host of another", () => {
    test("is refused, and the other one gets its new settings", async () => {
      write("shop", 'hosts: ["shop.test", "www.shop.test"]');
      write("blog", 'hosts: ["blog.test", "shop.test"]');
      const again = await read(both);
      expect(hostsOf(again)).toEqual([
        ["blog", ["blog.test"]],
        ["shop", ["shop.test", "www.shop.test"]],
      ]);
      const because = "the host shop.test is in both blog and shop.";
      expect(again.problems).toEqual([`site blog: its old settings stay in use: ${because}`]);
    });

    test("is refused together with it if the host is new to both", async () => {
      write("shop", 'hosts: ["shop.test", "new.test"]');
      write("blog", 'hosts: ["blog.test", "new.test"]');
      const again = await read(both);
      expect(again.sites).toEqual(both);
      expect(again.problems).toHaveLength(2);
    });
  });

  test("one that comes to trust other proxies than the others is refused alone", async () => {
    const trusted = (name: string, proxy: string) =>
      write(name, `hosts: ["${name}.test"], trustedProxies: ["${proxy}"]`);
    for (const name of ["blog", "shop", "third"]) trusted(name, "10.0.0.1");
    const { sites } = await read(new Map(), true);
    trusted("blog", "10.0.0.2");
    const again = await read(sites, true);
    expect(again.problems).toEqual([expect.stringMatching(/^site blog: its old settings stay in use: .* differ\.$/)]);
  });

  test("all may trust the same proxies in any order", { tags: ["deep"] }, async () => {
    write("shop", 'hosts: ["shop.test"], trustedProxies: ["10.0.0.1", "10.0.0.2"]');
    write("blog", 'hosts: ["blog.test"], trustedProxies: ["10.0.0.2", "10.0.0.1"]');
    expect((await read(new Map(), true)).problems).toEqual([]);
  });

  test("a token that is made for one opens no other, and stays good when it names hosts", async () => {
    write("shop", "");
    const tokensOf = ({ sites }: ReadSites) =>
      [...sites.values()].map(({ settings, madeToken }) => [settings.tokens.TIDEMARK_TOKEN || null, madeToken]);
    const first = await read();
    const { madeToken } = first.sites.get("shop")!;
    expect(madeToken).toMatch(/^[\w-]{32}$/);
    const ofBoth = [
      [null, null],
      [madeToken, madeToken],
    ];
    expect(tokensOf(await read(first.sites))).toEqual(ofBoth);
    write("shop", 'hosts: ["shop.test"]');
    expect(tokensOf(await read(first.sites))).toEqual(ofBoth);
  });

  test.each([
    { name: "nothing has changed", change: () => undefined, expected: [] },
    { name: "its config has changed", change: () => appendTo("shop.config.ts", "\n"), expected: ["shop"] },
    { name: "a file that its config imports has changed", change: () => appendTo("host.ts", "\n"), expected: ["shop"] },
    {
      name: "its variables have changed",
      change: () => appendTo("shop.env", "TIDEMARK_HOSTS=a.test"),
      expected: ["shop"],
    },
    { name: "all are to be read anew", change: () => undefined, keepsUnchanged: false, expected: ["blog", "shop"] },
  ])("one is read again, and no other, if $name: $expected", async ({ change, keepsUnchanged = true, expected }) => {
    const noted = join(folder, "sites", "noted");
    writeFileSync(join(folder, "sites", "host.ts"), 'export default "shop.test";');
    for (const [name, host] of Object.entries({ shop: '(await import("./host.ts")).default', blog: '"blog.test"' })) {
      write(name, `hosts: [${host}]`);
      const note = `process.getBuiltinModule("node:fs").appendFileSync(${JSON.stringify(noted)}, "${name}\\n");`;
      appendTo(`${name}.config.ts`, note);
    }
    const [first, again] = [new Map<string, string>(), new Map<string, string>()];
    const { sites } = await read(new Map(), false, false, first);
    change();
    rmSync(noted);
    expect([...(await read(sites, false, keepsUnchanged, again)).sites.keys()]).toEqual(["blog", "shop"]);
    expect(existsSync(noted) ? readFileSync(noted, "utf8").trim().split("\n").sort() : []).toEqual(expected);
    expect([...again.keys()].sort()).toEqual([...first.keys()].sort());
  });

  test("one whose config is a link to nowhere is refused, and no option is named that only one site has", async () => {
    const config = join(folder, "sites", "blog.config.ts");
    rmSync(config);
    symlinkSync("nowhere.ts", config);
    const { sites, problems } = await read();
    expect([...sites.keys()]).toEqual(["shop"]);
    expect(problems).toEqual([`site blog: it is not served: there is no ${config}.`]);
  });

  test("one that comes to have two configs is refused, and which one counts is not guessed", async () => {
    const [first, second] = ["js", "ts"].map((kind) => join(folder, "sites", `blog.config.${kind}`));
    writeFileSync(first!, 'export default { origin: "http://127.0.0.1:8001", hosts: ["other.test"] };');
    const because = `it has two configs, ${first} and ${second}.`;
    const again = await read(both);
    expect(again.sites.get("blog")).toBe(both.get("blog"));
    expect(again.problems).toEqual([`site blog: its old settings stay in use: ${because}`]);
    const anew = await read();
    expect([...anew.sites.keys()]).toEqual(["shop"]);
    expect(anew.problems).toEqual([`site blog: it is not served: ${because}`]);
  });

  test("one whose log cannot be used is told at a check, which passes, because the server would start", () => {
    const options = { cache: join(folder, "cache"), log: null } as ServeOptions;
    const prepared = { sites: both, settings: { disk: null } } as Prepared;
    const told = () => expectUsableFolders(options, prepared).map(({ message }) => message);
    expect(told()).toEqual([]);
    const log = logFolderOf(options.cache, "blog");
    for (const name of ["purge-log.sqlite", "supervisor.lock"]) {
      mkdirSync(join(log, name), { recursive: true });
      expect(told()).toEqual([expect.stringContaining(`The purge log in ${log}: it cannot be used (EISDIR`)]);
      rmSync(log, { recursive: true });
    }
    writeFileSync(log, "");
    expect(told()).toEqual([expect.stringContaining(`${log} is a file`)]);
  });
});
