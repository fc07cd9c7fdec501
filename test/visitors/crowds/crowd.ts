import fc from "fast-check";
import type { Reply, SeenRequest } from "../../../local/cdn/scripted-origin.ts";
import { startMemoryEngine } from "../../engine/memory/memory-engine.ts";
import { type SiteChange, TOKEN } from "../../engine/scenario.ts";

/** A page of an honest origin: it names each field that it reads in `Vary`. */
interface CrowdPage {
  readonly reads: readonly string[];
  readonly cacheControl: string;
  /** Whether it has a date, which is one for all its variants, and confirms what has that date. */
  readonly isDated: boolean;
}

type VisitorFields = Readonly<Record<string, string>>;

interface CrowdVisit {
  readonly page: number;
  readonly isolate: number;
  readonly fields: VisitorFields;
  /** Whether it resumes the page from its first byte: then the part is the whole. */
  readonly isForPart: boolean;
}

/** An owner's settings, and what of a visitor the origin sees under them. */
interface CrowdSettings {
  readonly site: SiteChange;
  readonly seen: (fields: VisitorFields) => VisitorFields;
}

/**
 * Visitors in waves, those of a wave at once, on the pages of one folder. Before, three other pages have shown that X-Shop
 * chooses nothing there. Some waves begin with a restart under other settings.
 */
export interface Crowd {
  /** Decides the order of events. */
  readonly order: number;
  readonly isolates: readonly string[];
  readonly pages: readonly CrowdPage[];
  readonly settings: number;
  readonly waves: readonly {
    /** Which settings are deployed before it; `null` for none. */
    readonly deploys: number | null;
    readonly visits: readonly CrowdVisit[];
    readonly thenMs: number;
  }[];
}

const PAGES = 5;
const SETTINGS: readonly CrowdSettings[] = [
  { site: { fields: { drop: [] }, routes: [] }, seen: (fields) => fields },
  { site: { fields: { drop: ["x-app"] }, routes: [] }, seen: ({ "x-app": _, ...others }) => others },
  {
    site: { fields: { drop: [] }, routes: [{ match: "/*", key: { languages: ["en", "de"] } }] },
    seen: (fields) => ({ ...fields, "accept-language": fields["accept-language"] ?? "en" }),
  },
  {
    site: { fields: { drop: [] }, routes: [{ match: "/*", key: { cookies: { session: ["1"] } } }] },
    seen: ({ cookie, ...others }) => (cookie === "session=1" ? { ...others, cookie } : others),
  },
];
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
  isForPart: fc.constantFrom(false, false, true),
});

const settings = fc.nat(SETTINGS.length - 1);

export const crowd: fc.Arbitrary<Crowd> = fc.record({
  order: fc.nat(),
  isolates: fc.constantFrom(["a"], ["a"], ["a", "b"]),
  pages: fc.array(page, { minLength: PAGES, maxLength: PAGES }),
  settings: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: settings }),
  waves: fc.array(
    fc.record({
      deploys: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: settings }),
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
    const body = bodyFor(page, target, fields);
    if (fields.range === undefined) return { fields: answer, body };
    const whole = `bytes 0-${body.length - 1}/${body.length}`;
    return { status: 206, fields: { ...answer, "content-range": whole }, body };
  };
}

/** Each answer beside the one that the origin gives to this visitor. */
export async function answersTo(
  crowd: Crowd,
  start: typeof startMemoryEngine = startMemoryEngine,
): Promise<{ got: string[]; due: string[] }> {
  const { order, isolates, pages } = crowd;
  let { site, seen } = SETTINGS[crowd.settings]!;
  const engine = start(site, order);
  const all = [...pages, ...PLAIN_PAGES];
  engine.answerBy!(answering(all));
  const [got, due]: string[][] = [[], []];
  for (const { deploys, visits, thenMs } of [...PLAIN_WAVES, ...crowd.waves]) {
    if (deploys !== null) {
      ({ site, seen } = SETTINGS[deploys]!);
      await engine.finishWork();
      engine.beneath!.deploy(site);
      await engine.restartIsolate();
    }
    const sent = visits.map(({ page, isolate, fields, isForPart }) =>
      engine.send({
        path: `/${page}`,
        fields: { ...fields, ...(isForPart && { range: "bytes=0-9999" }) },
        isolate: isolates[isolate % isolates.length]!,
      }),
    );
    let areAnswered = false;
    const answers = Promise.all(sent).finally(() => {
      areAnswered = true;
    });
    for (let ms = 0; ms < LONGEST_WAIT_MS && !areAnswered; ms += 10) await engine.advance(10);
    got!.push(...(await engine.settle(answers)).map(({ body }) => body));
    due!.push(...visits.map(({ page, fields }) => bodyFor(all[page]!, `/${page}`, seen(fields))));
    await engine.advance(thenMs);
  }
  for (const isolate of isolates) {
    const asked = engine.send({
      path: "/_tidemark/stats?scope=isolate",
      isolate,
      fields: { authorization: `Bearer ${TOKEN}` },
    });
    got!.push(`${(JSON.parse((await engine.settle(asked)).body) as { failures: number }).failures} failures`);
    due!.push("0 failures");
  }
  await engine.stop();
  return { got: got!, due: due! };
}

/** They show that X-Shop chooses nothing on pages that read nothing. */
const PLAIN_WAVES: Crowd["waves"] = PLAIN_PAGES.map((_, at) => ({
  deploys: null,
  visits: [{ page: PAGES + at, isolate: 0, fields: { "x-shop": "1" }, isForPart: false }],
  thenMs: 10,
}));
