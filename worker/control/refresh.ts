import { REFRESH_FIELD } from "../../wire/fields.ts";
import type { PurgeReceiptBody } from "../../wire/purge-receipt.ts";

/** The pages fetched at once: the runtime allows six connections per request, and the log uses one. */
const CONCURRENT_FETCHES = 5;

type Refreshed = NonNullable<PurgeReceiptBody["refreshed"]>;

/** Fetches pages again through the corridor. A failed fetch does not affect the purge. */
export async function refreshUrls(
  urls: readonly string[],
  token: string,
  handle: (request: Request) => Promise<Response>,
): Promise<Refreshed> {
  const refreshed: Refreshed = [];
  const waiting = [...urls.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, url] = next;
      refreshed[index] = await refreshOne(url, token, handle);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_FETCHES }, work));
  return refreshed;
}

async function refreshOne(
  url: string,
  token: string,
  handle: (request: Request) => Promise<Response>,
): Promise<Refreshed[number]> {
  let response: Response;
  try {
    response = await handle(new Request(url, { headers: { [REFRESH_FIELD]: token } }));
  } catch {
    return { url, status: 502, error: "the edge failed on this page" };
  }
  const { status } = response;
  const xCache = response.headers.get("x-cache");
  if (xCache === null) return { url, status, error: (await response.text()).trim().replace(/^\d{3}: /, "") }; // an answer of the edge itself
  try {
    await response.body?.pipeTo(new WritableStream());
  } catch {
    return { url, status, error: "the origin's answer was cut off" };
  }
  return { url, status, xCache };
}
