import { Command } from "commander";
import CachePolicy from "http-cache-semantics";
import { NOON, storedHead } from "../../test/rules/storing/stored-head.ts";
import { judge, type Verdict } from "../../worker/rules/freshness/judge.ts";
import { NO_BYPASS } from "../../worker/rules/request/bypass.ts";
import { NO_CHOICES } from "../../worker/rules/request/choices.ts";
import { RequestFacts, type RequestHeaders } from "../../worker/rules/request/request-facts.ts";
import { type StorableVerdict, storable } from "../../worker/rules/storing/storable.ts";
import { type StoredHead, type StoredResponse, storedField } from "../../worker/rules/storing/stored-response.ts";
import { validationFields } from "../../worker/rules/validation/conditional-request.ts";
import { headText, readEnvelope, writeEnvelope } from "../../worker/store/envelope.ts";
import { positive } from "../options.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { type Machine, thisMachine } from "../report/machine.ts";
import { median } from "../report/median.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

const BODY = new ArrayBuffer(2);

interface RulesOptions {
  readonly rounds: number;
  readonly decisions: number;
  readonly json?: string;
}

/** Fields as they come off the wire, with names in lower case: the form that both sides start from. */
type RawFields = readonly (readonly [name: string, value: string])[];

/** A response, and how long it has been stored when the next request comes. */
interface Exchange {
  readonly status: number;
  readonly response: RawFields;
  readonly heldMs: number;
}

/** One kind of decision, made by these rules and by the package. Both decide the exchange of that index. */
interface Contest {
  readonly name: string;
  readonly exchanges: readonly Exchange[];
  readonly ours: (index: number) => boolean;
  readonly theirs: (index: number) => boolean;
}

interface ContestResult {
  readonly name: string;
  readonly oursMicroseconds: number;
  readonly theirsMicroseconds: number;
  /** The median of the ratios of each round, because other work on the machine disturbs both sides of a round. */
  readonly timesFaster: number;
}

export const rules = new Command("rules")
  .description("The cost of a decision, from text to verdict, beside the package http-cache-semantics.")
  .option("--rounds <n>", "how many turns each side has", positive, 25)
  .option("--decisions <n>", "how many decisions a turn has", positive, 20_000)
  .option("--json <file>", "where the results go (default: bench/results/rules-<date>.json)")
  .action(measureRules);

function measureRules({ json, ...settings }: RulesOptions): void {
  const machine = thisMachine();
  printSettings(machine, settings);
  const contests = [...hits(), ...storeDecisions()];
  for (const contest of contests) assertSameVerdicts(contest);
  const results = contests.map((contest) => measureContest(contest, settings));
  printTable(
    ["", "Tidemark µs", "http-cache-semantics µs", "times faster"],
    results.map((result) => [
      result.name,
      result.oursMicroseconds.toFixed(2),
      result.theirsMicroseconds.toFixed(2),
      result.timesFaster.toFixed(1),
    ]),
  );
  writeResults("rules", { machine, settings, results }, json);
}

const KEY = "https://www.example.com/plog/";

/**
 * Whether a stored response answers a request, with the response in memory, or as the text that the shared tier holds.
 * The package decides and makes the fields of the answer, or of the validation, in one call. There are therefore three
 * comparisons: each side's own call for the verdict; the verdict alone, without those fields in the package; and the
 * verdict with the fields on both sides.
 */
