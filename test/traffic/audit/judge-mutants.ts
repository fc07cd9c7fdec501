import type { Mutation } from "../../mutants/mutant.ts";

/** A judge of the audit that is taken away or wrong, and the case that misses it. */
export interface JudgeMutant extends Mutation {
  /** A sentence that describes the wrong rule. */
  readonly name: string;
  /** The name of the case in `recorded-cases.ts` that must fail under it. */
  readonly reddens: string;
}

const PASSED = "traffic/audit/passed-on.ts";
const MARKS = "traffic/audit/marks.ts";
const STORED = "traffic/audit/stored-personal.ts";
const FROM_STORE = "traffic/audit/from-store.ts";
const JUDGE = "traffic/audit/judge-path.ts";
const MASKING = "traffic/audit/masking.ts";

const VISITORS =
  "const BETWEEN_VISITORS: readonly Channel[] = [words, bytes, entityTag, setCookie, fields, formToken];";
const without = (name: string) => VISITORS.replace(new RegExp(`\\b${name}(?:, )?(?=[^:]*;$)`), "");

export const judgeMutants: readonly JudgeMutant[] = [
  ...(
    [
      ["words", "words of one visitor's pages"],
      ["bytes", "a name that a tag hides from the words, in bytes that never change"],
      ["entityTag", "an ETag"],
      ["setCookie", "a cookie that was set, whose value is not shown"],
      ["fields", "a field of the site's own"],
      ["formToken", "a form's token"],
    ] as const
  ).map(([channel, reddens]) => ({
    name: `answers are not compared by ${channel}`,
    file: PASSED,
    from: VISITORS,
    to: without(channel),
    reddens,
  })),
  {
    name: "canaries are not looked for",
    file: PASSED,
    from: "canaries(given[maker.who] ?? [])",
    to: "canaries([])",
    reddens: "a canary, also one that is in no other page of its owner's",
  },
  {
    name: "a canary counts, whoever is known to have it",
    file: MARKS,
    from: "own.every((each) => !placesOf(each, text).includes(where))",
    to: "own.length > 0",
    reddens: "a canary that stands in everybody's pages",
  },
  {
    name: "a word of one rendering is taken for the visitor's",
    file: MARKS,
    from: "theirs.every((each) => each.has(word))",
    to: "theirs.length > 0",
    reddens: "a page that changes with each rendering, shared, and nobody's",
  },
  {
    name: "a word counts, although one's own pages have it",
    file: MARKS,
    from: "!mine.has(word) && ",
    to: "",
    reddens: "a page that is the same for all",
  },
  {
    name: "the status is not compared",
    file: MARKS,
    from: "return isTheirStatus ?",
    to: "return isTheirStatus && status === 0 ?",
    reddens: "the status",
  },
  {
    name: "a field of one answer is taken for the visitor's",
    file: MARKS,
    from: "ofOther.every((each) => fieldOf(each, name) === text)",
    to: "ofOther.length > 0",
    reddens: "a field that is another in each answer",
  },
  {
    name: "an ETag of one answer is taken for the visitor's",
    file: MARKS,
    from: "ofOther.every((each) => tagOf(each) === tag)",
    to: "ofOther.length > 0",
    reddens: "an ETag that is new in each answer",
  },
  {
    name: "a cookie counts, although everybody is given it",
    file: MARKS,
    from: " && !usual.has(pair)",
    to: "",
    reddens: "a cookie that everybody is given",
  },
  {
    name: "what strangers get may be given to others",
    file: PASSED,
    from: "(maker, receiver) => maker.who !== receiver.who,",
    to: '(maker, receiver) => maker.who !== receiver.who && maker.who !== "stranger",',
    reddens: "a stranger's page for a visitor with a session",
  },
  {
    name: "inputs are not compared",
    file: PASSED,
    from: "(maker, receiver) => maker.who === receiver.who,",
    to: "() => false,",
    reddens: "a page made for one value of an input, given to a request without it",
  },
  {
    name: "only the page that spreads counts",
    file: JUDGE,
    from: "const byInput = Map.groupBy(passedBetweenInputs(record), (each) => {",
    to: "const byInput = Map.groupBy(passedBetweenInputs(record).filter(({ maker }) => maker.inputs.length > 0), (each) => {",
    reddens: "a request with an input that got the page made for those without it",
  },
  {
    name: "a new cookie in each answer counts as the doing of an input",
    file: PASSED,
    from: "const BETWEEN_INPUTS: readonly Channel[] = [words,",
    to: "const BETWEEN_INPUTS: readonly Channel[] = [setCookie, words,",
    reddens: "an input that changes nothing, on a page that sets a new cookie in each answer",
  },
  ...(
    [
      ["saidByDirectives(answer)", "private, and stored"],
      ["saidBySetCookie(answer, before)", "Set-Cookie, and stored"],
      [
        "saidByAuthorization(answer, sent(first!).authorization !== undefined)",
        "an answer to Authorization, and stored",
      ],
    ] as const
  ).map(([judge, reddens]) => ({
    name: `a stored answer is not asked for ${judge.split("(")[0]}`,
    file: STORED,
    from: `...${judge},`,
    to: "",
    reddens,
  })),
  {
    name: "a cookie that the edge adds counts as stored",
    file: STORED,
    from: "cookiesSet(answer).some((pair) => stored.has(pair))",
    to: "cookiesSet(answer).length > 0",
    reddens: "a cookie that the edge itself adds to each answer",
  },
  {
    name: "no-store is not read",
    file: STORED,
    from: 'if (cacheControl.noStore && !cacheControl.mustUnderstand) return ["no-store"];',
    to: "",
    reddens: "no-store, and stored",
  },
  {
    name: "the field for browsers counts, whatever the one for CDNs says",
    file: STORED,
    from: "function saidByDirectives(answer: Exchange): readonly PersonalBecause[] {",
    to: 'function saidByDirectives({ fields: { "cdn-cache-control": _, ...fields }, ...rest }: Exchange): readonly PersonalBecause[] {\n  const answer = { fields, ...rest };',
    reddens: "no-store for browsers, and a lifetime for CDNs",
  },
  {
    name: "private for some fields counts as private",
    file: STORED,
    from: 'cacheControl.private === "whole"',
    to: 'cacheControl.private !== "absent"',
    reddens: "private for one field alone",
  },
  {
    name: "one's own stored page counts, although it varies by cookie",
    file: STORED,
    from: "isByCookie && !hadSameCookies",
    to: "isByCookie",
    reddens: "Vary: Cookie, and a hit for the same cookies",
  },
  {
    name: "a stored answer is not asked for what it varies by",
    file: STORED,
    from: "isByCookie && !hadSameCookies",
    to: "false",
    reddens: "Vary: Cookie, and a hit for other cookies",
  },
  {
    name: "another visitor counts as another with other cookies",
    file: STORED,
    from: "sent(each).cookie === sent(answer).cookie",
    to: "each.who === answer.who",
    reddens: "Vary: Cookie, and a hit for a visitor who has no cookies either",
  },
  {
    name: "a tried cookie is not counted among the cookies",
    file: STORED,
    from: "credentialsOf(who, identities), inputs)",
    to: "credentialsOf(who, identities), [])",
    reddens: "Vary: Cookie, and a hit for a request with another cookie",
  },
  {
    name: "another field counts as another cookie",
    file: STORED,
    from: "sent(each).cookie === sent(answer).cookie",
    to: "JSON.stringify(sent(each)) === JSON.stringify(sent(answer))",
    reddens: "Vary: Cookie, and a hit for a request with another field",
  },
  {
    name: "an answer to Authorization may not be stored, even if it is for all",
    file: STORED,
    from: "wasAuthorized && !isForAll",
    to: "wasAuthorized",
    reddens: "an answer to Authorization that is for all",
  },
  {
    name: "every repeated answer is a stored one",
    file: FROM_STORE,
    from: 'return answer.provenance === "hit";',
    to: "return true;",
    reddens: "private, and not stored",
  },
  {
    name: "without a word in the answer nothing is known to be stored",
    file: FROM_STORE,
    from: "return answer.digest === first.digest && neverGetsTheSame(record, partyOf(first));",
    to: "return false;",
    reddens: "private, and stored by a cache that tells no hits, of a page that is never the same twice",
  },
  {
    name: "the same bytes are a stored answer",
    file: FROM_STORE,
    from: " && neverGetsTheSame(record, partyOf(first))",
    to: "",
    reddens: "private, from a cache that tells no hits, of a page that never changes",
  },
  {
    name: "the value of a cookie is shown",
    file: MASKING,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source
    from: "${masked(pair.slice(equals + 1))}",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source
    to: "${pair.slice(equals + 1)}",
    reddens: "a cookie that was set, whose value is not shown",
  },
  {
    name: "a form's token is shown",
    file: MASKING,
    from: "if (speaksOfCredentials(where.toLowerCase())) return masked(text);",
    to: "",
    reddens: "a form's token",
  },
  {
    name: "credentials in pages are shown",
    file: MASKING,
    from: "if (secret.length >= MIN_SECRET) shown =",
    to: "if (secret.length > 1000) shown =",
    reddens: "credentials that a page repeats are masked",
  },
];
