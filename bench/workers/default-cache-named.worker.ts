/**
 * The cache worker that people write by hand, once it names its hits: an answer whose head the worker has made cannot be
 * passed on by the runtime as it is.
 */
interface Variables {
  readonly ORIGIN: string;
}

export default {
  async fetch(request, env, context) {
    const cached = await caches.default.match(request);
    if (cached) {
      const answer = new Response(cached.body, cached);
      answer.headers.set("x-cache", "HIT");
      return answer;
    }
    const { pathname, search } = new URL(request.url);
    const response = await fetch(env.ORIGIN + pathname + search, { headers: request.headers });
    context.waitUntil(caches.default.put(request, response.clone()));
    return response;
  },
} satisfies ExportedHandler<Variables>;
