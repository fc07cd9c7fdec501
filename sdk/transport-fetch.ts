import type { Fetch, Transport } from "./transport.ts";

/** The way to the edge over somebody else's `fetch`, whose connections are not ours to free. */
export function openFetch(fetch: Fetch): Transport {
  return {
    // Not the function itself: called as a method, the global fetch of some platforms throws.
    fetch: (url, init) => fetch(url, init),
    close: async () => {},
  };
}
