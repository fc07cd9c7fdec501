/** The Cache API tier behind HTTP, for the contract suite: `POST /put` and `GET /get?key=…`, entries as JSON with hex bodies. */

import type { StreamedBody } from "../../worker/ports/bodies.ts";
import { changedHead, isMarker, type Stored, type StoredHead } from "../../worker/rules/storing/stored-response.ts";
import { CacheApiTier } from "../../worker/runtime/cache-api-tier.ts";
import { streamOf } from "../../worker/runtime/web-bodies.ts";

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export default {
  async fetch(request) {
    const tier = new CacheApiTier(caches.default);
    const url = new URL(request.url);
    if (url.pathname === "/put") {
      const put = (await request.json()) as Stored | { head: StoredHead; hex: string };
      await tier.put("hex" in put ? { head: put.head, body: bytesOf(put.hex) } : put);
      return new Response(null, { status: 204 });
    }
    if (url.pathname === "/delete") {
      await tier.delete(url.searchParams.get("key")!);
      return new Response(null, { status: 204 });
    }
    if (url.pathname === "/body") {
      const bodyKey = url.searchParams.get("key")!;
      if (request.method === "POST") {
        const pipe = new FixedLengthStream(Number(request.headers.get("content-length")));
        await Promise.all([request.body!.pipeTo(pipe.writable), tier.putBody(bodyKey, pipe.readable)]);
        return new Response(null, { status: 204 });
      }
      const [first, last] = (url.searchParams.get("part") ?? "").split("-").map(Number);
      const body = await tier.getBody(bodyKey, last === undefined ? null : { first: first!, last });
      return body ? new Response(streamOf(body)) : new Response(null, { status: 404 });
    }
    if (url.pathname === "/corrupt") {
      // The remainder of a truncated put: the platform stores it as if it were whole.
      const entry = await caches.default.match(url.searchParams.get("entry")!);
      const fields = new Headers(entry!.headers);
      if (url.searchParams.get("how") === "version") {
        fields.set("tidemark-stored", fields.get("tidemark-stored")!.replace(/^5~/, "2~"));
      }
      const body = await entry!.arrayBuffer();
      const kept = url.searchParams.get("how") === "truncate" ? body.slice(0, body.byteLength - 1) : body;
      await caches.default.put(url.searchParams.get("entry")!, new Response(kept, { headers: fields }));
      return new Response(null, { status: 204 });
    }
    const stored = await tier.get(url.searchParams.get("key")!);
    if (!stored) return Response.json(null);
    if (isMarker(stored)) return Response.json(stored);
    const bytes = new Uint8Array(
      await new Response(stored.body && streamOf(stored.body as StreamedBody)).arrayBuffer(),
    );
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return Response.json({ head: changedHead(stored.head, {}), hex });
  },
} satisfies ExportedHandler;
