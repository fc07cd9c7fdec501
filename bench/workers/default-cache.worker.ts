/** The cache worker that people write by hand: match, or else fetch and put. */
interface Variables {
  readonly ORIGIN: string;
  /** Whether it names its hits: an answer whose head the worker has made cannot be passed on by the runtime as it is. */
  readonly NAMES_HITS: boolean;
}

export default {
  async fetch(request, env, context) {
    const cached = await caches.default.match(request);
    if (cached) return env.NAMES_HITS ? named(cached) : cached;
    const { pathname, search } = new URL(request.url);
    const response = await fetch(env.ORIGIN + pathname + search, { headers: request.headers });
    context.waitUntil(caches.default.put(request, response.clone()));
    return response;
  },
} satisfies ExportedHandler<Variables>;

function named(cached: Response): Response {
  const answer = new Response(cached.body, cached);
  answer.headers.set("x-cache", "HIT");
  return answer;
}
