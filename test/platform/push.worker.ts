/** The edge as it is deployed, for the site in the variable `SITE`, with a log that was made days ago. */
import { env } from "cloudflare:workers";
import { createEdge, PurgeLog as DeployedLog, type SiteInput } from "tidemark/worker";

const DAYS_MS = 3 * 24 * 3600 * 1000;

export class PurgeLog extends DeployedLog {
  #isAtWork = false;

  constructor(state: DurableObjectState, bindings: never) {
    super(state, bindings);
    this.read(null, 0, 0, undefined, "the first");
    this.#isAtWork = true;
  }

  protected override now(): number {
    return Date.now() - (this.#isAtWork ? 0 : DAYS_MS);
  }
}

export default createEdge((env as unknown as { readonly SITE: SiteInput }).SITE);
