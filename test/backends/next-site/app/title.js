import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { unstable_cache } from "next/cache";

/** What the file of this name says, until its tag is revalidated. */
export function title(name) {
  const read = () => readFile(join(process.env.TITLES, name), "utf8");
  return unstable_cache(read, [name], { tags: [name] })();
}
