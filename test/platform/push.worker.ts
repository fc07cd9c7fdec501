/** The edge as it is deployed, for the site in the variable `SITE`, with a log that has been at work for a minute. */
import { env } from "cloudflare:workers";
import { createEdge, PurgeLog as DeployedLog, type SiteInput } from "tidemark/worker";

export class PurgeLog extends DeployedLog {
  #startedAt: number | undefined;

  protected override now(): number {
    const now = Date.now();
    if (this.#startedAt !== undefined) return now;
    this.#startedAt = now - 60_000;
    return this.#startedAt;
  }
}

export default createEdge((env as unknown as { readonly SITE: SiteInput }).SITE);