function hits(): Contest[] {
  const heads = EXCHANGES.map(headOf);
  const headTexts = heads.map((head) =>
    headText(new Headers(writeEnvelope({ head, body: new Uint8Array(BODY) }).fields)),
  );
  const inMemory = (index: number) => heads[index]!;
  const asText = (index: number) => (readEnvelope(KEY, headTexts[index]!) as StoredResponse).head;

  const policies = EXCHANGES.map((exchange) => policyOf(exchange).toObject());
  const policyTexts = policies.map((policy) => JSON.stringify(policy));
  const remade = policies.map((policy) => PolicyInTime.fromObject(policy));
  const spared = policies.map((policy) => VerdictAlone.fromObject(policy));
  const fromText = (index: number) => JSON.parse(policyTexts[index]!) as CachePolicy.CachePolicyObject;

  const contest = (name: string, ours: Contest["ours"], policy: (index: number) => CachePolicy): Contest => ({
    name: `hit, ${name}`,
    exchanges: EXCHANGES,
    ours,
    theirs: (index) => policyAnswers(policy(index), index),
  });
  const verdictOf = (headAt: (index: number) => StoredHead) => (index: number) => answers(headAt(index), index);
  const fieldsOf = (headAt: (index: number) => StoredHead) => (index: number) =>
    answersWithFields(headAt(index), index);
  const policyInMemory = (index: number) => remade[index]!;
  const policyFromText = (index: number) => PolicyInTime.fromObject(fromText(index));
  return [
    contest("entry in memory", verdictOf(inMemory), policyInMemory),
    contest("entry as text", verdictOf(asText), policyFromText),
    contest("entry in memory, verdict alone", verdictOf(inMemory), (index) => spared[index]!),
    contest("entry as text, verdict alone", verdictOf(asText), (index) => VerdictAlone.fromObject(fromText(index))),
    contest("entry in memory, both with fields", fieldsOf(inMemory), policyInMemory),
    contest("entry as text, both with fields", fieldsOf(asText), policyFromText),
  ];
}

/** These rules read one field by its name, as `Headers` does in the Workers runtime. */
function fieldOf(fields: RawFields): (name: string) => string | null {
  return (name) => {
    for (const field of fields) if (field[0] === name) return field[1];
    return null;
  };
}

/** The package reads an object. A loop takes a third of the time of `Object.fromEntries`. */
function objectOf(fields: RawFields): Record<string, string> {
  const object: Record<string, string> = {};
  for (const field of fields) object[field[0]] = field[1];
  return object;
}

function readRequest(): RequestFacts {
  return new RequestFacts("GET", REQUEST_HEADERS, REQUEST_RULES, { passes: false, country: null });
}

const REQUEST_RULES = {
  requestDirectives: "harmless",
  keyFields: [],
  droppedFields: [],
  trustedFields: [],
  ignoredCookies: [],
  bypass: NO_BYPASS,
  choices: NO_CHOICES,
} as const;
const UNPURGED = { answer: "not-purged", maxViewAgeMs: 1000, awaitsToken: false, soft: null } as const;

function answers(head: StoredHead, index: number): boolean {
  return verdictAt(head, index).kind === "fresh";
}

function verdictAt(head: StoredHead, index: number): Verdict {
  return judge(head, readRequest(), UNPURGED, NOON + EXCHANGES[index]!.heldMs);
}

function answersWithFields(head: StoredHead, index: number): boolean {
  const verdict = verdictAt(head, index);
  if (verdict.kind === "fresh") return [...head.fields, "age", String(verdict.ageSeconds)].length > 0;
  const validators = { etag: storedField(head, "etag"), lastModified: storedField(head, "last-modified") };
  return [...REQUEST, ...(validationFields(validators, NOON) ?? [])].length === 0;
}

function policyAnswers(policy: CachePolicy, index: number): boolean {
  now = NOON + EXCHANGES[index]!.heldMs;
  const headers = objectOf(REQUEST);
  return policy.evaluateRequest({ method: "GET", url: "/plog/", headers }).revalidation === undefined;
}

/**
 * Whether a response of the origin is stored, and for how long, from the fields of request and response. These rules
 * remember the last parsed values of `Cache-Control`. Most origins send the same few values again and again, but some
 * count down to an instant. In the second comparison, therefore, no value comes again before it is forgotten.
 */
