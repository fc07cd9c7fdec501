import { SIMULATED_REGIONS_PATH, type SimulatedRegion, simulatedRegionsSchema } from "#tidemark/internal";
import type { SiteDocument } from "../pages/find-pages.ts";
import { CrawlError } from "../requests/crawl-error.ts";

/** A place from which a site is requested. */
export interface Viewpoint {
  /** `null` for this machine. */
  readonly region: string | null;
  readonly city: string | null;
  /** The edge that answers there, as an origin. */
  readonly edge: string;
  /** Simulated milliseconds between a visitor there and the edge, which are added to the measured ones. */
  readonly clientMs: number;
  /** The same between the edge there and the origin. The edge's answers already include them. */
  readonly originMs: number;
}

/** From this machine, without simulated latency. */
export function thisMachine(edge: URL): Viewpoint {
  return { region: null, city: null, edge: edge.origin, clientMs: 0, originMs: 0 };
}

const MAX_ANSWER_BYTES = 64 * 1024;

/** The regions that the edge simulates, by their names. Throws a `CrawlError` if it does not simulate each of them. */
export async function simulatedViewpoints(
  names: readonly string[],
  edge: URL,
  get: (url: URL, maxBytes: number) => Promise<SiteDocument>,
): Promise<readonly Viewpoint[]> {
  const document = await get(new URL(SIMULATED_REGIONS_PATH, edge), MAX_ANSWER_BYTES);
  if ("failure" in document) {
    throw new CrawlError("unreachable", `the request to the edge at ${edge.origin} failed: ${document.failure}.`);
  }
  const regions = document.status === 200 ? regionsIn(document.body) : null;
  if (regions === null) {
    throw new CrawlError(
      "usage",
      `--from is for regions that tidemark dev simulates, but ${edge.origin} is another edge, which can be measured only from this ` +
        "machine. Leave --from out, or run the command where the visitors are.",
    );
  }
  const start = `tidemark dev --regions ${names.join(",")} starts them`;
  if (regions.length === 0) throw new CrawlError("usage", `the edge at ${edge.origin} simulates no regions: ${start}.`);
  return names.map((name) => {
    const found = regions.find(({ region }) => region === name);
    if (found === undefined) {
      const those = regions.map(({ region }) => region).join(", ");
      throw new CrawlError("usage", `the edge at ${edge.origin} has no region ${name}, only ${those}. ${start}.`);
    }
    const { region, city, port, clientMs, originMs } = found;
    return { region, city, edge: `${edge.protocol}//${edge.hostname}:${port}`, clientMs, originMs };
  });
}

function regionsIn(body: Buffer | null): readonly SimulatedRegion[] | null {
  try {
    const parsed = simulatedRegionsSchema.safeParse(JSON.parse(body?.toString() ?? ""));
    return parsed.success ? parsed.data.regions : null;
  } catch {
    return null; // It is not JSON, so another program answers there.
  }
}
