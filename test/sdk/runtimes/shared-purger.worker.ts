/** A backend that is itself a worker, with one purger for all of its requests. */
import { createPurger } from "../../../sdk/index.web.ts";

const purger = createPurger({ endpoint: "https://www.example.com", token: "a-token" });

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const purged = purger.purgeTags(pathname.slice(1));
    if (pathname !== "/abandoned") return Response.json(await purged);
    purged.catch(() => undefined);
    return new Response("not awaited");
  },
} satisfies ExportedHandler;
