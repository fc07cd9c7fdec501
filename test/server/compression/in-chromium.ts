import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { until } from "../../suite/until.ts";
import { startTestListener } from "../http1/running-listener.ts";
import type { CompressingIsolate } from "./compressing-isolate.ts";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const hasChromium = existsSync(CHROMIUM);

/** An answer as it went out. */
export interface SentAnswer {
  readonly path: string;
  readonly coding: string | null;
  readonly bytes: number;
}

/** A visitor with a Chromium whose profile stays from visit to visit, in front of an edge on localhost. */
export class ReturningVisitor {
  readonly #running: Awaited<ReturnType<typeof startTestListener>>;
  readonly #profile: string;
  /** What was sent to requests with GET. */
  readonly sent: SentAnswer[];
  /** The dictionaries that requests with HEAD have offered; `null` for none. */
  readonly #offered: (string | null)[];
  #hasVisited = false;

  private constructor(
    running: Awaited<ReturnType<typeof startTestListener>>,
    profile: string,
    sent: SentAnswer[],
    offered: (string | null)[],
  ) {
    this.#running = running;
    this.#profile = profile;
    this.sent = sent;
    this.#offered = offered;
  }

  static async of(edge: CompressingIsolate): Promise<ReturningVisitor> {
    const sent: SentAnswer[] = [];
    const offered: (string | null)[] = [];
    const running = await startTestListener(async (incoming) => {
      const { method, headers } = incoming.request;
      if (method === "HEAD") offered.push(headers.get("available-dictionary"));
      const answer = await edge.fetch(incoming);
      if ("fields" in answer && method === "GET") {
        const bytes = answer.body instanceof Uint8Array ? answer.body.byteLength : 0;
        sent.push({ path: new URL(incoming.url).pathname, coding: answer.fields.get("content-encoding"), bytes });
      }
      return answer;
    });
    return new ReturningVisitor(running, await mkdtemp(join(TEMPORARY_ROOT, "tidemark-profile-")), sent, offered);
  }

  /**
   * Opens a page in a browser of its own, and closes that again. Returns what `script` says there. The browser writes what it
   * has loaded into its profile before it ends.
   */
  async visit(path: string, script: string): Promise<unknown> {
    const context = await chromium.launchPersistentContext(this.#profile, {
      executablePath: CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
    });
    try {
      const page = await context.newPage();
      const site = `http://localhost:${this.#running.where.port}`;
      if (this.#hasVisited) await this.#readsItsProfile(page, site, path);
      this.#hasVisited = true;
      await page.goto(site + path, { waitUntil: "load" });
      const said = await page.evaluate(script);
      await this.#running.listener.work.idle();
      return said;
    } finally {
      await context.close();
    }
  }

  /**
   * Resolves once the browser offers what it has kept of a page. It reads that from its profile when it first asks a site, and
   * may ask as if it had nothing until then.
   */
  async #readsItsProfile(page: Page, site: string, path: string): Promise<void> {
    const blank = `${site}/blank`; // of this site, and no answer of the edge
    await page.route(blank, (route) => route.fulfill({ contentType: "text/html", body: "" }));
    await page.goto(blank);
    await until(async () => {
      await page.evaluate((asked) => fetch(asked, { method: "HEAD", cache: "no-store" }).then(() => null), path);
      return this.#offered.at(-1) !== null;
    });
  }

  async stop(): Promise<void> {
    await this.#running.stop();
    await rm(this.#profile, { recursive: true, force: true });
  }
}
