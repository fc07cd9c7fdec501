import type { Explanation } from "../explanation.ts";

/** Why a stored response does not answer. */
const UNUSABLE: Readonly<Record<string, string>> = {
  stale: "its lifetime is over",
  "no-cache": "its Cache-Control requires validation each time",
  "request-directive": "the request's Cache-Control asks for a fresher one",
  "purge-state-unknown": "the purge log does not answer, so it may have been purged",
  unverifiable: "it may have been purged: this isolate has not yet read the purges since it was fetched",
  invalidated: "a request with an unsafe method has invalidated it",
  "soft-purge": "a soft purge has made it stale",
  purged: "it was purged",
  authorization: "it may not answer requests with Authorization",
  session: "it may not answer visitors with a session",
};

const USABLE: Readonly<Record<string, string>> = {
  "stale-while-revalidate":
    "it is stale, but its stale-while-revalidate allows this; the edge fetches it again after the answer",
  "stale.whileRevalidate":
    "it is stale, but the site's stale.whileRevalidate allows this; the edge fetches it again after the answer",
  "soft-purge": "a soft purge has made it stale; it may still answer, and the edge fetches it again after that",
  "max-stale": "it is stale, but the request's max-stale allows this",
};

const BYPASSED: Readonly<Record<string, string>> = {
  "bypass-cookie": "it has a cookie that bypass names",
  "bypass-field": "it has a field that bypass names",
  "bypass-query": "its URL has a parameter that bypass names",
  "bypass-session": "its URL has a session",
  "route-condition": "its query does not meet the route's condition",
  method: "its method is neither GET nor HEAD",
  pass: "the route has pass: true",
  condition: "it has a condition that only the origin can check, or asks for a WebSocket",
};

const FETCHED: Readonly<Record<string, string>> = {
  "only-if-cached": "The request accepts only a stored answer, so it gets 504.",
  forward: "The origin gets the request as it is.",
  part: "The edge asks the origin for the part.",
  date: "The edge asks the origin by the request's If-Modified-Since.",
  "fetch-for-one": "The edge asks the origin for this visitor only.",
  "head-by-get": "The edge asks the origin with GET, so that it can store the page.",
  head: "The edge asks the origin with HEAD.",
  "fetch-unstored": "The edge asks the origin for this request only, because its Cache-Control says no-store.",
  fetch: "The edge asks the origin.",
};

const STORED: Readonly<Record<string, string>> = {
  no: "The answer is not stored.",
  yes: "The answer is stored if its own fields allow that.",
  "if-for-everybody": "With cookies that count, the answer is stored only if it is public or has an s-maxage.",
  "if-wholly-for-everybody":
    "With Authorization, the answer is stored only if it is public or has an s-maxage, and is no error.",
};

const OTHERS: Readonly<Record<string, string>> = {
  "last-hop": "Max-Forwards lets the request go no further, so the edge itself answers.",
  "queue-full": "The origin has as many requests as it may get, and no more may wait, so this one gets no turn.",
  "origin-down": "The origin is down, so only one request a second waits for it.",
  "origin-busy": "The origin has as many requests as it may get, and others wait, so this one waits too.",
  follow: "Another request is fetching the same page, so this one waits for its answer.",
  "hit-for-miss": "The last answer could not be stored, so for some seconds each request fetches alone.",
  revalidate:
    "It is asked with the validators of the stored response: if it answers 304, that response is the answer (REVALIDATED).",
  part: "The edge asks the origin for the whole page or, if that is too large, for the part.",
};

const STANDS_IN: Readonly<Record<string, string>> = {
  "stale-if-error": "If the origin fails, the stored response is the answer (STALE): stale-if-error allows this.",
  "stale.ifError":
    "If the origin fails, the stored response is the answer (STALE): the site's stale.ifError allows this.",
  "stale.ifDisconnected":
    "If the origin gives no answer, the stored response is the answer (STALE): the site's stale.ifDisconnected allows this.",
};

const CLIENTS: Readonly<Record<string, string>> = {
  editor: "It goes first in the queue for the origin, because it is a refresh or has the receipt of a purge.",
  known: "It goes ahead in the queue for the origin, because the origin set its session at least ten minutes ago.",
  other: "Its place in the queue for the origin depends on how many requests came from its address lately.",
};

/** The steps of an explanation in sentences. */
export function stepTexts(explanation: Explanation): string[] {
  const { route, key, steps, lastRefusal } = explanation;
  if (key === null && steps[0]?.step === "refuse") return [`The edge refuses this URL: ${steps[0].because}.`];
  if (key === null) return ["The control plane answers, to which all of /_tidemark/ belongs."];
  const path = /^[^/]*\/\/[^/]*([^?]*)/.exec(key)![1]!;
  return [
    route === null
      ? `No route matches ${path}: the fields of the origin's answer decide.`
      : `${route} is the first route that matches ${path}.`,
    ...steps.map((each, index) => stepText(each, isAnswer(steps, index), explanation)),
    ...(lastRefusal ? [`The last answer, at ${lastRefusal.at}, was not stored: ${lastRefusal.because}.`] : []),
  ];
}

