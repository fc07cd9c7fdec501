import type { Explanation } from "../explanation.ts";

/** Why a stored response does not answer. */
const UNUSABLE: Readonly<Record<string, string>> = {
  stale: "its lifetime is over",
  "no-cache": "its Cache-Control requires validation each time",
  "request-directive": "the request's Cache-Control asks for a fresher one",
  "purge-state-unknown": "the purge log is silent, so it may have been purged",
  unverifiable: "it may have been purged, because this isolate has not read the purges since its fetch",
  invalidated: "a request with an unsafe method has invalidated it",
  "soft-purge": "a soft purge has made it stale",
  purged: "it was purged",
  authorization: "it is not for requests with Authorization",
  session: "it is not for visitors with a session",
};

const USABLE: Readonly<Record<string, string>> = {
  "stale-while-revalidate":
    "it is stale, but its stale-while-revalidate allows it, and it is fetched again after the answer",
  "stale.whileRevalidate":
    "it is stale, but stale.whileRevalidate of the site allows it, and it is fetched again after the answer",
  "soft-purge": "a soft purge has made it stale, so it answers once more and is fetched again after the answer",
  "max-stale": "it is stale, but the request's max-stale allows it",
};

const BYPASSED: Readonly<Record<string, string>> = {
  "bypass-cookie": "it has a cookie that bypass names",
  "bypass-field": "it has a field that bypass names",
  "bypass-query": "its URL has a parameter that bypass names",
  "route-condition": "its query does not meet the route's condition for storing",
  method: "its method is neither GET nor HEAD",
  pass: "the route passes everything",
  condition: "it has a condition that only the origin can check, or asks for a WebSocket",
};

const FETCHED: Readonly<Record<string, string>> = {
  "only-if-cached": "The request accepts only a stored answer, so it gets 504.",
  forward: "The request is passed on to the origin as it is.",
  "fetch-for-one": "The origin is asked for this visitor alone.",
  "head-by-get": "The origin is asked for the page by GET, so that it can be stored.",
  head: "The origin is asked by HEAD.",
  "fetch-unstored": "The origin is asked for this request alone, because its Cache-Control says no-store.",
  fetch: "The origin is asked.",
};

const STORED: Readonly<Record<string, string>> = {
  no: "The answer is not stored.",
  yes: "The answer is stored if its own fields allow that.",
  "if-for-everybody": "With cookies that count, the answer is stored only if it is public or has an s-maxage.",
  "if-wholly-for-everybody":
    "With Authorization, the answer is stored only if it is public or has an s-maxage, and is no error.",
};

const OTHERS: Readonly<Record<string, string>> = {
  "last-hop": "Max-Forwards lets the request go no further, so the edge answers it itself.",
  refresh: "If the token of Tidemark-Refresh has the scope purge, the page is fetched and stored, whatever is stored.",
  "origin-busy": "The origin has as many requests as it may, and others are waiting, so this one waits, too.",
  follow: "Another request is fetching the same page already, so this one waits for that answer.",
  "hit-for-miss": "The last answer could not be stored, so for some seconds no request waits for another one's fetch.",
  revalidate: "It is asked with the validators of what is stored: if it answers 304, that is the answer (REVALIDATED).",
  part: "The whole page is fetched. If it is too large to keep for one part, the origin is asked again for the part alone.",
};

const STANDS_IN: Readonly<Record<string, string>> = {
  "stale-if-error": "If the origin fails, the stored response is the answer (STALE): stale-if-error allows it.",
  "stale.ifError":
    "If the origin fails, the stored response is the answer (STALE): stale.ifError of the site allows it.",
  "stale.ifDisconnected":
    "If the origin gives no answer, the stored response is the answer (STALE): stale.ifDisconnected of the site allows it.",
};

const CLIENTS: Readonly<Record<string, string>> = {
  editor: "In the queue for the origin it goes before others, because it has the receipt of a purge.",
  known:
    "In the queue for the origin it goes before others, because the origin set its session at least ten minutes ago.",
  other: "Its place in the queue for the origin depends on how much its address has had of the origin lately.",
};

/** The steps of an explanation in sentences. */
export function stepTexts(explanation: Explanation): string[] {
  const { route, key, steps, lastRefusal } = explanation;
  if (key === null) return [`The edge refuses this URL: ${steps[0]?.because}.`];
  const path = /^[^/]*\/\/[^/]*([^?]*)/.exec(key)![1]!;
  return [
    route === null
      ? `No route matches ${path}: the fields of the origin's answer decide.`
      : `${route} is the first route that matches ${path}.`,
    ...steps.map((each, index) => stepText(each, isAnswer(steps, index), explanation)),
    ...(lastRefusal ? [`The last answer, at ${lastRefusal.at}, was not stored: ${lastRefusal.because}.`] : []),
  ];
}

