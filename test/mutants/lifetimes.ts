import type { Mutants } from "./mutant.ts";

const LIFETIME = "worker/rules/freshness/freshness-lifetime.ts";
const AGE = "worker/rules/freshness/current-age.ts";
const DATE = "worker/rules/fields/http-date.ts";
const HEURISTIC = "worker/rules/freshness/heuristic-freshness.ts";
const STATUS = "worker/rules/storing/storable-status.ts";
const PLAIN = "worker/rules/request/unkeyed-field.ts";
const MAY_STORE = "worker/rules/storing/storable.ts";

const FORMS = "Expires is read in all three forms of a date, in any case of letters, and counts from Date";
const NO_DATE = "Expires that is no date, or is over, or comes twice, leaves nothing fresh";
const OUTRANKS = "a lifetime in Cache-Control outranks Expires, also one that is no number";
const DATED = "an answer without a Date is given that of its arrival, and keeps it";
const AGES =
  "a page is as old as its Age or its Date says, whichever is more; what is no whole number, or ahead of us, says nothing";
const DELAY = "the time that the origin took for its answer is part of the answer's age";
const GUESS =
  "where the owner wants it, a page without a lifetime is fresh for a tenth of the time since it was modified";
const NO_GUESS = "nothing is guessed for other statuses, or from a date that is none or ahead";
const STATUSES =
  "an answer with a stated lifetime is stored whatever its status, unknown ones included, and comes back with it";
const ONE_REQUEST = "parts, validations, and answers that tell of one request or connection alone are never stored";
const ROUTE_TTL =
  "a route's ttl is not for failures: those keep the lifetime that the origin states, and else have none";

const NAMED_BY_VARY =
  "a page for a request with a field that is not usual is stored if Vary names the field, and an error is not";

function oddBy(what: string): string {
  return `neither an error nor a page is stored if its request had ${what}`;
}

