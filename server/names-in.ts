import { readdirSync } from "node:fs";

/** The names in a folder; none of one that is not there, or that this user may not read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
