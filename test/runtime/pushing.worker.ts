/**
 * The edge as it is deployed, for the site in the variable `SITE` and visitors in Europe, with a log that was made days
 * ago. `/_connected` tells who keeps connections to the log itself.
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
const objectOf = (name: string) => settings.PURGE_LOG.get(settings.PURGE_LOG.idFromName(name));

export default {
  async fetch(request, bindings, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/_connected") return Response.json(await objectOf("tidemark").names());
    const inEurope = new Request(request, { cf: { continent: "EU" } } as RequestInit);
    return edge.fetch!(inEurope as Parameters<NonNullable<typeof edge.fetch>>[0], bindings, context);
  },
} satisfies ExportedHandler<EdgeEnv>;
