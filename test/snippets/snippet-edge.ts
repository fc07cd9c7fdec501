import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { BEGINNING, TOKEN } from "../engine/scenario.ts";

/** An edge on this machine that the programs of the pages purge, in front of a scripted origin. */
export class SnippetEdge implements AsyncDisposable {
  readonly origin: ScriptedOrigin;
  readonly #runtime: EdgeRuntime;
  readonly #tags = new Map<string, string>();

  private constructor(origin: ScriptedOrigin, runtime: EdgeRuntime) {
    this.origin = origin;
    this.#runtime = runtime;
  }

  static async start(): Promise<SnippetEdge> {
    const origin = new ScriptedOrigin(() => BEGINNING);
    await origin.comeUp();
    // The shortest lease, because a command that waits for a purge does so in real time.
    const SITE = { origin: origin.url, purge: { leaseMs: 100 } };
    const variables = { SITE, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
    const script = await bundleWorker("local/runtime/virtual-time.worker.ts");
    const edge = new SnippetEdge(origin, await startEdgeRuntime({ script, variables }, { port: 0 }));
    await fetch(`${edge.endpoint}/_virtual-time?now=${BEGINNING}`);
    return edge;
  }

  get endpoint(): string {
    return this.#runtime.url.origin;
  }

  /** The two settings of a backend, for a process of its own. */
  get settings(): Readonly<Record<string, string>> {
    return { TIDEMARK_ENDPOINT: this.endpoint, TIDEMARK_TOKEN: TOKEN, no_proxy: "*" };
  }

  /** Publishes a page with tags, which is stored from then on. */
  async publish(path: string, tags: string): Promise<void> {
    const isPublished = this.#tags.get(path) === tags;
    if (!isPublished) {
      this.#tags.set(path, tags);
      this.origin.reply(path, { fields: { "cache-control": "max-age=3600", "cache-tag": tags }, body: path });
    }
    const first = await this.xCache(path);
    if (isPublished && first === "HIT") return;
    const second = await this.xCache(path);
    if (second !== "HIT") throw new Error(`${path} is not stored: ${second}`);
  }

  /** Asks for a page, which is stored after that. */
  async xCache(path: string): Promise<string | null> {
    const response = await fetch(this.endpoint + path);
    await response.text();
    return response.headers.get("x-cache");
  }

  /** The purges in the audit trail, the newest first. */
  async purges(): Promise<readonly { readonly reason: string | null; readonly items: readonly string[] }[]> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${this.endpoint}/_tidemark/purges`, { headers });
    return ((await response.json()) as { purges: { reason: string | null; items: string[] }[] }).purges;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runtime.stop();
    await this.origin.goDown();
  }
}
