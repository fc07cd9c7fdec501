/** The Cache API's notes behind HTTP, for the contract suite: `POST` and `GET /<subject>/<name>`. */
import { CacheApiNotes } from "../../worker/runtime/cache-api-notes.ts";

export default {
  async fetch(request) {
    const [, of, name] = new URL(request.url).pathname.split("/") as [string, string, string];
    const notes = new CacheApiNotes(caches.default, "www.example.test", of);
    if (request.method === "POST") {
      await notes.write(name, new Uint8Array(await request.arrayBuffer()));
      return new Response(null, { status: 204 });
    }
    const note = await notes.read(name);
    return note ? new Response(note) : new Response(null, { status: 404 });
  },
} satisfies ExportedHandler;
