/**
 * The constant responder, after it has read the parts of a request that a shared cache must know before it may answer
 * from memory.
 */
import constant from "./constant.worker.ts";

const FIELDS = [
  "authorization",
  "cookie",
  "cache-control",
  "pragma",
  "range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "accept-encoding",
];

export default {
  fetch(request) {
    const read = [request.method, request.url, request.cf?.colo, ...FIELDS.map((name) => request.headers.get(name))];
    if (read.length === 0) return new Response(null);
    return constant.fetch();
  },
} satisfies ExportedHandler;
