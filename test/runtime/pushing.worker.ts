/**
 * The edge as it is deployed, for the site in the variable `SITE`, with a log that was made days ago. `/_connected` tells who keeps connections to the log itself.
 */
import { env } from "cloudflare:workers";
import { createEdge, type EdgeEnv, type SiteInput } from "tidemark/worker";
import { OldPurgeLog } from "./old-purge-log.worker.ts";

export class PurgeLog extends OldPurgeLog {
  readonly #names: string[] = [];

  override openConnection(...opened: Parameters<OldPurgeLog["openConnection"]>) {
    this.#names.push(opened[0].name);
    return super.openConnection(...opened);
  }

  names(): readonly string[] {
    return this.#names;
  }
}

const settings = env as unknown as { readonly SITE: SiteInput; readonly PURGE_LOG: DurableObjectNamespace<PurgeLog> };
const edge = createEdge(settings.SITE);
const log = () => settings.PURGE_LOG.get(settings.PURGE_LOG.idFromName("tidemark"));

export default {
  async fetch(request, bindings, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/_connected") return Response.json(await log().names());
    return edge.fetch!(request, bindings, context);
  },
} satisfies ExportedHandler<EdgeEnv>;
