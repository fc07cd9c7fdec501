/**
 * The simulated edge for many scenarios, one after the other in one runtime. Each begins with an edge of its own, which
 * shares no memory with the last one, and with a purge log of its own.
 */
import type { EdgeEnv } from "tidemark/worker";
import { HARNESS_PATH } from "../../../local/runtime/harness-protocol.ts";
import { createEdge, withHarness } from "../../../local/runtime/simulation.worker.ts";
import { ADDRESS_FIELD, type Beginning, CLIENT_ADDRESS, COUNTRY_FIELD, type Found } from "../beginning.ts";

export { PurgeLog } from "../../../local/runtime/simulation.worker.ts";

let edge: ExportedHandler<EdgeEnv> | undefined;
let log = "";

const edgeWithHarness = withHarness(() => {
  if (!edge) throw new Error("no scenario has begun");
  return edge;
});

export default {
  async fetch(request, env, context) {
    const url = new URL(request.url);
    const ask = (asked: typeof request) =>
      edgeWithHarness.fetch!(fromPlatform(asked), { ...env, PURGE_LOG: ofScenario(env.PURGE_LOG) }, context);
    if (url.pathname !== "/_scenario") return ask(request);
    const beginning = (await request.json()) as Beginning;
    if (beginning.site) edge = createEdge(beginning.site);
    log = beginning.log;
    const { headers } = request;
    const get = async (path: string) =>
      (await ask(new Request(new URL(path, url), { headers }) as typeof request)).json();
    await get(`${HARNESS_PATH}?now=${beginning.now}`);
    const purges = await get("/_tidemark/purges");
    const stats = (await get("/_tidemark/stats?scope=isolate")) as Found["stats"];
    return Response.json({ purges, stats } satisfies Found);
  },
} satisfies ExportedHandler<EdgeEnv>;

/** Cloudflare tells the country and the address beside the request; here the client does. */
function fromPlatform(request: Parameters<NonNullable<typeof edgeWithHarness.fetch>>[0]): typeof request {
  const country = request.headers.get(COUNTRY_FIELD);
  const address = request.headers.get(ADDRESS_FIELD);
  if (country === null && address === null) return request;
  const headers = new Headers(request.headers);
  headers.delete(COUNTRY_FIELD);
  headers.delete(ADDRESS_FIELD);
  headers.set("cf-connecting-ip", address ?? CLIENT_ADDRESS);
  const told = new Request(request, { headers });
  Object.defineProperty(told, "cf", { value: country === null ? {} : { country } });
  return told as typeof request;
}

function ofScenario(logs: EdgeEnv["PURGE_LOG"]): EdgeEnv["PURGE_LOG"] {
  const named = { idFromName: () => logs.idFromName(log), get: (id: DurableObjectId) => logs.get(id) };
  return named as unknown as EdgeEnv["PURGE_LOG"];
}
