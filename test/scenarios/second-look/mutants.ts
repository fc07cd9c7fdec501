import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules under which a second look stores too much or too little. */
export const mutants: Mutants = {
  "docs/http.md#second-looks": {
    "no second look is taken": {
      in: "plainOf",
      replace: 'because !== "unkeyed-field"',
      by: "true",
      foundBy: "second-look/plain-answer-is-stored",
    },
    "a follower whose idle field was left out gets what was fetched without it, also if the page varies by it": {
      in: "follow",
      replace: "context.reduced?.asSent ?? context",
      by: "context",
      foundBy: "second-look/idle-field-and-followers",
    },
    "a second look is taken behind a HEAD that a GET has answered": {
      in: "plainOf",
      drop: "if (answersHead) return null;",
      foundBy: "second-look/none-for-a-head",
    },
    "a second look asks without the visitor's language": {
      in: "look",
      replace: "withFields(fields)",
      by: 'withFields(fields.filter((name) => name !== "accept-language"))',
      foundBy: "second-look/keeps-the-choice",
    },
    "a plain answer of another status is stored": {
      in: "fetchPlainly",
      replace: "!decision.isLarge && response.status === status",
      by: "!decision.isLarge",
      foundBy: "second-look/statuses-differ",
    },
    "a second look is taken without credentials": {
      in: "plainRequest",
      replace: "speaksOfCredentials(name) ||",
      by: "",
      foundBy: "second-look/none-for-credentials",
    },
    "a second look is taken without an Origin": {
      in: "plainRequest",
      replace: 'name === "origin" ||',
      by: "",
      foundBy: "second-look/none-for-cross-origin",
    },
    "a second look is taken with a session's cookies": {
      in: "plainRequest",
      drop: 'if (identity !== "anonymous") return null;',
      foundBy: "second-look/none-for-session",
    },
    "a second look is taken with a session's cookies beside credentials": {
      in: "plainOf",
      replace: "facts.authorized && !facts.visitor.cookies.identifying",
      by: "facts.authorized",
      foundBy: "second-look/none-for-session-beside-credentials",
    },
    "no second look is taken behind an answer to credentials": {
      in: "plainOf",
      replace: "facts.authorized && !facts.visitor.cookies.identifying",
      by: "false",
      foundBy: "second-look/with-credentials",
    },
    "a field that chooses in one folder passes on the whole route": {
      in: "SecondLooks.markedField",
      replace: "mark.until > now && isIn(mark)",
      by: "mark.until > now",
      foundBy: "second-look/other-folder",
    },
    "fields that choose nothing are never left out": {
      in: "withoutIdleFields",
      replace: "idleFields.isEmpty ||",
      by: "true ||",
      foundBy: "second-look/idle-field",
    },
    "one second look is enough to leave a field out": {
      in: "LOOKS",
      replace: "const LOOKS = 3;",
      by: "const LOOKS = 1;",
      foundBy: "second-look/idle-field",
    },
    "a field that is idle in one folder is left out in all": {
      in: "idle-fields:keyOf",
      replace: "`${field} ${folder} ${route}`",
      by: "`${field} ${folder.length > 99} ${route}`",
      foundBy: "second-look/idle-field",
    },
    "a visitor gets an answer without an idle field that is not stored": {
      in: "toAskAgainAsSent",
      replace: 'decision.kind === "store" && !leftOut',
      by: "!leftOut",
      foundBy: "second-look/idle-field-matters",
    },
    "a field that mattered is left out again": {
      in: "IdleFields.refute",
      replace: "else this.#records.delete(keyOf(place, field));",
      by: "",
      foundBy: "second-look/idle-field-matters",
    },
    "a visitor gets an answer without an idle field that varies by it": {
      in: "toAskAgainAsSent",
      replace: "names.includes(name)",
      by: "false",
      foundBy: "second-look/idle-field-in-vary",
    },
    "a private answer to credentials shows that a field matters to others": {
      in: "IdleFields.refute",
      replace: "record && !isAnonymous",
      by: "record && false",
      foundBy: "second-look/idle-for-others",
    },
    "a framework's field is left out": {
      in: "IdleFields.learn",
      replace: "!mayChoosePart(field)",
      by: "true",
      foundBy: "second-look/framework-field",
    },
    "looks count although another one found a difference between them": {
      in: "IdleFields.learn",
      replace: 'if (because !== "alike") this.#records.delete(key);',
      by: 'if (because !== "alike") continue;',
      foundBy: "second-look/not-in-a-row",
    },
    "a second look is taken without a field that every visitor sends": {
      in: "plainRequest",
      replace: "isPlain ||",
      by: "",
      foundBy: "second-look/none-for-odd-value",
    },
    "second looks cannot be turned off": {
      in: "plainOf",
      replace: "!route.looksAgain ||",
      by: "",
      foundBy: "second-look/none-for-switched-off",
    },
    "a route cannot turn second looks off": {
      in: "compileRoute",
      replace: "rules.secondLook ?? site.secondLook",
      by: "site.secondLook",
      foundBy: "second-look/none-for-switched-off-for-route",
    },
    "a request with a field that chooses is answered from store": {
      in: "entryOf",
      replace: "marked(context) ??",
      by: "",
      foundBy: "second-look/field-chooses",
    },
    "a field that chooses on one route passes on all": {
      in: "SecondLooks.markedField",
      replace: "mark.route === route && mark.until > now && isIn",
      by: "mark.until > now && isIn",
      foundBy: "second-look/field-chooses",
    },
    "a field that chose once passes for ever": {
      in: "SecondLooks.markedField",
      replace: "mark.route === route && mark.until > now && isIn",
      by: "mark.route === route && isIn",
      foundBy: "second-look/field-chooses",
    },
    "a page that differs on every render counts as chosen by the field": {
      in: "fieldThatChooses",
      replace: 'compareAnswers(plain, again) === "alike"',
      by: 'compareAnswers(plain, again) !== "unlike"',
      foundBy: "second-look/random-page",
    },
    "the first of several odd fields counts as the one that chooses": {
      in: "fieldThatChooses",
      replace: "suspects.length === 1",
      by: "true",
      foundBy: "second-look/several-fields",
    },
    "no second look is taken after a confirmation": {
      in: "answerFreshened",
      drop: "lookAgainAfterConfirmation(context, notModified.fields, stored.head.status, notStored);",
      foundBy: "second-look/after-a-confirmation",
    },
    "nobody waits for a second look": {
      in: "look",
      replace: "beginFetch(plain)",
      by: 'beginFetch({ ...plain, resolved: { ...resolved, cacheKey: "" } })',
      foundBy: "second-look/plain-requests-wait",
    },
    "a second look is taken although a plain answer could not be stored just now": {
      in: "look",
      replace: "beginFetch(plain)",
      by: "isolate.collapsed.begin({ page: resolved.cacheKey, variant: [], audience: 'anonymous' }, true)",
      foundBy: "second-look/none-where-nothing-could-be-stored",
    },
    "that a second look could not be stored is forgotten": {
      in: "fetchPlainly",
      drop: 'if (decision.kind === "not-stored") tellFollowers(outcomeOfNotStored(decision.because, response.status));',
      foundBy: "second-look/none-where-nothing-could-be-stored",
    },
  },
  R1: {
    "a second look is stamped when its answer comes": {
      in: "fetchPlainly",
      replace: "decideStorage(context, response)",
      by: "decideStorage(context, { ...response, stamp: ports.purges.stamp() })",
      foundBy: "second-look/purged-meanwhile",
    },
  },
};
