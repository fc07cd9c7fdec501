/** What the origin says of its pages of one kind. */
export interface PageKind {
  /** How many there are: `/news/0`, `/news/1`, …; the first ones are asked for most. */
  readonly pages: number;
  readonly cacheControl: string;
  readonly freshMs: number;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
  /** Whether an answer is for one visitor, for everybody, or the origin does not say. */
  readonly audience: "one" | "all" | "unsaid";
  readonly bytes: number;
  /** The time between two changes of a page. */
  readonly changesEveryMs: number;
  readonly status: number;
  /** Whether it is another page in each language. */
  readonly hasLanguages: boolean;
  /** The share of its answers that are errors. */
  readonly failing: number;
  /** Of 100 requests. */
  readonly weight: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const PAGE: PageKind = {
  pages: 1,
  cacheControl: "no-store",
  freshMs: 0,
  staleWhileRevalidateMs: 0,
  staleIfErrorMs: 0,
  audience: "all",
  bytes: 3_000,
  changesEveryMs: DAY,
  status: 200,
  hasLanguages: false,
  failing: 0,
  weight: 0,
};

/** A page that may be kept for so long, by the words of the origin. */
function kept(freshMs: number, revalidateMs: number, errorMs: number, more: Partial<PageKind>): PageKind {
  const words = [
    `public, max-age=${freshMs / SECOND}`,
    ...(revalidateMs > 0 ? [`stale-while-revalidate=${revalidateMs / SECOND}`] : []),
    ...(errorMs > 0 ? [`stale-if-error=${errorMs / SECOND}`] : []),
  ];
  const times = { freshMs, staleWhileRevalidateMs: revalidateMs, staleIfErrorMs: errorMs };
  return { ...PAGE, cacheControl: words.join(", "), ...times, ...more };
}

export const KINDS: Readonly<Record<string, PageKind>> = {
  home: kept(10 * SECOND, 30 * SECOND, 10 * MINUTE, { changesEveryMs: MINUTE, hasLanguages: true, weight: 12 }),
  news: kept(20 * SECOND, MINUTE, 10 * MINUTE, { pages: 40, changesEveryMs: 90 * SECOND, weight: 24 }),
  article: kept(HOUR, 5 * MINUTE, 2 * HOUR, { pages: 2000, changesEveryMs: 4 * HOUR, bytes: 8_000, weight: 24 }),
  asset: kept(DAY, 0, 0, { pages: 500, bytes: 30_000, weight: 12 }),
  large: kept(6 * HOUR, 0, 0, { pages: 6, bytes: 1_500_000, changesEveryMs: 8 * HOUR, weight: 0.8 }),
  search: kept(MINUTE, 0, 0, { pages: Number.POSITIVE_INFINITY, bytes: 2_000, weight: 8 }),
  shop: kept(5 * MINUTE, MINUTE, HOUR, { pages: 100, changesEveryMs: 20 * MINUTE, weight: 6 }),
  missing: kept(15 * SECOND, 0, 0, { pages: 30, status: 404, bytes: 200, weight: 2 }),
  flaky: kept(30 * SECOND, 0, 5 * MINUTE, { pages: 20, changesEveryMs: MINUTE, failing: 0.2, weight: 3 }),
  account: { ...PAGE, pages: 50, cacheControl: "private, max-age=60", audience: "one", weight: 4 },
  careless: { ...PAGE, pages: 50, cacheControl: "max-age=60", freshMs: MINUTE, audience: "unsaid", weight: 3 },
  // Asked for by those alone who look what becomes of it.
  watched: kept(DAY, 0, 0, { pages: 0, bytes: 9_000 }),
  never: { ...PAGE, pages: 20, audience: "one", weight: 2 },
};

export function kindOf(target: string): PageKind | undefined {
  return KINDS[target.split("/", 2)[1]!];
}

/** By how much purges find a page. */
export function tagsOf(target: string): string[] {
  const [, kind, number] = target.split("/");
  return [kind!, `${kind}-${Number(number) % 10}`];
}
