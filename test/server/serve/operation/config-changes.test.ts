import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { breath, until } from "../../../suite/until.ts";
import { makeCertificate } from "../../connections/make-certificate.ts";
import { ServerProcess } from "../running-server.ts";

/** How configs change where sites are deployed: not only by an editor. */
describe("tidemark serve picks up", { timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await origin.comeUp();
  });
  afterAll(async () => {
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  /** A release of the site: a config, which imports its lifetime from a file of its own. */
  function release(path: string, ttl: string): void {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "package.json"), '{ "type": "commonjs" }'); // as `npm init` makes it
    writeTtl(path, ttl);
    const site = `import { ttl } from "./ttl.ts";
      export default { origin: ${JSON.stringify(origin.url)}, hosts: ["127.0.0.1"], routes: [{ match: "/*", ttl }] };\n`;
    write(join(path, "tidemark.config.ts"), site);
  }
  function writeTtl(path: string, ttl: string): void {
    write(join(path, "ttl.ts"), `export const ttl: string = "${ttl}";\n`);
  }
  /** Puts it there whole: a server that looked at half of it would say that the old settings stay in use. */
  function write(path: string, text: string): void {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }

  let pages = 0;

  /** A server of which each change is waited for. */
  class Changing {
    readonly #server: ServerProcess;
    #from = 0;
    #changes = 0;
    #mayKeep = false;

    constructor(args: readonly string[], cwd = folder) {
      const more = ["--listen", "127.0.0.1:0", "--workers", "1", "--disk", "0", "--cache", `cache-${pages}`];
      this.#server = new ServerProcess(cwd, [...args, ...more], { TIDEMARK_HOSTS: "*" });
    }

    async isUp(): Promise<void> {
      await this.#server.address();
    }

    /** The lifetime of a new page, in seconds. */
    async lifetime(): Promise<number> {
      const page = new URL(`/${++pages}`, await this.#server.address());
      origin.reply(page.pathname, { body: "page" });
      let found: RegExpExecArray | null = null;
      while (found === null) {
        const answer = await fetch(page, { headers: { connection: "close" } });
        await answer.text();
        found = /hit; ttl=(\d+)/.exec(answer.headers.get("cache-status")!);
        if (found === null) await breath(); // a worker of the old settings, or a page that is being stored
      }
      return Number(found[1]);
    }

    async hasChanged(): Promise<void> {
      await this.#server.prints(/the new settings are in use/, this.#from);
      this.#from = this.#server.printed.length;
      await this.#server.hasRetired(++this.#changes);
    }

    async hasKept(): Promise<void> {
      await this.#server.prints(/the old settings stay in use/, this.#from);
      this.#from = this.#server.printed.length;
      this.#mayKeep = true;
    }

    async stop(): Promise<void> {
      expect(await this.#server.stop()).toBe(0);
      if (!this.#mayKeep) expect(this.#server.printed).not.toContain("the old settings stay in use");
    }
  }

  const around = (seconds: number, found: number) => {
    expect(found).toBeLessThanOrEqual(seconds);
    expect(found).toBeGreaterThan(seconds - 60);
  };

  test("a link that leads to the next release, and then changes of what that imports", { tags: ["deep"] }, async () => {
    release(join(folder, "releases/1"), "10m");
    release(join(folder, "releases/2"), "20m");
    symlinkSync("releases/1", join(folder, "current"));
    const server = new Changing(["--config", "current/tidemark.config.ts"]);
    around(600, await server.lifetime());
    symlinkSync("releases/2", join(folder, "next"));
    renameSync(join(folder, "next"), join(folder, "current"));
    await server.hasChanged();
    around(1200, await server.lifetime());
    writeTtl(join(folder, "releases/2"), "30m");
    await server.hasChanged();
    around(1800, await server.lifetime());
    await server.stop();
  });

  test("a config that is a link, as in a volume of Kubernetes, and then changes of what that imports", async () => {
    const mount = join(folder, "mount");
    release(join(mount, "..1"), "10m");
    release(join(mount, "..2"), "20m");
    symlinkSync("..1", join(mount, "..data"));
    symlinkSync("..data/tidemark.config.ts", join(mount, "tidemark.config.ts"));
    const server = new Changing(["--config", "mount/tidemark.config.ts"]);
    around(600, await server.lifetime());
    symlinkSync("..2", join(mount, "..next"));
    renameSync(join(mount, "..next"), join(mount, "..data"));
    await server.hasChanged();
    around(1200, await server.lifetime());
    writeTtl(join(mount, "..2"), "30m");
    await server.hasChanged();
    around(1800, await server.lifetime());
    await server.stop();
  });

  test("a folder that takes the place of the config's", { tags: ["deep"] }, async () => {
    const site = join(folder, "site");
    release(site, "10m");
    release(join(folder, "site-next"), "20m");
    const server = new Changing(["--config", "site/tidemark.config.ts"]);
    around(600, await server.lifetime());
    renameSync(site, join(folder, "site-before"));
    renameSync(join(folder, "site-next"), site);
    await server.hasChanged();
    around(1200, await server.lifetime());
    writeTtl(site, "30m"); // the watchers are those of the new folder
    await server.hasChanged();
    around(1800, await server.lifetime());
    await server.stop();
  });

  test("a folder of the config that was gone when it had been read, and is back", { tags: ["deep"] }, async () => {
    const parts = join(folder, "parts");
    const put = (ttl: string) => {
      mkdirSync(parts);
      writeTtl(parts, ttl);
    };
    put("10m");
    const site = `import { rmSync } from "node:fs";
      import { ttl } from "./parts/ttl.ts";
      rmSync(${JSON.stringify(parts)}, { recursive: true });
      export default { origin: ${JSON.stringify(origin.url)}, hosts: ["127.0.0.1"], routes: [{ match: "/*", ttl }] };\n`;
    writeFileSync(join(folder, "parted.config.ts"), site);
    const server = new Changing(["--config", "parted.config.ts"]);
    around(600, await server.lifetime());
    put("20m");
    await server.hasChanged();
    around(1200, await server.lifetime());
    await server.stop();
  });

  test("a config that there was none of at the start, and keeps its rules when it is gone again", {
    tags: ["deep"],
  }, async () => {
    const bare = join(folder, "bare");
    mkdirSync(bare);
    const server = new Changing(["--origin", origin.url], bare);
    await server.isUp();
    release(bare, "10m");
    await server.hasChanged();
    around(600, await server.lifetime());
    const config = join(bare, "tidemark.config.ts");
    renameSync(config, join(bare, "aside"));
    await server.hasKept();
    around(600, await server.lifetime());
    renameSync(join(bare, "aside"), config);
    await server.hasChanged();
    writeTtl(bare, "20m");
    await server.hasChanged();
    around(1200, await server.lifetime());
    await server.stop();
  });

  test("a config that came while the server read its settings at the start", { tags: ["deep"] }, async () => {
    const late = join(folder, "late");
    mkdirSync(late);
    const { chain, key } = makeCertificate(["www.example.test"]);
    const certificate = join(late, "site.crt");
    execFileSync("mkfifo", [certificate]); // it is read after the config was looked for, and not before it is written
    writeFileSync(join(late, "site.key"), key);
    const tls = ["--listen-tls", "127.0.0.1:0", "--tls-cert", "site.crt", "--tls-key", "site.key"];
    const server = new Changing(["--origin", origin.url, ...tls], late);
    let pipe: number | null = null;
    await until(() => {
      try {
        pipe = openSync(certificate, constants.O_WRONLY | constants.O_NONBLOCK);
      } catch {} // nobody reads it yet
      return pipe !== null;
    });
    write(certificate, chain); // for the reload
    release(late, "10m");
    writeFileSync(pipe!, chain);
    closeSync(pipe!);
    await server.hasChanged();
    around(600, await server.lifetime());
    await server.stop();
  });

  test("what a config newly imports, when that has come and has no mistake any more", async () => {
    const split = join(folder, "split");
    mkdirSync(split);
    const rules = (ttl: string) => `export const routes = [{ match: "/*", ttl: "${ttl}" }];\n`;
    const config = (imports: string, routes: string) =>
      `${imports}export default { origin: ${JSON.stringify(origin.url)}, hosts: ["127.0.0.1"], ${routes} };\n`;
    write(join(split, "site.config.ts"), config("", 'routes: [{ match: "/*", ttl: "10m" }]'));
    const server = new Changing(["--config", "split/site.config.ts"]);
    around(600, await server.lifetime());
    write(join(split, "site.config.ts"), config('import { routes } from "./rules.ts";\n', "routes"));
    await server.hasKept();
    write(join(split, "rules.ts"), "export const routes = [;\n");
    await server.hasKept();
    write(join(split, "rules.ts"), rules("20"));
    await server.hasKept();
    write(join(split, "rules.ts"), rules("20m"));
    await server.hasChanged();
    around(1200, await server.lifetime());
    await server.stop();
  });

  test("a link that leads elsewhere while the config is loaded", { tags: ["deep"] }, async () => {
    const linked = join(folder, "linked");
    for (const [name, ttl] of [
      ["1", "10m"],
      ["2", "20m"],
      ["3", "30m"],
    ] as const) {
      release(join(linked, name), ttl);
    }
    // No system tells of this change: only looks can find it.
    write(
      join(linked, "2/ttl.ts"),
      `import { renameSync } from "node:fs";
      renameSync(${JSON.stringify(join(linked, "next-3"))}, ${JSON.stringify(join(linked, "current"))});
      export const ttl = "20m";\n`,
    );
    for (const name of ["2", "3"]) symlinkSync(name, join(linked, `next-${name}`));
    symlinkSync("1", join(linked, "current"));
    const server = new Changing(["--config", "linked/current/tidemark.config.ts"]);
    around(600, await server.lifetime());
    renameSync(join(linked, "next-2"), join(linked, "current"));
    await server.hasChanged();
    await server.hasChanged();
    around(1800, await server.lifetime());
    await server.stop();
  });

  test("a new site where a link leads", { tags: ["deep"] }, async () => {
    const writeSite = (path: string, name: string) => {
      mkdirSync(join(folder, path), { recursive: true });
      const site = `export default { origin: ${JSON.stringify(origin.url)}, hosts: ["${name}.test"] };\n`;
      writeFileSync(join(folder, path, `${name}.config.ts`), site);
    };
    writeSite("sites-1", "shop");
    writeSite("sites-2", "blog");
    linkSync(join(folder, "sites-1/shop.config.ts"), join(folder, "sites-2/shop.config.ts")); // it does not change
    symlinkSync("sites-1", join(folder, "sites"));
    const args = ["--sites", "sites", "--listen", "127.0.0.1:0", "--workers", "1", "--disk", "0"];
    const server = new ServerProcess(folder, [...args, "--cache", "cache-of-sites"]);
    await server.address();
    symlinkSync("sites-2", join(folder, "sites-next"));
    renameSync(join(folder, "sites-next"), join(folder, "sites"));
    await server.prints(/site blog: .*the new settings are in use/s);
    expect(await server.stop()).toBe(0);
    expect(server.printed.match(/the new settings are in use/g)).toHaveLength(1);
  });

  test("what two sites newly import, when that has come", { tags: ["deep"] }, async () => {
    const sites = join(folder, "sites-in-common");
    mkdirSync(sites);
    const config = (name: string, ttl: string) =>
      `${ttl}export default { origin: ${JSON.stringify(origin.url)}, hosts: ["${name}.test"], routes: [{ match: "/*", ttl }] };\n`;
    const writeSites = (ttl: string) => {
      for (const name of ["shop", "blog"]) write(join(sites, `${name}.config.ts`), config(name, ttl));
    };
    writeSites('const ttl = "10m";\n');
    const args = ["--sites", "sites-in-common", "--listen", "127.0.0.1:0", "--workers", "1", "--disk", "0"];
    const server = new ServerProcess(folder, [...args, "--cache", "cache-in-common"]);
    await server.address();
    writeSites('import { ttl } from "../common.ts";\n');
    await server.prints(/site blog: its old settings stay in use/);
    await server.prints(/site shop: its old settings stay in use/);
    writeFileSync(join(folder, "common.ts"), 'export const ttl = "20m";\n');
    await server.prints(/the new settings are in use/);
    expect(await server.stop()).toBe(0);
  });
});
