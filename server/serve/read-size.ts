import { sizeBytes } from "../../worker/site/units.ts";

/** Reads a size like `512MiB`, or a plain 0: bytes; `null` if it is none. */
export function readSize(text: string): number | null {
  const parsed = sizeBytes.safeParse(text === "0" ? 0 : text);
  return parsed.success ? parsed.data : null;
}
