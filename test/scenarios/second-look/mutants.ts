import type { Mutants } from "../../mutants/mutant.ts";

const LOOK = "worker/flow/storing/second-look.ts";
const RULE = "worker/rules/request/second-look.ts";

/** Wrong rules under which a second look stores too much or too little. */
export const mutants: Mutants = {
  "nothing-is-looked-at": {
    name: "no second look is taken",
    file: LOOK,
    from: 'because !== "unkeyed-field"',
    to: "true",
    reddens: "second-look/plain-answer-is-stored",
  },
  "heads-are-looked-at": {
    name: "a second look is taken behind a HEAD that a GET has answered",
    file: LOOK,
    from: "if (answersHead) return null;",
    to: "",
    reddens: "second-look/none-for-a-head",
  },
  "choices-are-left-out": {
    name: "a second look asks without the visitor's language",
    file: LOOK,
    from: "new Fields(fields)",
    to: 'new Fields(fields.filter(([name]) => name !== "accept-language"))',
    reddens: "second-look/keeps-the-choice",
  },
  "any-status-is-stored": {
    name: "a plain answer of another status is stored",
    file: LOOK,
    from: "!decision.isLarge && response.status === status",
    to: "!decision.isLarge",
    reddens: "second-look/statuses-differ",
  },
  "credentials-are-left-out": {
    name: "a second look is taken without credentials",
    file: RULE,
    from: "speaksOfCredentials(name) || ",
    to: "",
    reddens: "second-look/none-for-credentials",
  },
  "sessions-are-looked-at": {
    name: "a second look is taken with a session's cookies",
    file: RULE,
    from: 'if (identity !== "anonymous") return null;',
    to: "",
    reddens: "second-look/none-for-session",
  },
  "usual-fields-are-left-out": {
    name: "a second look is taken without a field that every visitor sends",
    file: RULE,
    from: "isPlain || ",
    to: "",
    reddens: "second-look/none-for-odd-value",
  },
  "setting-is-not-read": {
    name: "second looks cannot be turned off",
    file: LOOK,
    from: "!route.looksAgain || ",
    to: "",
    reddens: "second-look/none-for-switched-off",
  },
  "route-is-not-heard": {
    name: "a route cannot turn second looks off",
    file: "worker/site/site.ts",
    from: "rules.secondLook ?? site.secondLook",
    to: "site.secondLook",
    reddens: "second-look/none-for-switched-off-for-route",
  },
  "marks-are-not-asked": {
    name: "a request with a field that chooses is answered from store",
    file: "worker/flow/corridor.ts",
    from: "passMarked(context) ?? ",
    to: "",
    reddens: "second-look/field-chooses",
  },
  "marks-are-for-all-routes": {
    name: "a field that chooses on one route passes on all",
    file: "worker/flow/storing/second-looks.ts",
    from: "mark.route === route && mark.until > now && has",
    to: "mark.until > now && has",
    reddens: "second-look/field-chooses",
  },
  "marks-have-no-end": {
    name: "a field that chose once passes for ever",
    file: "worker/flow/storing/second-looks.ts",
    from: "mark.route === route && mark.until > now && has",
    to: "mark.route === route && has",
    reddens: "second-look/field-chooses",
  },
  "random-pages-are-choices": {
    name: "a page that differs on every render counts as chosen by the field",
    file: RULE,
    from: 'compareSights(plain, again) === "alike"',
    to: 'compareSights(plain, again) !== "unlike"',
    reddens: "second-look/random-page",
  },
  "first-field-chooses": {
    name: "the first of several odd fields counts as the one that chooses",
    file: RULE,
    from: "leftOut.length === 1 && ",
    to: "",
    reddens: "second-look/several-fields",
  },
  "confirmations-are-enough": {
    name: "no second look is taken after a confirmation",
    file: "worker/flow/storing/fetch-and-store.ts",
    from: "lookAgainAfterConfirmation(context, notModified.fields, stored.head.status, notStored);",
    to: "",
    reddens: "second-look/after-a-confirmation",
  },
  "stamp-is-late": {
    name: "a second look is stamped when its answer comes",
    file: LOOK,
    from: "fields, stamp, fetchedAt",
    to: "fields, stamp: ports.purges.stamp(), fetchedAt",
    reddens: "second-look/purged-meanwhile",
  },
  "nobody-waits-for-a-look": {
    name: "nobody waits for a second look",
    file: LOOK,
    from: "collapsed.begin(key)",
    to: 'collapsed.begin("")',
    reddens: "second-look/plain-requests-wait",
  },
};
