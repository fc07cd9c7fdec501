import type { SiteCounts, SiteStats, TopUrlStats } from "../wire/stats.ts";
import { counted, memorySize, percent, size, whole } from "../wire/text/numbers.ts";
import { errorsIn, memoryLines, notStored, summaryText, weightText, wholeMemory } from "../wire/text/stats-text.ts";
import { verdictsOf, verdictText } from "../wire/verdicts/verdicts.ts";
import { read } from "./api.ts";
import { type Chart, chart, stackedBar } from "./charts.ts";
import { byId, type Child, choices, fill, h, named, say, table } from "./elements.ts";
import { machineParts } from "./machine.ts";
import { overviewCharts, spanCount } from "./overview-charts.ts";
import { readAgain } from "./pages.ts";
import { OUTCOMES, REASONS, share, time, timeOf } from "./words.ts";

const LAST = { "1h": "Last hour", "24h": "Last 24 h", "5d": "Last 5 days", "90d": "Last 90 days" } as const;

/** The lists of URLs, and what each one counts. */
const KINDS = {
  missed: { words: "Most misses", column: "Misses ", format: whole },
  bytes: { words: "Most bytes", column: "From the origin ", format: size },
  slowest: { words: "Slowest origin", column: "Waited ", format: time },
  notStored: { words: "Not stored", column: "Times ", format: whole },
} as const;

/** Rows of a list of URLs, before all are shown. */
const FIRST_URLS = 10;

interface Overview {
  readonly last: keyof typeof LAST;
  /** `null` for the whole site. */
  readonly pop: string | null;
  readonly kind: keyof typeof KINDS;
  readonly allUrls: boolean;
  readonly stats: SiteStats | null;
  /** The PoPs of the whole site: stats of one PoP name no others. */
  readonly pops: SiteStats["pops"];
  readonly charts: readonly Chart[];
}

let overview: Overview = {
  last: "24h",
  pop: null,
  kind: "missed",
  allUrls: false,
  stats: null,
  pops: {},
  charts: [],
};

/** Whether the request has been changed since its last answer: the next one is announced to users of screen readers. */
let isChosen = false;

export function startOverview(): void {
  choices("last", LAST, overview.last, (last) => ask({ last: last as keyof typeof LAST }));
  const kinds = Object.fromEntries(Object.entries(KINDS).map(([name, { words }]) => [name, words]));
  choices("kind", kinds, overview.kind, (kind) => change({ kind: kind as keyof typeof KINDS, allUrls: false }));
  byId("all-pops").addEventListener("click", () => {
    byId("pops").querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
    ask({ pop: null });
  });
  const cursor = byId<HTMLInputElement>("cursor");
  cursor.addEventListener("input", () => showSpan(Number(cursor.value)));
  cursor.addEventListener("blur", () => showSpan(null));
}

/** Requests the stats and shows them. */
export async function refreshOverview(): Promise<void> {
  const { last, pop } = overview;
  const ofSite = read<SiteStats>(`stats?last=${last}`);
  const ofPop = pop === null ? ofSite : read<SiteStats>(`stats?last=${last}&pop=${encodeURIComponent(pop)}`);
  const [{ pops }, stats] = await Promise.all([ofSite, ofPop]);
  change({ stats, pops, charts: overviewCharts(stats, showSpan) });
  if (isChosen) say(byId("sentence").textContent ?? "");
  isChosen = false;
}

/** Changes the request. */
function ask(question: Partial<Pick<Overview, "last" | "pop">>): void {
  isChosen = true;
  change(question);
  readAgain();
}

/** Redraws the parts that show the changes. */
function change(changes: Partial<Overview>): void {
  overview = { ...overview, ...changes };
  if (overview.stats === null) return;
  if (changes.stats) render(overview, overview.stats);
  if (changes.stats || changes.kind || changes.allUrls) fill("top", ...urls(overview, overview.stats));
}

function render({ last, pop, pops, charts }: Overview, now: SiteStats): void {
  byId("all-pops").hidden = pop === null;
  fill("sentence", ...sentence(summaryText(now, last)));
  fill("heard", heard(now.isolates));
  byId("numbers").hidden = now.requests === 0 && pop === null;
  byId("charts").replaceChildren(...charts.map(({ figure }) => figure));
  renderCursor(now);
  fill("advice", ...advice(now));
  fill("answers", ...answers(now));
  fill("refused", ...refused(now));
  fill("pops", ...popTiles(pops, pop));
  fill("memory", ...memory(now));
  fill("routes", routes(now));
  fill("machine", ...machineParts(now));
}

