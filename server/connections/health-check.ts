/** `?ready` as probes of readiness ask. */
const HEALTH = /^https?:\/\/[^/]*\/_tidemark\/health(?:\?ready)?$/;

/**
 * Whether a request asks if the server runs. It comes from a machine nearby that uses the server's address, without TLS,
 * and knows no host of a site.
 */
export function isHealthCheck(method: string, url: string): boolean {
  return (method === "GET" || method === "HEAD") && HEALTH.test(url);
}
