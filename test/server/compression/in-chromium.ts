import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
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
  readonly sent: SentAnswer[];

  private constructor(running: Awaited<ReturnType<typeof startTestListener>>, profile: string, sent: SentAnswer[]) {
    this.#running = running;
    this.#profile = profile;
    this.sent = sent;
  }

  static async of(edge: CompressingIsolate): Promise<ReturningVisitor> {
    const sent: SentAnswer[] = [];
    const running = await startTestListener(async (incoming) => {
      const answer = await edge.fetch(incoming);
      if ("fields" in answer) {
        const bytes = answer.body instanceof Uint8Array ? answer.body.byteLength : 0;
        sent.push({ path: new URL(incoming.url).pathname, coding: answer.fields.get("content-encoding"), bytes });
      }
      return answer;
    });
    return new ReturningVisitor(running, await mkdtemp(join(TEMPORARY_ROOT, "tidemark-profile-")), sent);
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
      await page.goto(`http://localhost:${this.#running.where.port}${path}`, { waitUntil: "load" });
      const said = await page.evaluate(script);
      await this.#running.listener.work.idle();
      return said;
    } finally {
      await context.close();
    }
  }

  async stop(): Promise<void> {
    await this.#running.stop();
    await rm(this.#profile, { recursive: true, force: true });
  }
}
