import { freshAnswers, type PathRecord } from "./exchange.ts";
import { cookieNames, type Identity, STRANGER, secretsOf } from "./identity.ts";
import { inputText } from "./input.ts";
import { cookiesSet } from "./marks.ts";
import { shownMark } from "./masking.ts";
import { mendShared, mendStored, mendUnkeyed, productOf } from "./mending.ts";
import { type PassedOn, passedBetweenInputs, passedBetweenVisitors } from "./passed-on.ts";
import { type PersonalBecause, storedPersonal } from "./stored-personal.ts";

/** One thing that is wrong with a page. */
export interface Finding {
  /** The same in every run that finds it: `shared:/account`, `stored:private:/account`, `unkeyed:cookie:lang:/`. */
  readonly id: string;
  readonly kind: "shared" | "stored" | "unkeyed";
  readonly path: string;
  readonly what: string;
  readonly evidence: readonly string[];
  /** Settings, each of which would fix it. */
  readonly mend: readonly string[];
}

/** What is wrong with a page, judged by all its exchanges. */
export function judgePath(record: PathRecord, identities: readonly Identity[]): readonly Finding[] {
  return [
    ...sharedFinding(record, identities),
    ...storedFindings(record, identities),
    ...unkeyedFindings(record, identities),
  ];
}

function sharedFinding(record: PathRecord, identities: readonly Identity[]): readonly Finding[] {
  const canaries = Object.fromEntries(identities.map(({ name, canaries }) => [name, canaries]));
  const passed = passedBetweenVisitors(record, canaries);
  if (passed.length === 0) return [];
  const byMaker = [...Map.groupBy(passed, ({ maker }) => maker.who)].sort(
    ([one], [other]) => Number(one === STRANGER) - Number(other === STRANGER),
  );
  const sentences = byMaker.map(([who, each]) => {
    const receivers = [...new Set(each.map(({ receiver }) => visitorName(receiver.who)))];
    return `${visitorName(who)}'s answer was given to ${inWords(receivers)}`;
  });
  const { path } = record.target;
  return [
    {
      id: `shared:${path}`,
      kind: "shared",
      path,
      what: sentences.join("; "),
      evidence: byMaker.flatMap(([who, each]) =>
        evidenceOf(each, identities).map((line) => `of ${visitorName(who)}: ${line}`),
      ),
      mend: mendShared(productOf(record), path, cookieNames(identities, cookiesOfStrangers(record))),
    },
  ];
}

function cookiesOfStrangers(record: PathRecord): readonly string[] {
  return freshAnswers(record, STRANGER)
    .flatMap(cookiesSet)
    .map((pair) => pair.split("=", 1)[0]!);
}

const BECAUSE_TEXT: Readonly<Record<PersonalBecause, string>> = {
  private: "it says Cache-Control: private",
  "no-store": "it says Cache-Control: no-store",
  "set-cookie": "it sets a cookie",
  "vary: cookie": "it varies by Cookie, and the cookies were different",
  authorization: "it answered a request with Authorization, and does not say that it is for everybody",
};

function storedFindings(record: PathRecord, identities: readonly Identity[]): readonly Finding[] {
  const { path } = record.target;
  return [...Map.groupBy(storedPersonal(record, identities), ({ because }) => because)].map(([because, each]) => {
    const visitors = [...new Set(each.map(({ answer }) => visitorName(answer.who)))];
    return {
      id: `stored:${because.replace(": ", "-")}:${path}`,
      kind: "stored" as const,
      path,
      what: `it is stored and was given to ${inWords(visitors)} from the cache, although ${BECAUSE_TEXT[because]}`,
      evidence: [],
      mend: mendStored(productOf(record), because),
    };
  });
}

function unkeyedFindings(record: PathRecord, identities: readonly Identity[]): readonly Finding[] {
  const { path } = record.target;
  const inputOf = ({ maker, receiver }: PassedOn) => (maker.inputs[0] ?? receiver.inputs[0])!;
  const byInput = Map.groupBy(passedBetweenInputs(record), (each) => {
    const { kind, name } = inputOf(each);
    return `${kind}:${name}`;
  });
  return [...byInput].map(([name, each]) => {
    const input = inputOf(each[0]!);
    const spreads = each.filter(({ maker }) => maker.inputs.length > 0);
    const effects = [
      ...(spreads.length > 0 ? ["requests without it got a page made for one value"] : []),
      ...(spreads.length < each.length ? ["requests with it got the page made for requests without it"] : []),
    ];
    return {
      id: `unkeyed:${name}:${path}`,
      kind: "unkeyed" as const,
      path,
      what: `${inputText(input)} changes the page and is not in the key: ${effects.join("; ")}`,
      evidence: [
        `tried with ${input.name}${input.kind === "field" ? ": " : "="}${input.value}`,
        ...evidenceOf(each, identities),
      ],
      mend: mendUnkeyed(productOf(record), path, input),
    };
  });
}

/** The most texts that are shown for one place. */
const MAX_TEXTS = 3;

/** A line for each place in which marks were found: `body: "alice@example.com", "Alice" and 2 more`. */
function evidenceOf(passed: readonly PassedOn[], identities: readonly Identity[]): readonly string[] {
  const secrets = secretsOf(identities);
  const byPlace = Map.groupBy(
    passed.flatMap(({ marks }) => marks),
    ({ where }) => where,
  );
  return [...byPlace].map(([where, all]) => {
    const parts = all.filter(({ isWhole }) => !isWhole);
    const marks = parts.length > 0 ? parts : all;
    const texts = [...new Set(marks.map((mark) => shownMark(mark, secrets)))];
    const more = texts.length > MAX_TEXTS ? ` and ${texts.length - MAX_TEXTS} more` : "";
    return `${where}: ${texts
      .slice(0, MAX_TEXTS)
      .map((text) => JSON.stringify(text))
      .join(", ")}${more}`;
  });
}

function visitorName(who: string): string {
  return who === STRANGER ? "a stranger" : who;
}

/** `alice, bob and a stranger`. */
export function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
