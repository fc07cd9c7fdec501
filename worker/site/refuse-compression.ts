import { SiteError } from "./site-error.ts";
import type { SiteInput } from "./site-input.ts";

/** Throws `SiteError` for a setting that Workers do not obey. */
export function refuseCompression({ compression }: SiteInput): void {
  const message = "is for tidemark serve alone: Workers compress by themselves, so leave it out here";
  if (compression) throw new SiteError([{ path: "compression", message }]);
}
