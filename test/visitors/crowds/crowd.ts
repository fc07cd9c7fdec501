import fc from "fast-check";
import type { Reply, SeenRequest } from "../../../local/cdn/scripted-origin.ts";
import { startMemoryEngine } from "../../engine/memory/memory-engine.ts";
import type { SiteChange } from "../../engine/scenario.ts";

/** A page of an honest origin: it names each field that it reads in `Vary`. */
interface CrowdPage {
  readonly reads: readonly string[];
  readonly cacheControl: string;
  /** Whether it has a date, which is one for all its variants, and confirms what has that date. */
  readonly isDated: boolean;
}

interface CrowdVisit {
  readonly page: number;
  readonly isolate: number;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Visitors in waves, those of a wave at once, on the pages of one folder. Before, three other pages have shown that X-Shop
 * chooses nothing there.
 */
export interface Crowd {
  /** Decides the order of events. */
  readonly order: number;
  readonly isolates: readonly string[];
  readonly pages: readonly CrowdPage[];
  readonly waves: readonly { readonly visits: readonly CrowdVisit[]; readonly thenMs: number }[];
}

const PAGES = 5;
const PLAIN_PAGES: readonly CrowdPage[] = Array.from({ length: 3 }, () => ({
  reads: [],
  cacheControl: "max-age=60",
  isDated: false,
}));
/** Isolates wait for each other's reads of the log, but not for long. */
const LONGEST_WAIT_MS = 5_000;

const page: fc.Arbitrary<CrowdPage> = fc.record({
  isDated: fc.boolean(),
  // Most pages read nothing, so that fields are found to choose nothing in this folder.
  reads: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 2,
      arbitrary: fc.uniqueArray(fc.constantFrom("x-shop", "x-shop", "x-app", "accept-language", "cookie"), {
        minLength: 1,
        maxLength: 2,
      }),
    },
  ),
  cacheControl: fc.constantFrom(
    "max-age=60",
    "max-age=60",
    "max-age=1, stale-while-revalidate=60",
    "no-cache",
    "private",
  ),
});

const fields = fc.record(
  {
    "x-shop": fc.constantFrom("1", "2"),
    "x-app": fc.constantFrom("1", "2"),
    "accept-language": fc.constantFrom("de", "en"),
    cookie: fc.constantFrom("session=1", "session=2"),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** Few fields at a time, because those of whom the edge knows nothing keep an answer from being stored. */
const fewFields = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.constantFrom("1", "2").map((shop) => ({ "x-shop": shop })) },
  { weight: 1, arbitrary: fields },
);

const visit = fc.record({
  page: fc.nat(PAGES - 1),
  isolate: fc.nat(1),
  fields: fewFields,
});

export const crowd: fc.Arbitrary<Crowd> = fc.record({
  order: fc.nat(),
  isolates: fc.constantFrom(["a"], ["a"], ["a", "b"]),
  pages: fc.array(page, { minLength: PAGES, maxLength: PAGES }),
  waves: fc.array(
    fc.record({
      visits: fc.array(visit, { minLength: 1, maxLength: 4 }),
      thenMs: fc.constantFrom(0, 10, 2_000),
    }),
    { minLength: 4, maxLength: 8 },
  ),
});

function bodyFor({ reads }: CrowdPage, target: string, fields: Readonly<Record<string, unknown>>): string {
  return [target, ...reads.map((name) => `${name}=${fields[name] ?? ""}`)].join(" ");
}

function answering(pages: readonly CrowdPage[]): (request: SeenRequest) => Reply {
  return ({ target, fields }) => {
    const page = pages[Number(target.slice(1))]!;
    const { reads } = page;
    // An answer for one visitor is not called one for all.
    const cacheControl = reads.includes("cookie") ? "private" : page.cacheControl;
    const answer = {
      "cache-control": cacheControl,
      ...(reads.length > 0 && { vary: reads.join(", ") }),
      ...(page.isDated && { "last-modified": "Thu, 01 Jan 2026 11:00:00 GMT" }),
    };
    if (page.isDated && fields["if-modified-since"]) return { status: 304, fields: answer };
    return { fields: answer, body: bodyFor(page, target, fields) };
  };
}

/** Each answer beside the one that the origin gives to this visitor. */
export async function answersTo(
  { order, isolates, pages, waves }: Crowd,
  start: typeof startMemoryEngine = startMemoryEngine,
  site: SiteChange = {},
): Promise<{ got: string[]; due: string[] }> {
  const engine = start(site, order);
  const all = [...pages, ...PLAIN_PAGES];
  engine.answerBy!(answering(all));
  const [got, due]: string[][] = [[], []];
  const wave = (page: number) => ({ visits: [{ page, isolate: 0, fields: { "x-shop": "1" } }], thenMs: 10 });
  for (const { visits, thenMs } of [...PLAIN_PAGES.map((_, at) => wave(pages.length + at)), ...waves]) {
    const sent = visits.map(({ page, isolate, fields }) =>
      engine.send({ path: `/${page}`, fields, isolate: isolates[isolate % isolates.length]! }),
    );
    let areAnswered = false;
    const answers = Promise.all(sent).finally(() => {
      areAnswered = true;
    });
    for (let ms = 0; ms < LONGEST_WAIT_MS && !areAnswered; ms += 10) await engine.advance(10);
    got!.push(...(await engine.settle(answers)).map(({ body }) => body));
    due!.push(...visits.map(({ page, fields }) => bodyFor(all[page]!, `/${page}`, fields)));
    await engine.advance(thenMs);
  }
  await engine.stop();
  return { got: got!, due: due! };
}
