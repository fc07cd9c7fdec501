/** The Cache API tier behind HTTP, for the contract suite: `POST /put` and `GET /get?key=…`, entries as JSON with hex bodies. */
import { CacheApiTier } from "../../worker/edge/cache-api-tier.ts";
import type { StoredHead } from "../../worker/rules/stored-response.ts";

export default {
  async fetch(request) {
    const tier = new CacheApiTier(caches.default);
    const url = new URL(request.url);
    if (url.pathname === "/put") {
      const { head, hex } = (await request.json()) as { head: StoredHead; hex: string };
      await tier.put({ head, body: Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) });
      return new Response(null, { status: 204 });
    }
    if (url.pathname === "/corrupt") {
      // What a truncated put leaves behind: the platform keeps it as if it were whole.
      const entry = await caches.default.match(url.searchParams.get("entry")!);
      const fields = new Headers(entry!.headers);
      if (url.searchParams.get("how") === "version") {
        fields.set("tidemark-stored", fields.get("tidemark-stored")!.replace('"version":1', '"version":0'));
      }
      const body = await entry!.arrayBuffer();
      const kept = url.searchParams.get("how") === "truncate" ? body.slice(0, body.byteLength - 1) : body;
      await caches.default.put(url.searchParams.get("entry")!, new Response(kept, { headers: fields }));
      return new Response(null, { status: 204 });
    }
    const stored = await tier.get(url.searchParams.get("key")!);
    if (!stored) return Response.json(null);
    const hex = Array.from(stored.body, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return Response.json({ head: stored.head, hex });
  },
} satisfies ExportedHandler;