/** Whether a step is the answer: the last one, but for the form in which it is sent. */
function isAnswer(steps: Explanation["steps"], index: number): boolean {
  return steps.slice(index + 1).every(({ step }) => step === "coding" || step === "delta");
}

function stepText(
  { step, because }: Explanation["steps"][number],
  isLast: boolean,
  { memory, sharedTier }: Explanation,
): string {
  const reason = because ?? "";
  const field = /^unkeyed-field:(.*)$/.exec(reason)?.[1];
  switch (step) {
    case "memory":
    case "sharedTier": {
      const place = step === "memory" ? "Memory" : "The shared tier";
      if (reason === "nothing") return `${place} has nothing under this key.`;
      if (reason === "other-variants") return `${place} has no variant that the request selects.`;
      const forSeconds = (step === "memory" ? memory : sharedTier)?.freshForSeconds ?? 0;
      if (reason === "fresh") return `${place} has the answer: it is fresh for ${forSeconds} s more.`;
      if (isLast) return `${place} has the answer: ${USABLE[reason] ?? reason}.`;
      return `${place} has a response that may not answer: ${UNUSABLE[reason] ?? reason}.`;
    }
    case "bypass": {
      const why =
        field === undefined
          ? (BYPASSED[reason] ?? reason)
          : `a second look found that its field ${field} chooses the page`;
      return `The request goes past the cache: ${why}. The answer is not stored.`;
    }
    case "fetch":
      return FETCHED[reason] ?? reason;
    case "store":
      if (field === undefined) return STORED[reason] ?? reason;
      return (
        `It is not known whether the field ${field} chooses the answer: that is stored only if Vary names the field, or if ` +
        "second looks have found that the field chooses nothing."
      );
    case "stale-if-error":
      return STANDS_IN[reason] ?? reason;
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
  encoded: "the origin has sent it encoded",
  "no-transform": "its Cache-Control says no-transform",
  digest: "it has a digest or a signature of its bytes",
  type: "the edge does not compress its Content-Type",
  size: "its body is too small or too large",
  part: "parts are cut from the plain bytes",
  "not-wanted": "the request's Accept-Encoding accepts none of the codings that the edge makes",
  "not-smaller": "compressing it did not make it smaller",
};

function codingText(reason: string): string {
  const [, coding, when] = /^(br|gzip|zstd|dcb|dcz)(-later|-if-made)?$/.exec(reason) ?? [];
  if (coding === undefined) return `It is sent plain: ${PLAIN[reason] ?? reason}.`;
  if (when === "-later") return `It is sent plain, and compressed as ${coding} after the answer, for later requests.`;
  const condition = when === "-if-made" ? ", if that has been made" : "";
  return `It is sent compressed as ${coding}${condition}.`;
}

/** Why a stored response is sent without what the visitor holds. */
const WHOLE: Readonly<Record<string, string>> = {
  status: "only a 200 is one",
  encoded: "the origin has sent it encoded",
  "no-transform": "its Cache-Control says no-transform",
  digest: "it has a digest or a signature of its bytes",
  type: "its Content-Type is not one of text",
  size: "its body is smaller than 1 KiB or larger than 10 MiB",
  keyed: "something beside its path selects it",
  insecure: "browsers use none over http",
  private: "it is private for browsers, or a field of it is",
  "no-browser-lifetime": "it gives browsers neither a lifetime nor stale-while-revalidate",
  "own-dictionary": "the origin has its own Use-As-Dictionary",
  "hash-alone": "its whole name is a hash, so that nothing tells its next version",
};

const NOT_BY_ONE: Readonly<Record<string, string>> = {
  "not-wanted": "the request names none, or does not accept dcz and dcb as gladly as other codings",
  credentials: "the request has Authorization",
  "unknown-dictionary": "the version that the request names is not kept here, or not any more",
  "not-admitted": "this worker has not seen yet that everybody may see these bytes",
};

function deltaText(reason: string): string {
  const [, coding, hash] = /^(dcz|dcb) (.+)$/.exec(reason) ?? [];
  if (hash !== undefined) {
    return `The visitor holds the version with the SHA-256 ${hash}, and gets what has changed since as ${coding}, once that is made.`;
  }
  const why = NOT_BY_ONE[reason];
  return why === undefined ? `It is no dictionary: ${WHOLE[reason] ?? reason}.` : `No older version is used: ${why}.`;
}