/** Wrong rules of dates, ages and guesses, and of which statuses are stored for them. */
export const lifetimes: Mutants = {
  "rfc-850-is-not-read": {
    name: "a date with two digits of a year is none",
    file: DATE,
    from: "now === undefined || !RFC_850.test(date)",
    to: "now === undefined || date",
    reddens: FORMS,
  },
  "asctime-is-not-read": {
    name: "a date of C's asctime is none",
    file: DATE,
    from: "if (ASCTIME.test(date)) return",
    to: "if (false) return",
    reddens: FORMS,
  },
  "case-of-dates-counts": {
    name: "a date in lower case is none",
    file: DATE,
    from: "const date = text.trim();",
    to: "if (!/[A-Z]/.test(text)) return undefined;\n  const date = text.trim();",
    reddens: FORMS,
  },
  "other-zones-are-read": {
    name: "a date in another zone than GMT is read",
    file: DATE,
    from: "\\d\\d:\\d\\d:\\d\\d gmt$/i;\nconst RFC_850",
    to: "\\d\\d:\\d\\d:\\d\\d [a-z]+$/i;\nconst RFC_850",
    reddens: NO_DATE,
  },
  "days-run-over": {
    name: "the 31st of February is in March",
    file: DATE,
    from: "if (day < 1 || day > daysIn(year, month)) return undefined;",
    to: "",
    reddens: NO_DATE,
  },
  "expires-counts-from-arrival": {
    name: "Expires counts from the arrival, whatever Date says",
    file: LIFETIME,
    from: "(expiresAt - generationOf(response)) / 1000",
    to: "(expiresAt - response.receivedAt) / 1000",
    reddens: FORMS,
  },
  "no-date-is-the-beginning": {
    name: "without a Date, Expires counts from the beginning of time",
    file: LIFETIME,
    from: 'parseHttpDate(field("date"), receivedAt) ?? receivedAt',
    to: 'parseHttpDate(field("date"), receivedAt) ?? 0',
    reddens: FORMS,
  },
  "garbage-expires-is-silent": {
    name: "an Expires that is no date is fresh for a minute",
    file: LIFETIME,
    from: "if (expiresAt === undefined) return 0;",
    to: "if (expiresAt === undefined) return 60;",
    reddens: NO_DATE,
  },
  "expires-outranks": {
    name: "Expires outranks max-age",
    file: LIFETIME,
    from: 'if (maxAge !== "absent") return',
    to: 'if (maxAge !== "absent" && response.field("expires") === null) return',
    reddens: OUTRANKS,
  },
  "garbage-lets-expires-speak": {
    name: "where max-age is no number, Expires speaks",
    file: LIFETIME,
    from: 'if (maxAge !== "absent") return',
    to: 'if (maxAge !== "absent" && (maxAge !== "invalid" || response.field("expires") === null)) return',
    reddens: OUTRANKS,
  },
  "date-is-not-added": {
    name: "an answer without a Date goes without",
    file: "worker/rules/forwarding/client-response-fields.ts",
    from: 'if (!fields.has("date")) fields.set',
    to: "if (false) fields.set",
    reddens: DATED,
  },
  "date-is-told-anew": {
    name: "every answer is dated by the edge",
    file: "worker/rules/forwarding/client-response-fields.ts",
    from: 'if (!fields.has("date")) fields.set',
    to: "if (true) fields.set",
    reddens: "the origin's Date is passed on as it came, from store as well",
  },
  "confirmation-has-the-old-date": {
    name: "a 304 without a Date has that of the stored page",
    file: "worker/flow/storing/freshening.ts",
    from: 'if (!from304.has("date"))',
    to: "if (false)",
    reddens: "an origin without a clock confirms a page for a whole lifetime again",
  },
  "huge-age-is-garbage": {
    name: "an Age too large to count says nothing",
    file: AGE,
    from: 'seconds === "invalid" ? 0',
    to: 'seconds === "invalid" || seconds >= 2_147_483_648 ? 0',
    reddens: "an Age too large to count is old all the same",
  },
  "last-age-counts": {
    name: "of several Age members the last counts",
    file: AGE,
    from: 'age.split(",", 1)[0]!',
    to: 'age.split(",").at(-1)!',
    reddens: AGES,
  },
  "garbage-age-is-old": {
    name: "an Age that is no whole number is the oldest there is",
    file: AGE,
    from: 'seconds === "invalid" ? 0',
    to: 'seconds === "invalid" ? 2_147_483_648',
    reddens: AGES,
  },
  "fractions-of-age-count": {
    name: "an Age with a fraction counts",
    file: AGE,
    from: 'readDeltaSeconds(age.split(",", 1)[0]!.trim())',
    to: 'readDeltaSeconds(age.split(",", 1)[0]!.trim().replace(/\\..*/, ""))',
    reddens: AGES,
  },
  "date-makes-nothing-old": {
    name: "an old Date does not make an answer old",
    file: AGE,
    from: "Math.max(apparentAgeMs, statedAgeMs(age)",
    to: "Math.max(0, statedAgeMs(age)",
    reddens: AGES,
  },
  "age-makes-nothing-old": {
    name: "Age is not read",
    file: AGE,
    from: "statedAgeMs(age) + responseDelayMs",
    to: "responseDelayMs",
    reddens: AGES,
  },
  "ages-add-up": {
    name: "Age and the age of Date add up",
    file: AGE,
    from: "Math.max(apparentAgeMs, statedAgeMs(age) + responseDelayMs)",
    to: "apparentAgeMs + statedAgeMs(age) + responseDelayMs",
    reddens: AGES,
  },
  "delay-does-not-count": {
    name: "the time that the origin took does not count",
    file: AGE,
    from: "statedAgeMs(age) + responseDelayMs",
    to: "statedAgeMs(age)",
    reddens: DELAY,
  },
  "guessed-unasked": {
    name: "a lifetime is guessed though the owner has not asked for it",
    file: "worker/site/site.ts",
    from: "maxSeconds: site.heuristic.most } : null",
    to: "maxSeconds: site.heuristic.most } : { fraction: 0.1, maxSeconds: 60 }",
    reddens: "no lifetime is guessed unless the owner wants it",
  },
  "guess-is-the-whole": {
    name: "the guess is the whole time since the last modification",
    file: HEURISTIC,
    from: " * rules.fraction",
    to: "",
    reddens: GUESS,
  },
  "guess-has-no-end": {
    name: "a guess may be as long as it gets",
    file: HEURISTIC,
    from: "Math.min(guessedSeconds, rules.maxSeconds)",
    to: "guessedSeconds",
    reddens: "the share that is guessed, and the longest guess, are the owner's",
  },
  "date-ahead-lengthens-a-guess": {
    name: "a Date ahead of us lengthens a guess",
    file: LIFETIME,
    from: "Math.min(generationOf(response), response.receivedAt)",
    to: "generationOf(response)",
    reddens: GUESS,
  },
  "guessed-for-every-status": {
    name: "a lifetime is guessed for every status",
    file: HEURISTIC,
    from: "if (!isHeuristicallyCacheable(status)) return undefined;",
    to: "",
    reddens: NO_GUESS,
  },
  "guessed-from-the-future": {
    name: "a lifetime is guessed from a modification ahead of us",
    file: HEURISTIC,
    from: "modifiedAt === undefined || modifiedAt > generatedAt) return undefined;\n  const guessedSeconds = Math.floor(((generatedAt - modifiedAt)",
    to: "modifiedAt === undefined) return undefined;\n  const guessedSeconds = Math.ceil((Math.abs(generatedAt - modifiedAt)",
    reddens: NO_GUESS,
  },
  "guess-in-place-of-garbage": {
    name: "a lifetime is guessed where the stated one is no number",
    file: LIFETIME,
    from: 'if (maxAge !== "absent") return',
    to: 'if (maxAge !== "absent" && (maxAge !== "invalid" || rules.heuristic === null)) return',
    reddens: "a lifetime that is stated badly is no reason to guess: the page is kept to be confirmed each time",
  },
  "guess-outranks-what-is-stated": {
    name: "a guess outranks a stated lifetime",
    file: LIFETIME,
    from: 'if (maxAge !== "absent") return',
    to: 'if (maxAge !== "absent" && !(rules.heuristic && response.field("last-modified"))) return',
    reddens: "a guess comes before a route's default, and a stated lifetime before both",
  },
  "default-outranks-a-guess": {
    name: "a route's default outranks a guess",
    file: LIFETIME,
    from: "if (rules.heuristic !== null) {",
    to: "if (rules.heuristic !== null && rules.defaultTtlSeconds === undefined) {",
    reddens: "a guess comes before a route's default, and a stated lifetime before both",
  },
  "unknown-statuses-are-not-stored": {
    name: "a status that is not understood is not stored, whatever lifetime is stated",
    file: MAY_STORE,
    from: "cacheControl.mustUnderstand && !isUnderstoodStatus(status)",
    to: "!isUnderstoodStatus(status)",
    reddens: STATUSES,
  },
  "errors-are-not-stored": {
    name: "no error is stored",
    file: STATUS,
    from: "status >= 200 && status <= 599",
    to: "status >= 200 && status <= 399",
    reddens: STATUSES,
  },
  ...Object.fromEntries(
    [206, 226, 304, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511].map((status) => [
      `${status}-is-stored`,
      {
        name: `a ${status} is stored`,
        file: STATUS,
        from: "!NEVER_STORED.has(status);",
        to: `(status === ${status} || !NEVER_STORED.has(status));`,
        reddens: ONE_REQUEST,
      },
    ]),
  ),
  "ttl-is-for-failures": {
    name: "a route's ttl is for failures as well",
    file: LIFETIME,
    from: " && OBEYS_TTL.has(response.status)",
    to: "",
    reddens: ROUTE_TTL,
  },
  "odd-requests-are-plain": {
    name: "an error is stored whatever its request was",
    file: MAY_STORE,
    from: "isErrorStatus(status) && !request.isPlain",
    to: "false",
    reddens: NAMED_BY_VARY,
  },
  "unkeyed-fields-are-plain": {
    name: "a page is stored whatever its request was",
    file: "worker/rules/storing/may-store.ts",
    from: "unkeyedField(fields, names) !== null",
    to: "false",
    reddens: oddBy("a field that is not usual"),
  },
  "keyed-fields-are-odd": {
    name: "a field that Vary names counts as odd",
    file: "worker/rules/storing/may-store.ts",
    from: "unkeyedField(fields, names) !== null",
    to: "unkeyedField(fields, keyFields) !== null",
    reddens: NAMED_BY_VARY,
  },
  "odd-values-are-plain": {
    name: "a usual field is plain whatever its value",
    file: PLAIN,
    from: 'if (!form || (value !== "" && !form.test(value))) return name;',
    to: "if (!form) return name;",
    reddens: oddBy("a value with odd characters"),
  },
  "long-values-are-plain": {
    name: "a value is plain however long",
    file: PLAIN,
    from: " || value.length > MAX_VALUE_CHARACTERS",
    to: "",
    reddens: oddBy("a value of more than 1024 characters"),
  },
  "many-fields-are-plain": {
    name: "a request is plain however large",
    file: PLAIN,
    from: "characters > MAX_CHARACTERS || ",
    to: "",
    reddens: oddBy("more than 4096 characters of fields"),
  },
  "what-is-replaced-is-odd": {
    name: "what the edge replaces makes a request odd",
    file: PLAIN,
    from: "CONTINUED.has(name) || reachesOriginAsSent(name, inKey)",
    to: "true",
    reddens: "an error is stored if its request had a method override, which the origin does not see",
  },
  "odd-requests-speak-for-all": {
    name: "what the origin says to an odd request of what is stored counts for all",
    file: "worker/flow/storing/freshening.ts",
    from: "speaksForEverybody(facts.identity) && unkeyedField(facts.fields, keyed) === null",
    to: "speaksForEverybody(facts.identity)",
    reddens: "what the origin says to an odd request takes nothing away that is stored",
  },
  "odd-confirmation-is-not-shareable": {
    name: "after a confirmation for an odd request everybody fetches alone",
    file: "worker/flow/storing/fetch-and-store.ts",
    from: "outcomeOfPass(passBecause, stored.head.status)",
    to: '{ kind: "not-shareable" }',
    reddens: "an odd request that has a stale page confirmed leaves it as it was, and the next ones share one fetch",
  },
  "visitors-with-cookies-are-plain": {
    name: "a visitor's own error is stored",
    file: PLAIN,
    from: 'if (identity !== "anonymous") return false;',
    to: "",
    reddens: "an error for a visitor with cookies is not stored, also where the origin says that it is for all",
  },
  "followers-go-alone": {
    name: "who waited for an odd request fetches alone",
    file: "worker/rules/storing/not-stored.ts",
    from: "return status >= 400 && (",
    to: "return false && (",
    reddens: "who waited for an odd request does not get its error: they share one fetch of their own",
  },
};