function storeDecisions(): Contest[] {
  const contest = (name: string, exchanges: readonly Exchange[]): Contest => ({
    name: `store decision, ${name}`,
    exchanges,
    ours: (index) => {
      const verdict = verdictOn(exchanges[index]!);
      return verdict.kind === "storable" && verdict.freshness.seconds > 0;
    },
    theirs: (index) => {
      const policy = policyOf(exchanges[index]!);
      return policy.storable() && policy.maxAge() > 0;
    },
  });
  return [contest("few texts", answersWith(copyOf)), contest("new texts", answersWith(anotherText))];
}

/** Many times the number of values that are remembered. */
const ANSWERS = 2048;

/** The same exchanges many times, each time with its own text of `Cache-Control`. */
function answersWith(ownText: (cacheControl: string, index: number) => string): Exchange[] {
  return Array.from({ length: ANSWERS }, (_, index) => {
    const exchange = EXCHANGES[index % EXCHANGES.length]!;
    const response = exchange.response.map(
      ([name, value]) => [name, name === "cache-control" ? ownText(value, index) : value] as const,
    );
    return { ...exchange, response };
  });
}

/** An equal text in other memory, like a text that comes off the wire. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

/** The same directives with another number. A page that is never fresh gets one more directive instead. */
function anotherText(cacheControl: string, index: number): string {
  const isNeverFresh = !/[1-9]/.test(cacheControl);
  if (isNeverFresh) return `${cacheControl}, stale-if-error=${index}`;
  return cacheControl.replace(/[1-9]\d*/, String(ANSWERS + index));
}

function verdictOn({ status, response }: Exchange): StorableVerdict {
  const { identity, directives } = readRequest();
  return storable(
    { identity, forbidsStoring: directives.forbidsStoring, isPlain: true },
    { status, requestedAt: NOON, receivedAt: NOON, field: fieldOf(response) },
    { heuristic: null, targetedFields: [] },
  );
}

function headOf(exchange: Exchange): StoredHead {
  const verdict = verdictOn(exchange);
  return storedHead({
    key: KEY,
    status: exchange.status,
    fields: exchange.response.flat(),
    bodyBytes: BODY.byteLength,
    givenPurgeKeys: ["#plog", "#page-1"],
    stamp: { logId: "8c1f0a2e", seq: 4711 },
    ...(verdict.kind === "storable" && {
      initialAgeMs: verdict.initialAgeMs,
      freshnessSeconds: verdict.freshness.seconds,
      reuse: verdict.reuse,
    }),
  });
}

/** The package calls this method for the time. */
let now = NOON;
class PolicyInTime extends CachePolicy {
  now(): number {
    return now;
  }
}

/** Does not make the fields of an answer or of a validation. */
class VerdictAlone extends PolicyInTime {
  override responseHeaders(): CachePolicy.Headers {
    return {};
  }

  override revalidationHeaders(): CachePolicy.Headers {
    return {};
  }
}

function policyOf({ status, response }: Exchange): CachePolicy {
  now = NOON;
  const request = { method: "GET", url: "/plog/", headers: objectOf(REQUEST) };
  const fields = { status, headers: objectOf(response) };
  return new PolicyInTime(request, fields, { shared: true, cacheHeuristic: 0 });
}

/** The time of a wrong answer means nothing. */
function assertSameVerdicts({ name, exchanges, ours, theirs }: Contest): void {
  const verdicts = exchanges.map((_, index) => ours(index));
  const differing = exchanges.filter((_, index) => verdicts[index] !== theirs(index));
  if (differing.length > 0) throw new BenchFailure(`${name}: the verdicts differ on ${JSON.stringify(differing)}.`);
  if (new Set(verdicts).size < 2) throw new BenchFailure(`${name}: all verdicts are the same, so nothing was decided.`);
}

