/** A backend that is itself a worker: it purges through the SDK's entry for workers, and tags its own answer. */
import { createPurger, tagResponse } from "../../../sdk/index.web.ts";

export default {
  async fetch(_request, env) {
    const purger = createPurger({ endpoint: env.ENDPOINT, token: env.TOKEN });
    const receipt = await purger.purgeTags("song:42");
    return tagResponse(Response.json({ seq: receipt.seq }), ["songs"]);
  },
} satisfies ExportedHandler<{ ENDPOINT: string; TOKEN: string }>;