/** The cursor stays at the latest span, or where the user moved it. */
function renderCursor(now: SiteStats): void {
  const cursor = byId<HTMLInputElement>("cursor");
  const count = spanCount(now);
  const wasAtEnd = cursor.max === cursor.value || cursor.max === "";
  cursor.max = String(count - 1);
  if (wasAtEnd) cursor.value = cursor.max;
  byId("scrub").hidden = count === 1;
  showSpan(document.activeElement === cursor ? Number(cursor.value) : null);
}

/** Shows one span in all charts, or the whole time. */
function showSpan(index: number | null): void {
  const { stats, charts, last } = overview;
  if (stats === null) return;
  const words = charts.map(
    ({ figure, show: showAt }) => `${figure.querySelector("strong")!.textContent}: ${showAt(index)}`,
  );
  const at = index === null ? LAST[last] : timeOf(Date.parse(stats.from) + index * stats.spanMs, stats.spanMs);
  byId("at").textContent = index === null ? "Move along the time axis to read values." : at;
  byId("cursor").setAttribute("aria-valuetext", `${at}. ${words.join(". ")}`);
}

/** The stats in sentences, with the numbers behind the first colon in bold. */
function sentence(text: string): Child[] {
  const bold = /(?<=:.*)(\d(?:[\d,.]*\d)?(?: (?:%|ms|bytes|[kMGTP]B|requests?|times))?(?: from cache)?)/;
  return everyOther("b", text.split(bold));
}

/** The parts, of which every other one is in an element of this name. */
function everyOther(name: "b" | "code", parts: readonly string[]): Child[] {
  return parts.map((part, index) => (index % 2 === 1 ? h(name, part) : part));
}

/** The advised changes. The settings in the sentences are marked as code. */
function advice(now: SiteStats): Child[] {
  const verdicts = verdictsOf(now);
  if (verdicts.length === 0) return [];
  return [
    h("h2", "What to change"),
    h("ul", ...verdicts.map((verdict) => h("li", ...everyOther("code", verdictText(verdict).split("`"))))),
  ];
}

function heard({ reported, alive, silent, heardShare }: SiteStats["isolates"]): string {
  const quiet = silent === 0 ? "" : `, ${whole(silent)} stopped reporting`;
  return `${counted(reported, "isolate")} reported${quiet}; ${whole(alive)} alive. The reports cover ${percent(heardShare, "floor")} of their time.`;
}

function answers({ requests, answers: byOutcome, answeredByEdge, fromCache }: SiteStats): Child[] {
  if (requests === 0) return [nothing()];
  const own = Object.values(answeredByEdge).reduce((sum, each) => sum + each, 0);
  const { BYPASS = 0 } = byOutcome;
  const rows = Object.entries(OUTCOMES).flatMap(([name, words]) => {
    const count = byOutcome[name] ?? 0;
    return count === 0 ? [] : [[named(name, words), whole(count), share(count, requests)]];
  });
  if (own > 0) {
    rows.push([
      named("answered by the edge", Object.keys(answeredByEdge).join(", ")),
      whole(own),
      share(own, requests),
    ]);
  }
  return [
    stackedBar("stack", [
      ["c0", fromCache],
      ["c1", requests - fromCache - BYPASS - own],
      ["c3", BYPASS],
      ["c2", own],
    ]),
    h(
      "ul",
      { class: "keys" },
      h("li", { class: "key c0" }, "from cache"),
      h("li", { class: "key c1" }, "fetched"),
      h("li", { class: "key c3" }, "passed"),
      own > 0 && h("li", { class: "key c2" }, "the edge's own"),
    ),
    table("Answers by X-Cache", ["X-Cache", "Requests ", "Share "], rows),
  ];
}

function refused(now: SiteStats): Child[] {
  const rows = sorted(notStored(now)).map(([name, count]) => [named(name, REASONS[name] ?? ""), whole(count)]);
  const fields = listed(now.store.unkeyedFields);
  if (rows.length === 0) return [h("p", { class: "soft" }, "Nothing.")];
  return [
    table("Not stored, and why", ["Reason", "Answers "], rows),
    fields !== "" && h("p", { class: "soft" }, `Fields that are not in the key: ${fields}.`),
  ];
}