/** Whether a step is the answer: the last one, not counting the form in which it is sent. */
function isAnswer(steps: Explanation["steps"], index: number): boolean {
  return steps.slice(index + 1).every(({ step }) => step === "coding" || step === "delta");
}

function stepText({ step, because }: Explanation["steps"][number], isLast: boolean, explanation: Explanation): string {
  const reason = because ?? "";
  const field = /^unkeyed-field:(.*)$/.exec(reason)?.[1];
  switch (step) {
    case "memory":
    case "sharedTier": {
      const place = step === "memory" ? "Memory" : "The shared tier";
      if (reason === "nothing") return `${place} has nothing under this key.`;
      if (reason === "other-variants") return `${place} has no variant for this request.`;
      const forSeconds = explanation[step]?.freshForSeconds ?? 0;
      if (reason === "fresh") return `${place} has the answer: it is fresh for ${forSeconds} s more.`;
      if (isLast) return `${place} has the answer: ${USABLE[reason] ?? reason}.`;
      return `${place} has a response that may not answer: ${UNUSABLE[reason] ?? reason}.`;
    }
    case "bypass": {
      const why =
        field === undefined
          ? (BYPASSED[reason] ?? reason)
          : `second looks found that its field ${field} changes the page`;
      return `The request goes past the cache: ${why}. The answer is not stored.`;
    }
    case "fetch":
      return FETCHED[reason] ?? reason;
    case "store":
      if (field === undefined) return STORED[reason] ?? reason;
      return (
        `The answer is stored only if Vary, key.fields, fields.drop or fields.trust names ${field}, or if second looks ` +
        "find that it changes nothing: usual fields get no looks, credentials neither looks nor trust."
      );
    case "stale-if-error":
      return STANDS_IN[reason] ?? reason;
    case "refresh":
      if (reason !== "") return `The token in Tidemark-Refresh is refused: ${reason}.`;
      return "The request is a refresh: the edge fetches the page and replaces what is stored.";
    case "client":
      return CLIENTS[reason] ?? reason;
    case "coding":
      return codingText(reason);
    case "delta":
      return deltaText(reason);
    default:
      return OTHERS[step] ?? [step, reason].join(" ").trim();
  }
}

/** Why a stored response is sent plain. */
const PLAIN: Readonly<Record<string, string>> = {
  status: "only a 200 is compressed",
  encoded: "the origin sent it encoded",
  "no-transform": "its Cache-Control says no-transform",
  digest: "it has a digest or signature of its bytes",
  type: "the edge does not compress its Content-Type",
  size: "its body is too small or too large",
  part: "parts are cut from the plain bytes",
  "not-wanted": "the request's Accept-Encoding accepts none of the codings that the edge makes",
  "not-smaller": "compressing it did not make it smaller",
};

function codingText(reason: string): string {
  const [, coding, when] = /^(br|gzip|zstd|dcb|dcz)(-later|-if-made)?$/.exec(reason) ?? [];
  if (coding === undefined) return `It is sent plain: ${PLAIN[reason] ?? reason}.`;
  if (when === "-later")
    return `It is sent plain; after the answer the edge compresses it as ${coding} for later requests.`;
  const condition = when === "-if-made" ? ", if the edge has made that form already" : "";
  return `It is sent compressed as ${coding}${condition}.`;
}

/** Why a stored response is sent without a delta. */
const WHOLE: Readonly<Record<string, string>> = {
  status: "only a 200 can be one",
  type: "its Content-Type is not a text type",
  size: "its body is smaller than 1 KiB or larger than 10 MiB",
  keyed: "something besides its path selects it",
  insecure: "browsers use dictionaries only over https",
  private: "its Cache-Control is private, for the whole response or for a field",
  "no-browser-lifetime": "browsers get neither a lifetime nor stale-while-revalidate for it",
  "own-dictionary": "the origin sends its own Use-As-Dictionary",
  "hash-alone": "its whole file name is a hash, so the next version cannot be matched to it",
};

const NOT_BY_ONE: Readonly<Record<string, string>> = {
  "not-wanted": "the request names none, or prefers other codings to dcz and dcb",
  credentials: "the request has Authorization",
  "unknown-dictionary": "the version that the request names is not kept here, or no longer",
  "not-admitted": "this worker does not know yet that everybody may see these bytes",
};

function deltaText(reason: string): string {
  const [, coding, hash] = /^(dcz|dcb) (.+)$/.exec(reason) ?? [];
  if (hash !== undefined) {
    return `The visitor has the version with the SHA-256 ${hash}, and gets the changes since then as ${coding}, once the edge has made them.`;
  }
  const why = NOT_BY_ONE[reason];
  return why === undefined
    ? `It is not offered as a dictionary: ${WHOLE[reason] ?? PLAIN[reason] ?? reason}.`
    : `No delta from an older version is sent: ${why}.`;
}
