import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DemoOrigin, startDemoOrigin } from "../../demo/origin.ts";
import { startSearchPage } from "../../demo/search-page/server.ts";
import { DEMO_PASSWORD, DEMO_USER } from "../../demo/site/admin/login.ts";
import { bundleWorker, edgeEntry } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { createPurger, type Purger } from "../../sdk/index.ts";
import { TOKEN } from "../engine/scenario.ts";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const hasChromium = existsSync(CHROMIUM);
if (!hasChromium) {
  process.stdout.write(`skipped: the demo in a browser, because ${CHROMIUM} is missing (Debian package chromium)\n`);
}

/** The demo as visitors and an editor use it: in Chromium, through the edge, with the rules in tidemark.config.ts. */
describe.skipIf(!hasChromium)("the demo in a browser", () => {
  let origin: DemoOrigin;
  let edge: EdgeRuntime;
  let purger: Purger;
  let searchPage: Awaited<ReturnType<typeof startSearchPage>>;
  let browser: Browser;
  let visitor: Visitor;
  const errors: string[] = [];

  const startOrigin = (port = 0) =>
    startDemoOrigin({ port, purger: { purge: (request) => purger.purge(request) }, autocompleteDelayMs: 0 });

  beforeAll(async () => {
    origin = await startOrigin();
    const script = await bundleWorker(edgeEntry("tidemark.config.ts"));
    const variables = { TIDEMARK_ORIGIN: origin.url, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
    edge = await startEdgeRuntime({ script, variables }, { port: 0 });
    purger = createPurger({ endpoint: edge.url.origin, token: TOKEN });
    searchPage = await startSearchPage({ siteUrl: edge.url.origin });
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
    });
    visitor = await newVisitor();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await purger?.close();
    await edge?.stop();
    await searchPage?.close();
    await origin?.close();
  });

  /** A visitor with a browser of their own, and so with their own cookies and cache. */
  class Visitor {
    readonly context: BrowserContext;
    readonly page: Page;

    constructor(context: BrowserContext, page: Page) {
      this.context = context;
      this.page = page;
    }

    /** Opens a page, and returns how the edge answered. */
    async open(path: string): Promise<{ status: number; xCache: string | undefined; render: string | null }> {
      const response = await this.page.goto(new URL(path, edge.url).href);
      const fields = response!.headers();
      return { status: response!.status(), xCache: fields["x-cache"], render: fields["x-demo-render"] ?? null };
    }

    heading(): Promise<string> {
      return this.page.locator("h1").innerText();
    }
  }

  async function newVisitor(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Visitor> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(5_000);
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(`${page.url()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
    return new Visitor(context, page);
  }

  async function newestSlug(): Promise<string> {
    return origin.database.posts(1).items[0]!.slug;
  }

  test("the front page lists what to try, in commands that contain the address of the edge", async () => {
    expect(await visitor.open("/")).toMatchObject({ status: 200, xCache: "MISS" });
    expect(await visitor.page.locator("ol.steps > li h2").allInnerTexts()).toEqual([
      "A miss",
      "A hit",
      "Stop the origin",
      "Edit",
      "Purge",
      "Look",
    ]);
    expect(await visitor.page.locator("pre").first().innerText()).toContain(edge.url.origin);
  });

  test("each command has a button that copies it, and without scripts there is none", async () => {
    const { page, context } = visitor;
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await visitor.open("/");
    const commands = page.locator("pre");
    expect(await page.getByRole("button", { name: "Copy" }).count()).toBe(await commands.count());
    await commands.nth(1).getByRole("button", { name: "Copy" }).click();
    await commands.nth(1).getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      await commands.nth(1).locator("code").innerText(),
    );
    await commands.nth(0).getByRole("button").focus();
    expect(await page.getByRole("button", { name: "Copied" }).count()).toBe(0);

    const withoutScripts = await newVisitor({ javaScriptEnabled: false });
    await withoutScripts.open("/");
    expect(await withoutScripts.page.locator("pre").count()).toBeGreaterThan(0);
    expect(await withoutScripts.page.getByRole("button").count()).toBe(0);
    await withoutScripts.context.close();
  });

  test("the second view and another visitor's view get the same copy", async () => {
    const path = `/plog/${await newestSlug()}`;
    const first = await visitor.open(path);
    expect(first.xCache).toBe("MISS");
    expect(await visitor.open(path)).toEqual({ ...first, xCache: "HIT" });
    const other = await newVisitor();
    expect(await other.open(`${path}?utm_source=letter`)).toEqual({ ...first, xCache: "HIT" });
    await other.context.close();
  });

  test("while the origin is stopped, stored pages are served and other pages are a 502", async () => {
    const path = `/plog/${await newestSlug()}`;
    const { port } = new URL(origin.url);
    await origin.close();
    expect(await visitor.open(path)).toMatchObject({ status: 200, xCache: "HIT" });
    expect(await visitor.open("/plog/?page=41")).toMatchObject({ status: 502, xCache: undefined });
    errors.length = 0; // Chromium reports the 502 as an error of the page.
    origin = await startOrigin(Number(port));
    expect(await visitor.open("/plog/?page=41")).toMatchObject({ status: 200, xCache: "MISS" });
  });

  test("after an editor saves, the next view shows the change, to the editor and to a visitor", async () => {
    const slug = await newestSlug();
    const second = await newVisitor();
    await second.open(`/plog/${slug}`);
    await second.open("/plog/");
    const before = await second.open("/songs");

    const editor = await newVisitor();
    expect(await editor.open(`/admin/posts/${slug}`)).toMatchObject({ xCache: "BYPASS" });
    await editor.page.getByLabel("Name").fill(DEMO_USER);
    await editor.page.getByLabel("Password").fill(DEMO_PASSWORD);
    await editor.page.getByRole("button", { name: "Log in" }).click();
    await editor.page.getByLabel("Title", { exact: true }).fill("A title that was never there before");
    await editor.page.getByRole("button", { name: "Save and purge" }).click();
    await editor.page.getByText("purged", { exact: false }).first().waitFor();
    await editor.open(`/plog/${slug}`);
    expect(await editor.heading()).toBe("A title that was never there before");

    expect((await second.open(`/plog/${slug}`)).xCache).not.toBe("BYPASS");
    expect(await second.heading()).toBe("A title that was never there before");
    await second.open("/plog/");
    expect(await second.page.getByText("A title that was never there before").count()).toBe(1);
    expect(await second.open("/songs")).toEqual({ ...before, xCache: "HIT" }); // control: other pages were not purged

    await editor.open(`/admin/posts/${slug}`);
    await editor.page.getByText("Delete this post").click();
    await editor.page.getByRole("button", { name: "Delete it for good" }).click();
    await editor.page.waitForURL("**/admin/**");
    expect(await second.open(`/plog/${slug}`)).toMatchObject({ status: 404 });
    await second.open("/plog/");
    expect(await second.page.getByText("A title that was never there before").count()).toBe(0);
    errors.length = 0; // Chromium reports the 404 as an error of the page.
    await editor.context.close();
    await second.context.close();
  });

  test("a page on another origin searches through the edge, and upper case and spaces share a copy", {
    tags: ["deep"],
  }, async () => {
    const { page } = visitor;
    await page.goto(searchPage.url);
    const answeredBy = page.locator("#log tr:first-child td:nth-child(2)");
    await page.getByRole("searchbox").fill("lan");
    await page.locator("#suggestions li a").first().waitFor();
    expect(await answeredBy.innerText()).toBe("MISS");
    await page.getByRole("searchbox").fill(" LAN");
    await page.locator("#log tr:nth-child(2)").waitFor();
    expect(await answeredBy.innerText()).toBe("HIT");
  });

  test.each(["/", "/plog/", "/songs", "/songs?q=lan", "/admin/login", "/nowhere"])(
    "%s and its commands fit on a phone",
    { tags: ["deep"] },
    async (path) => {
      const phone = await newVisitor({ viewport: { width: 360, height: 740 } });
      await phone.open(path);
      const width = await phone.page.evaluate("document.documentElement.scrollWidth");
      expect(width).toBe(360);
      const hidden = "[...document.querySelectorAll('pre')].filter((pre) => pre.scrollWidth > pre.clientWidth).length";
      expect(await phone.page.evaluate(hidden)).toBe(0);
      await phone.context.close();
      if (path === "/nowhere") errors.length = 0; // Chromium reports the 404 as an error of the page.
    },
  );

  test("no page wrote an error to the console", () => {
    expect(errors).toEqual([]);
  });
});
