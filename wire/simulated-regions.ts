import * as z from "zod/mini";

/** The path at which an edge of `tidemark dev` lists its simulated regions. No deployed edge has this path. */
export const SIMULATED_REGIONS_PATH = "/_tidemark/dev/regions";

/** A region that `tidemark dev` simulates: an edge on its own port. */
export interface SimulatedRegion {
  readonly region: string;
  readonly city: string;
  readonly port: number;
  /** The simulated round trip between a visitor and the edge, which does not delay answers; 0 without `--latency`. */
  readonly clientMs: number;
  /** The simulated round trip between the edge and the origin, which delays the edge; 0 without `--latency`. */
  readonly originMs: number;
}

/** The answer at `SIMULATED_REGIONS_PATH`. */
export const simulatedRegionsSchema = z.object({
  regions: z.array(
    z.object({
      region: z.string(),
      city: z.string(),
      port: z.number(),
      clientMs: z.number(),
      originMs: z.number(),
    }),
  ),
});
