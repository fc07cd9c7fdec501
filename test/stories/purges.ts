import type { Page, Purged } from "../simulation/history.ts";
import type { Dice } from "./dice.ts";
import type { Pages } from "./pages.ts";

/** The items of a purge, and the pages that they cover. */
export interface PurgePlan {
  readonly body: Readonly<Record<string, unknown>>;
  readonly mode: "hard" | "soft";
  readonly matches: Purged["matches"];
}

/** A purge whose caller has its receipt. */
export interface Receipt {
  readonly purged: Purged;
  readonly token: string;
  isReread: boolean;
}

/** Any kind of purge of one story's pages, and of no other story's. */
export function anyPurge(dice: Dice, { paths, tags }: Pages, host: string, story: string): PurgePlan {
  const [first, second, third] = paths as [string, string, string];
  const isOf = (path: string) => (page: Page) => page.target === path;
  const isBelow = (prefix: string) => (page: Page) => page.target.startsWith(`${prefix}/`);
  const [named, matches] = dice.pick<readonly [object, Purged["matches"]]>([
    [{ urls: [first] }, isOf(first)],
    [{ urls: [first] }, isOf(first)],
    [{ urls: [`https://${host}${second}`] }, isOf(second)],
    ...tags.map((tag) => [{ tags: [tag] }, (page: Page) => page.tags.includes(tag)] as const),
    [{ tags: [`plog:${story}`] }, isOf(third)],
    [{ prefixes: [`/${story}/shop`] }, isBelow(`/${story}/shop`)],
    [{ prefixes: [`${host}/${story}`] }, isBelow(`/${story}`)],
    [{ hosts: [host] }, () => true],
    [{ tags: [`${story}-unrelated`] }, () => false],
  ]);
  const mode = dice.isBelow(0.4) ? "soft" : "hard";
  return { body: { ...named, mode }, mode, matches };
}
