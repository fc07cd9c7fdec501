/** The cache worker that people write by hand: match, or else fetch and put. */
interface Variables {
  readonly ORIGIN: string;
}

export default {
  async fetch(request, env, context) {
    const cached = await caches.default.match(request);
    if (cached) return cached;
    const { pathname, search } = new URL(request.url);
    const response = await fetch(env.ORIGIN + pathname + search, { headers: request.headers });
    context.waitUntil(caches.default.put(request, response.clone()));
    return response;
  },
} satisfies ExportedHandler<Variables>;
