import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { TOKEN } from "../engine/scenario.ts";
import { type MadeUp, madeUpStats } from "./made-up-stats.ts";

export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const hasChromium = existsSync(CHROMIUM);

export const NOW = Date.UTC(2026, 2, 14, 16, 20);

/** A host that the browser reaches over http, and for which it keeps no Secure cookie, as it does for localhost. */
export const PLAIN_HOST = "edge.test";

const ROUTES = [
  { match: "/admin{/*}?", pass: true },
  {
    match: "/api/search/autocomplete",
    key: { query: { only: ["q"], lowercase: ["q"], trim: ["q"] } },
    store: { when: { query: { q: { maxLength: 9 } } } },
    ttl: "24h",
    tags: ["autocomplete"],
  },
  { match: "/api/song/:id", key: { query: { only: [] } }, tags: ["songs", "song:{id}"] },
  { match: "/songs", key: { query: { only: ["q", "page"], trim: ["q"] } }, tags: ["songs"] },
  { match: "/plog/:slug", key: { query: { ignore: ["utm_*", "ref"], sort: true } }, tags: ["plog", "plog:{slug}"] },
  { match: "/images/*", key: { query: { only: [] } }, browserTtl: "1h", tags: ["images"] },
];

/** An edge on virtual time, a browser in front of it, and an origin behind it. */
export class Stage {
  readonly #edge: EdgeRuntime;
  readonly #browser: Browser;
  readonly origin: ScriptedOrigin;
  /** What pages wrote to the console as errors. */
  readonly errors: string[] = [];

  readonly #setOriginsClock: (now: number) => void;

  private constructor(
    edge: EdgeRuntime,
    browser: Browser,
    origin: ScriptedOrigin,
    setOriginsClock: (now: number) => void,
  ) {
    this.#setOriginsClock = setOriginsClock;
    this.#edge = edge;
    this.#browser = browser;
    this.origin = origin;
  }

  static async start(): Promise<Stage> {
    let now = NOW;
    const origin = new ScriptedOrigin(() => now);
    await origin.comeUp();
    const variables = {
      SITE: {
        origin: origin.url,
        routes: ROUTES,
        originFields: { "X-Edge": "a-secret-value" },
        bypass: { cookies: ["sid"] },
      },
      TIDEMARK_HOSTS: "*",
      TIDEMARK_TOKEN: TOKEN,
    };
    const script = await bundleWorker("local/runtime/virtual-time.worker.ts");
    const edge = await startEdgeRuntime({ script, variables }, { port: 0 });
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
      ],
    });
    const stage = new Stage(edge, browser, origin, (to) => {
      now = to;
    });
    await stage.setClock(NOW);
    return stage;
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.#edge.stop();
    await this.origin.goDown();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get address(): string {
    return `http://localhost:${this.#edge.url.port}`;
  }

  /** Sets the clocks of edge and origin. */
  async setClock(now: number): Promise<void> {
    this.#setOriginsClock(now);
    await (await fetch(new URL(`/_virtual-time?now=${now}`, this.#edge.url))).text();
  }

  /** A request of a visitor. */
  async visit(path: string): Promise<string | null> {
    const response = await fetch(this.address + path);
    await response.text();
    return response.headers.get("x-cache");
  }

  async purge(body: object): Promise<number> {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const response = await fetch(`${this.address}/_tidemark/purge`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return ((await response.json()) as { seq: number }).seq;
  }

  /** A browser of somebody's own, with no cookies yet. */
  async open(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
    const context: BrowserContext = await this.#browser.newContext({
      viewport: { width: 1180, height: 800 },
      reducedMotion: "reduce",
      timezoneId: "UTC",
      ...options,
    });
    context.setDefaultTimeout(8_000);
    const page = await context.newPage();
    page.on("console", (message) => {
      // Chromium also reports each answer with a status of 400 and more.
      if (message.type() === "error" && !message.text().startsWith("Failed to load")) this.errors.push(message.text());
    });
    page.on("pageerror", (error) => this.errors.push(error.message));
    await page.goto(`${this.address}/_tidemark/`);
    return page;
  }

  /** A browser that has logged in. */
  async enter(options: Parameters<Browser["newContext"]>[0] = {}, made?: MadeUp): Promise<Page> {
    const page = await this.open(options);
    if (made) await answerWith(page, made);
    await logIn(page);
    return page;
  }
}

/** Logs in where the login stands. */
export async function logIn(page: Page): Promise<void> {
  await page.getByLabel("Token", { exact: true }).fill(TOKEN);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("#sentence").filter({ hasText: /./ }).waitFor();
}

/** Answers reads of the stats with made-up ones. */
export async function answerWith(page: Page, made: MadeUp): Promise<void> {
  const body = madeUpStats(made);
  await page.route(/_tidemark\/stats/, async (route) => {
    const pop = new URL(route.request().url()).searchParams.get("pop");
    const one =
      pop === null ? body : { ...body, ...body.pops[pop], pop, routes: {}, top: null, pops: { [pop]: body.pops[pop] } };
    await route.fulfill({ json: one });
  });
}

/** Goes to a page of the dashboard by its link. */
export async function goTo(page: Page, name: "Overview" | "Purges" | "Explain" | "Rules"): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name }).click();
  await page.locator(`#view-${name.toLowerCase()}`).waitFor();
}