function measureContest(
  { name, exchanges, ours, theirs }: Contest,
  { rounds, decisions }: RulesOptions,
): ContestResult {
  const turn = (decide: (index: number) => boolean) => microsecondsEach(decide, exchanges.length, decisions);
  const measured: { ours: number; theirs: number }[] = [];
  for (let round = -1; round < rounds; round++) {
    // The sides take turns, and begin a round alternately. The first round is the warm-up.
    const turns: { ours?: number; theirs?: number } = {};
    if (round % 2 === 0) turns.ours = turn(ours);
    turns.theirs = turn(theirs);
    turns.ours ??= turn(ours);
    if (round >= 0) measured.push({ ours: turns.ours, theirs: turns.theirs });
  }
  return {
    name,
    oursMicroseconds: median(measured.map((turns) => turns.ours)),
    theirsMicroseconds: median(measured.map((turns) => turns.theirs)),
    timesFaster: median(measured.map((turns) => turns.theirs / turns.ours)),
  };
}

function microsecondsEach(decide: (index: number) => boolean, exchanges: number, decisions: number): number {
  let yes = 0;
  const startedAt = performance.now();
  for (let decision = 0; decision < decisions; decision++) if (decide(decision % exchanges)) yes++;
  const tookMs = performance.now() - startedAt;
  // Counting the decisions keeps the compiler from leaving one out.
  if (yes === 0 || yes === decisions) throw new BenchFailure("All verdicts were the same.");
  return (tookMs * 1000) / decisions;
}

function printSettings(
  { cpu, cores, system, node, loadBefore }: Machine,
  { rounds, decisions }: Omit<RulesOptions, "json">,
): void {
  console.log(`${cpu}, ${cores} cores, nothing pinned, load ${loadBefore} before; ${system}; Node ${node}`);
  console.log("Each side starts from lists of field names and values, and converts them to the form that it needs.");
  console.log(
    `${EXCHANGES.length} exchanges, ${rounds} rounds of ${decisions} decisions on each side, in turn; medians\n`,
  );
}

const REQUEST: RawFields = Object.entries({
  host: "www.example.com",
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
  "accept-language": "de-DE,de;q=0.9,en;q=0.8",
  "accept-encoding": "gzip, deflate, br, zstd",
  referer: "https://www.example.com/",
  "sec-fetch-dest": "document",
  "sec-fetch-mode": "navigate",
  "sec-fetch-site": "same-origin",
  "upgrade-insecure-requests": "1",
});

/** The runtime's interface to fields: one field by its name, or all of them. */
const REQUEST_HEADERS: RequestHeaders = { get: fieldOf(REQUEST), [Symbol.iterator]: () => REQUEST[Symbol.iterator]() };

/** The fields of a page on a usual site. */
const PAGE = {
  date: new Date(NOON).toUTCString(),
  server: "nginx",
  "content-type": "text/html; charset=utf-8",
  "content-length": "18230",
  etag: 'W/"4736-5f1c0f2a"',
  "last-modified": new Date(NOON - 86_400_000).toUTCString(),
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "x-content-type-options": "nosniff",
  "referrer-policy": "strict-origin-when-cross-origin",
  "content-security-policy": "default-src 'self'; img-src 'self' data: https:; script-src 'self'",
  link: '</assets/site.css>; rel="preload"; as="style"',
};

const EXCHANGES: readonly Exchange[] = [
  { "cache-control": "max-age=60" },
  { "cache-control": "public, max-age=600, stale-while-revalidate=30" },
  { "cache-control": "public, s-maxage=300, max-age=0" },
  { "cache-control": "max-age=31536000, immutable" },
  { "cache-control": "max-age=10" },
  { "cache-control": "max-age=60, stale-if-error=86400", age: "25" },
  { expires: new Date(NOON + 120_000).toUTCString() },
  { "cache-control": "max-age=0" },
].flatMap((fields) =>
  [0, 45_000].map((heldMs) => ({ status: 200, response: Object.entries({ ...PAGE, ...fields }), heldMs })),
);