/** The share that memories of other sizes would hold. The sentence describes the curve. */
function memory(now: SiteStats): Child[] {
  const [words] = memoryLines(now);
  if (words === undefined) return [];
  const { uses, held, curve } = wholeMemory(now)!;
  const [smallest, largest] = [curve[0]!.bytes, curve.at(-1)!.bytes];
  const found = curve.map(({ hitRatio }) => hitRatio);
  const drawing = chart(
    {
      title: "Pages held, by the size of the memory",
      kind: "lines",
      format: (ratio = 0) => percent(ratio),
      ends: [memorySize(smallest), memorySize(largest)],
      top: 1,
      series: [
        { name: "of the stored pages that visitors request", color: "c0", values: found, total: share(held, uses) },
      ],
    },
    (index) => drawing.show(index),
  );
  return [h("h2", "Memory"), h("div", { class: "charts" }, drawing.figure, h("p", { class: "soft" }, words))];
}

function popTiles(pops: SiteStats["pops"], pop: string | null): Child[] {
  const byRequests = Object.entries(pops).sort(([, a], [, b]) => b.requests - a.requests);
  if (byRequests.length === 0) return [nothing()];
  const button = (name: string, { requests, fromCache, bytes, times }: SiteCounts) =>
    h(
      "button",
      {
        class: "tile",
        "aria-pressed": String(pop === name),
        "data-key": `pop ${name}`,
        click: () => ask({ pop: pop === name ? null : name }),
      },
      h("b", name),
      stackedBar("share", [
        ["c0", fromCache],
        ["c1", requests - fromCache],
      ]),
      h("span", `${share(fromCache, requests)} of ${whole(requests)}`),
      h("br"),
      h("span", `${size(bytes.fromCache)} · ${time(times.origin?.p50Ms)}`),
    );
  return [
    h("p", { class: "soft" }, "Share of requests from cache, bytes from cache, and the origin's median time."),
    h("ul", { class: "tiles" }, ...byRequests.map(([name, counts]) => h("li", button(name, counts)))),
  ];
}

function routes({ routes: byPattern, pop: of }: SiteStats): Child {
  if (of !== null) return forAll();
  const rows = Object.entries(byPattern)
    .sort(([, a], [, b]) => b.requests - a.requests)
    .map(([pattern, { requests, fromCache, statuses, bytes, times }]) => [
      h("code", pattern),
      whole(requests),
      share(fromCache, requests),
      time(times.shared?.p50Ms),
      time(times.origin?.p50Ms),
      size(bytes.fromOrigin),
      listed(errorsIn(statuses)),
    ]);
  if (rows.length === 0) return nothing();
  return table(
    "Routes",
    ["Route", "Requests ", "From cache ", "Cache ", "Origin ", "From the origin ", "Errors "],
    rows,
  );
}

function urls({ kind, allUrls }: Overview, { top, pop: of }: SiteStats): Child[] {
  if (of !== null) return [forAll()];
  const list = top?.[kind] ?? [];
  if (list.length === 0) return [nothing()];
  const { words, column, format } = KINDS[kind];
  const weight = (each: TopUrlStats) =>
    h("span", { title: each.error > 0 && `at least ${format(each.weight - each.error)}` }, weightText(each, format));
  const rows = list
    .slice(0, allUrls ? list.length : FIRST_URLS)
    .map((each) => [toExplain(each.url), weight(each), ...(kind === "notStored" ? [each.because] : [])]);
  return [
    table(words, ["URL, to explain", column, ...(kind === "notStored" ? ["Reason"] : [])], rows),
    list.length > rows.length && h("button", { class: "quiet", click: showAllUrls }, `All ${list.length}`),
  ];
}

function showAllUrls(): void {
  change({ allUrls: true });
  byId("top").querySelector<HTMLElement>(".scroll")?.focus();
}

/** A link that explains the URL. Of one that was cut, the rest is not known. */
function toExplain(url: string): Child {
  if (url.endsWith("…")) return h("code", url);
  return h("a", { class: "mono", href: `#explain?${url}`, "data-key": url }, url);
}

function sorted(counts: Readonly<Record<string, number>>): (readonly [string, number])[] {
  return Object.entries(counts).sort(([, a], [, b]) => b - a);
}

/** The most frequent first: `404 12, 502 3`. */
function listed(counts: Readonly<Record<string, number>>): string {
  return sorted(counts)
    .map(([name, count]) => `${name} ${whole(count)}`)
    .join(", ");
}

function nothing(): Child {
  return h("p", { class: "soft" }, "There are no reports for this time.");
}

function forAll(): Child {
  return h("p", { class: "soft" }, "Kept only for the whole site.");
}
