import fc from "fast-check";
import type { Reply, SeenRequest } from "../../../local/cdn/scripted-origin.ts";
import { startMemoryEngine } from "../../engine/memory/memory-engine.ts";
import type { SiteChange } from "../../engine/scenario.ts";

/** A page of an honest origin: it names each field that it reads in `Vary`. */
interface CrowdPage {
  readonly reads: readonly string[];
  readonly cacheControl: string;
}

interface CrowdVisit {
  readonly page: number;
  readonly isolate: number;
  readonly fields: Readonly<Record<string, string>>;
}

/** Visitors in waves, those of a wave at once, on the pages of one folder. */
export interface Crowd {
  /** Decides the order of events. */
  readonly order: number;
  readonly isolates: readonly string[];
  readonly pages: readonly CrowdPage[];
  readonly waves: readonly { readonly visits: readonly CrowdVisit[]; readonly thenMs: number }[];
}

const PAGES = 8;
/** Isolates wait for each other's reads of the log, but not for long. */
const LONGEST_WAIT_MS = 5_000;

const page: fc.Arbitrary<CrowdPage> = fc.record({
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
    { minLength: 8, maxLength: 16 },
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
    const vary = reads.length > 0 ? { vary: reads.join(", ") } : {};
    return { fields: { "cache-control": cacheControl, ...vary }, body: bodyFor(page, target, fields) };
  };
}

/** Each answer beside the one that the origin gives to this visitor. */
export async function answersTo(
  { order, isolates, pages, waves }: Crowd,
  start: typeof startMemoryEngine = startMemoryEngine,
  site: SiteChange = {},
): Promise<{ got: string[]; due: string[] }> {
  const engine = start(site, order);
  engine.answerBy!(answering(pages));
  const [got, due]: string[][] = [[], []];
  for (const { visits, thenMs } of waves) {
    const sent = visits.map(({ page, isolate, fields }) =>
      engine.send({ path: `/${page}`, fields, isolate: isolates[isolate % isolates.length]! }),
    );
    let areAnswered = false;
    const answers = Promise.all(sent).finally(() => {
      areAnswered = true;
    });
    for (let ms = 0; ms < LONGEST_WAIT_MS && !areAnswered; ms += 10) await engine.advance(10);
    got!.push(...(await engine.settle(answers)).map(({ body }) => body));
    due!.push(...visits.map(({ page, fields }) => bodyFor(pages[page]!, `/${page}`, fields)));
    await engine.advance(thenMs);
  }
  await engine.stop();
  return { got: got!, due: due! };
}
