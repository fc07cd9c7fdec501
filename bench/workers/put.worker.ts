/** Only a put into the Cache API, in one stream or in pieces: what the runtime itself costs, without the edge. */
interface Variables {
  readonly ORIGIN: string;
  readonly IN_PIECES: boolean;
}

const PIECE_BYTES = 64 * 1024;

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/small") return new Response(null);
    const { body, headers } = await fetch(env.ORIGIN + pathname);
    const put = (stream: ReadableStream) => caches.default.put(request.url, new Response(stream, { headers }));
    if (env.IN_PIECES) {
      const { readable, writable } = new FixedLengthStream(Number(headers.get("content-length")));
      await Promise.all([put(readable), copy(body!.getReader({ mode: "byob" }), writable.getWriter())]);
    } else {
      await put(body!);
    }
    return new Response(null, { headers: { "cache-status": "put" } });
  },
} satisfies ExportedHandler<Variables>;

async function copy(reader: ReadableStreamBYOBReader, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(PIECE_BYTES));
    if (done) break;
    await writer.write(value);
  }
  await writer.close();
}
