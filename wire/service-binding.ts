/** How a wrangler config names the worker that a site has instead of an origin. */
export function addService(binding: string): string {
  return `add [[services]] with binding = ${JSON.stringify(binding)} and service = "the name of that worker" to the wrangler config`;
}
