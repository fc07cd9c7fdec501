import type { Mutants } from "../../mutants/mutant.ts";

/** Judges of `tidemark audit` that are wrong or taken away. */
export const mutants: Mutants = {
  "audit: what is passed on to others": {
    "answers are not compared by words": {
      in: "BETWEEN_VISITORS",
      replace: "[words, bytes, entityTag, setCookie, fields, formToken]",
      by: "[bytes, entityTag, setCookie, fields, formToken]",
      foundBy: "audit: words of one visitor's pages",
    },
    "answers are not compared by bytes": {
      in: "BETWEEN_VISITORS",
      replace: "[words, bytes, entityTag, setCookie, fields, formToken]",
      by: "[words, entityTag, setCookie, fields, formToken]",
      foundBy: "audit: a name that a tag hides from the words, in bytes that never change",
    },
    "answers are not compared by entityTag": {
      in: "BETWEEN_VISITORS",
      replace: "[words, bytes, entityTag, setCookie, fields, formToken]",
      by: "[words, bytes, setCookie, fields, formToken]",
      foundBy: "audit: an ETag",
    },
    "answers are not compared by setCookie": {
      in: "BETWEEN_VISITORS",
      replace: "[words, bytes, entityTag, setCookie, fields, formToken]",
      by: "[words, bytes, entityTag, fields, formToken]",
      foundBy: "audit: a cookie that was set, whose value is not shown",
    },
    "answers are not compared by fields": {
      in: "BETWEEN_VISITORS",
      replace: "[words, bytes, entityTag, setCookie, fields, formToken]",
      by: "[words, bytes, entityTag, setCookie, formToken]",
      foundBy: "audit: a field of the site's own",
    },
    "answers are not compared by formToken": {
      in: "BETWEEN_VISITORS",
      replace: "[words, bytes, entityTag, setCookie, fields, formToken]",
      by: "[words, bytes, entityTag, setCookie, fields, ]",
      foundBy: "audit: a form's token",
    },
    "canaries are not looked for": {
      in: "passedBetweenVisitors",
      replace: "canaries(given[maker.who] ?? [])",
      by: "canaries([])",
      foundBy: "audit: a canary, also one that is in no other page of its owner's",
    },
    "a canary counts, whoever is known to have it": {
      in: "canaries",
      replace: "own.every((each) => !placesOf(each, text).includes(where))",
      by: "own.length > 0",
      foundBy: "audit: a canary that stands in everybody's pages",
    },
    "a word of one rendering is taken for the visitor's": {
      in: "words",
      replace: "theirs.every((each) => each.has(word))",
      by: "theirs.length > 0",
      foundBy: "audit: a page that changes with each rendering, shared, and nobody's",
    },
    "a word counts, although one's own pages have it": {
      in: "words",
      replace: "!mine.has(word) &&",
      by: "",
      foundBy: "audit: a page that is the same for all",
    },
    "the status is not compared": {
      in: "marks:fields",
      replace: "return isTheirStatus ?",
      by: "return isTheirStatus && status === 0 ?",
      foundBy: "audit: the status",
    },
    "a field of one answer is taken for the visitor's": {
      in: "marks:fields",
      replace: "ofOther.every((each) => fieldOf(each, name) === text)",
      by: "ofOther.length > 0",
      foundBy: "audit: a field that is another in each answer",
    },
    "an ETag of one answer is taken for the visitor's": {
      in: "entityTag",
      replace: "ofOther.every((each) => tagOf(each) === tag)",
      by: "ofOther.length > 0",
      foundBy: "audit: an ETag that is new in each answer",
    },
    "a cookie counts, although everybody is given it": {
      in: "setCookie",
      replace: "&& !usual.has(pair)",
      by: "",
      foundBy: "audit: a cookie that everybody is given",
    },
    "what strangers get may be given to others": {
      in: "passedBetweenVisitors",
      replace: "(maker, receiver) => maker.who !== receiver.who,",
      by: '(maker, receiver) => maker.who !== receiver.who && maker.who !== "stranger",',
      foundBy: "audit: a stranger's page for a visitor with a session",
    },
    "inputs are not compared": {
      in: "passedBetweenInputs",
      replace: "(maker, receiver) => maker.who === receiver.who,",
      by: "() => false,",
      foundBy: "audit: a page made for one value of an input, given to a request without it",
    },
    "only the page that spreads counts": {
      in: "unkeyedFindings",
      replace: "passedBetweenInputs(record)",
      by: "passedBetweenInputs(record).filter(({ maker }) => maker.inputs.length > 0)",
      foundBy: "audit: a request with an input that got the page made for those without it",
    },
    "a new cookie in each answer counts as the doing of an input": {
      in: "BETWEEN_INPUTS",
      replace: "const BETWEEN_INPUTS: readonly Channel[] = [words,",
      by: "const BETWEEN_INPUTS: readonly Channel[] = [setCookie, words,",
      foundBy: "audit: an input that changes nothing, on a page that sets a new cookie in each answer",
    },
  },
  "audit: what is stored of one visitor": {
    "a stored answer is not asked for saidByDirectives": {
      in: "storedPersonal",
      replace: "...saidByDirectives(answer),",
      by: "",
      foundBy: "audit: private, and stored",
    },
    "a stored answer is not asked for saidBySetCookie": {
      in: "storedPersonal",
      replace: "...saidBySetCookie(answer, before),",
      by: "",
      foundBy: "audit: Set-Cookie, and stored",
    },
    "a stored answer is not asked for saidByAuthorization": {
      in: "storedPersonal",
      replace: "...saidByAuthorization(answer, sent(first!).authorization !== undefined),",
      by: "",
      foundBy: "audit: an answer to Authorization, and stored",
    },
    "a cookie that the edge adds counts as stored": {
      in: "saidBySetCookie",
      replace: "cookiesSet(answer).some((pair) => stored.has(pair))",
      by: "cookiesSet(answer).length > 0",
      foundBy: "audit: a cookie that the edge itself adds to each answer",
    },
    "no-store is not read": {
      in: "saidByDirectives",
      drop: 'if (cacheControl.noStore && !cacheControl.mustUnderstand) return ["no-store"];',
      foundBy: "audit: no-store, and stored",
    },
    "the field for browsers counts, whatever the one for CDNs says": {
      in: "saidByDirectives",
      wrap: '({ fields: { "cdn-cache-control": _, ...fields }, ...rest }) => original({ ...rest, fields })',
      foundBy: "audit: no-store for browsers, and a lifetime for CDNs",
    },
    "private for some fields counts as private": {
      in: "saidByDirectives",
      replace: 'cacheControl.private === "whole"',
      by: 'cacheControl.private !== "absent"',
      foundBy: "audit: private for one field alone",
    },
    "one's own stored page counts, although it varies by cookie": {
      in: "saidByVary",
      replace: "isByCookie && !hadSameCookies",
      by: "isByCookie",
      foundBy: "audit: Vary: Cookie, and a hit for the same cookies",
    },
    "a stored answer is not asked for what it varies by": {
      in: "saidByVary",
      replace: "isByCookie && !hadSameCookies",
      by: "false",
      foundBy: "audit: Vary: Cookie, and a hit for other cookies",
    },
    "another visitor counts as another with other cookies": {
      in: "storedPersonal",
      replace: "sent(each).cookie === sent(answer).cookie",
      by: "each.who === answer.who",
      foundBy: "audit: Vary: Cookie, and a hit for a visitor who has no cookies either",
    },
    "a tried cookie is not counted among the cookies": {
      in: "storedPersonal",
      replace: "credentialsOf(who, identities), inputs)",
      by: "credentialsOf(who, identities), [])",
      foundBy: "audit: Vary: Cookie, and a hit for a request with another cookie",
    },
    "another field counts as another cookie": {
      in: "storedPersonal",
      replace: "sent(each).cookie === sent(answer).cookie",
      by: "JSON.stringify(sent(each)) === JSON.stringify(sent(answer))",
      foundBy: "audit: Vary: Cookie, and a hit for a request with another field",
    },
    "an answer to Authorization may not be stored, even if it is for all": {
      in: "saidByAuthorization",
      replace: "wasAuthorized && !isForAll",
      by: "wasAuthorized",
      foundBy: "audit: an answer to Authorization that is for all",
    },
  },
  "audit: what comes from a store": {
    "every repeated answer is a stored one": {
      in: "isFromStore",
      replace: 'return answer.provenance === "hit";',
      by: "return true;",
      foundBy: "audit: private, and not stored",
    },
    "without a word in the answer nothing is known to be stored": {
      in: "isFromStore",
      replace: "return answer.digest === first.digest && neverGetsTheSame(record, partyOf(first));",
      by: "return false;",
      foundBy: "audit: private, and stored by a cache that tells no hits, of a page that is never the same twice",
    },
    "the same bytes are a stored answer": {
      in: "isFromStore",
      replace: "&& neverGetsTheSame(record, partyOf(first))",
      by: "",
      foundBy: "audit: private, from a cache that tells no hits, of a page that never changes",
    },
  },
  "audit: what findings show": {
    "the value of a cookie is shown": {
      in: "cookieShown",
      replace: "${masked(pair.slice(equals + 1))}",
      by: "${pair.slice(equals + 1)}",
      foundBy: "audit: a cookie that was set, whose value is not shown",
    },
    "a form's token is shown": {
      in: "shownMark",
      drop: "if (speaksOfCredentials(where.toLowerCase())) return masked(text);",
      foundBy: "audit: a form's token",
    },
    "credentials in pages are shown": {
      in: "shownText",
      replace: "if (secret.length >= MIN_SECRET) shown =",
      by: "if (secret.length > 1000) shown =",
      foundBy: "audit: credentials that a page repeats are masked",
    },
  },
};
