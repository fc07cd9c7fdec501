import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as forExpress from "../../sdk/frameworks/express.ts";
import * as forFastify from "../../sdk/frameworks/fastify.ts";
import * as forHono from "../../sdk/frameworks/hono.ts";
import * as forNext from "../../sdk/frameworks/next.ts";
import * as respond from "../../sdk/frameworks/respond.ts";
import * as sdk from "../../sdk/index.ts";
import * as sdkTesting from "../../sdk/testing.ts";
import { compileSite } from "../../worker/site/site.ts";
import { scenarios } from "../scenarios/index.ts";
import { pathsIn } from "./named-paths.ts";
import { leadsSomewhere, linksIn, pageNamed, pages, ROOT } from "./pages/pages.ts";
import { evaluateSite, isSite } from "./site-blocks.ts";

describe("the README", () => {
  const readme = pageNamed("README.md");

  test("fits on a screen", () => {
    expect(readme.text.trimEnd().split("\n").length).toBeLessThanOrEqual(90);
  });

  test("names only commands that exist, and so does every other page", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
    const named = pages.flatMap(({ text }) => [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(test))\b/g)]);
    const names = new Set(named.map(([, script, other]) => script ?? other!));
    expect([...names]).toEqual(expect.arrayContaining(["dev", "test", "check", "bench"]));
    expect([...names].filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test("shows a site of at most 18 lines", () => {
    const [site] = readme.blocks.filter(isSite);
    expect(site?.code.trimEnd().split("\n").length).toBeLessThanOrEqual(18);
  });
});

describe("code in the pages", () => {
  const sites = pages.flatMap(({ path, blocks }) => blocks.filter(isSite).map(({ code }) => ({ path, code })));

  test("there are sites in the README and in a page of docs", () => {
    expect(sites.map(({ path }) => path)).toEqual(expect.arrayContaining(["README.md", "docs/getting-started.md"]));
  });

  test.each(sites)("the site in $path is valid", async ({ code }) => {
    expect(compileSite(await evaluateSite(code), {}).originUrl).toMatch(
      /^https:\/\/origin\.example\.com$|^http:\/\/127\.0\.0\.1:\d+$/,
    );
  });

  test("a site with an unknown key would be found", async () => {
    const code = `import { defineSite } from "tidemark/worker";
      export default defineSite({ origin: "https://a.example", rutes: [] });`;
    await expect(evaluateSite(code).then((site) => compileSite(site, {}))).rejects.toThrow("did you mean routes");
  });

  test("the package exports everything that pages import from it", () => {
    const entries: Record<string, object> = {
      tidemark: sdk,
      "tidemark/testing": sdkTesting,
      "tidemark/express": forExpress,
      "tidemark/fastify": forFastify,
      "tidemark/hono": forHono,
      "tidemark/next": forNext,
      "tidemark/respond": respond,
    };
    const imported = pages.flatMap(({ path, blocks }) =>
      blocks
        .flatMap(({ code }) => [
          ...code.matchAll(/^import \{([^}]+)\} from "(tidemark(?:\/(?!worker|local|opennext)\w+)?)";/gm),
        ])
        .flatMap(([, names, entry]) => names!.split(",").map((name) => ({ path, entry: entry!, name: name.trim() }))),
    );
    expect(imported.length).toBeGreaterThan(4);
    expect(imported.filter(({ entry, name }) => !(name in entries[entry]!))).toEqual([]);
  });
});

describe("the pages' references", () => {
  test("links lead to files and headings that exist", () => {
    const links = pages.flatMap(({ path, text }) => linksIn(text).map((link) => ({ path, link })));
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter(({ path, link }) => !leadsSomewhere(path, link))).toEqual([]);
    expect(leadsSomewhere("README.md", "docs/nowhere.md")).toBe(false);
    expect(leadsSomewhere("docs/http.md", "protocol.md#r99")).toBe(false);
  });

  test("where a scenario's source names a page, page and heading exist", () => {
    const sources = scenarios.flatMap(({ source }) => source.match(/docs\/[\w/-]+\.md(?:#[\w-]+)?/g) ?? []);
    expect(sources.filter((source) => !leadsSomewhere("README.md", source))).toEqual([]);
  });

  test("files and folders that the pages name in code exist", () => {
    const files = pages.flatMap(({ path, text }) => pathsIn(text).map((file) => ({ path, file })));
    const folders = new Set(files.map(({ file }) => file.split("/")[0]));
    expect([...folders]).toEqual(expect.arrayContaining(["server", "cli", "local", "worker", "test"]));
    expect(files.filter(({ file }) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});
