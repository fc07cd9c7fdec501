import type { Mutants } from "./mutant.ts";

const PURGE = "worker/control/purge.ts";
const ITEMS = "worker/control/named-items.ts";

/** Wrong rules of what a purge names, and who may send one. */
export const purging: Mutants = {
  "tags-ignore-case": {
    name: "tags that differ in case are one",
    file: "worker/rules/key/purge-key.ts",
    from: "tagPurgeKey(tag: string): string {",
    to: "tagPurgeKey(cased: string): string {\n  const tag = cased.toLowerCase();",
    reddens: "tags differ in case",
  },
  "origin-tags-are-not-read": {
    name: "the tags that the origin names are not kept",
    file: "worker/rules/storing/tags.ts",
    from: 'if (tag !== "") tags.add(tag);',
    to: "tags.size;",
    reddens: "a purge by tag takes what carries the tag, and nothing else",
  },
  "a-tag-takes-all": {
    name: "a purge by tag takes everything",
    file: "worker/rules/key/purge-key.ts",
    from: "return `#$",
    to: "return EVERYTHING_PURGE_KEY || `#$",
    reddens: "a purge by tag takes what carries the tag, and nothing else",
  },
  "route-tags-are-not-kept": {
    name: "the tags of a route are not kept",
    file: "worker/rules/storing/tags.ts",
    from: "new Set(routeTags)",
    to: "new Set<string>()",
    reddens: "a route's tags count like the origin's",
  },
  "path-is-for-one-host": {
    name: "a relative URL is purged on one host only",
    file: ITEMS,
    from: "relative ? pathPurgeKey(pathAndQuery) : ",
    to: "",
    reddens: "a relative URL is purged on every host, a whole one on its host, for http and https",
  },
  "url-is-for-every-host": {
    name: "a whole URL is purged on every host",
    file: ITEMS,
    from: "urlPurgeKey(target.host, pathAndQuery)",
    to: "pathPurgeKey(pathAndQuery)",
    reddens: "a relative URL is purged on every host, a whole one on its host, for http and https",
  },
  "url-is-purged-as-written": {
    name: "a URL is purged in the spelling that the purge has",
    file: ITEMS,
    from: "pathPurgeKey(pathAndQuery) :",
    to: "pathPurgeKey(url) :",
    reddens: "a purge finds a page under any spelling of its URL that shares the key",
  },
  "everything-is-nothing": {
    name: "a purge of everything finds nothing",
    file: "worker/flow/storing/storage-decision.ts",
    from: "[EVERYTHING_PURGE_KEY, ",
    to: "[",
    reddens: "everything is everything",
  },
  "good-items-are-purged": {
    name: "a purge with a bad item purges the good ones",
    file: PURGE,
    from: "if (named.errors.length > 0)",
    to: "if (named.errors.length > 0 && named.keys.length === 0)",
    reddens: "a bad item rejects the whole purge, and nothing is applied",
  },
  "id-is-for-any-items": {
    name: "an id that was used for other items is taken for a replay",
    file: "worker/purges/log/log.ts",
    from: "first && (first.content !== purge.content || first.mode !== mode)",
    to: "false",
    reddens: "a purge that is tried again with its id happens once; the same id for other items is refused",
  },
  "replay-is-a-new-purge": {
    name: "a purge that is sent again gets a new number",
    file: "worker/purges/log/log.ts",
    from: "first?.seq ?? this.#addNew(purge, mode, now, settlesInMs)",
    to: "this.#addNew(first ? { ...purge, id: null } : purge, mode, now, settlesInMs)",
    reddens: "a purge that is tried again with its id happens once; the same id for other items is refused",
  },
  "purge-goes-to-the-origin": {
    name: "the method PURGE is written through to the origin",
    file: "worker/isolate.ts",
    from: 'request.method === "PURGE" || isControl(url)\n',
    to: "isControl(url)\n",
    reddens: "PURGE on a URL purges that URL",
  },
  "silence-is-a-conflict": {
    name: "a purge that did not reach the log is told as a conflict",
    file: PURGE,
    from: 'return { kind: "unavailable", cause };',
    to: 'return { kind: "conflict" };',
    reddens: "while the log is silent, a purge is refused and says that it may be sent again",
  },
  "anybody-may-purge": {
    name: "a purge without a token is carried out",
    file: "worker/control/app.ts",
    from: 'verdict.kind === "allowed") return { kind: "allowed", name: verdict.name, token: token! }',
    to: '!token || verdict.kind === "allowed") return { kind: "allowed", name: "", token: "" }',
    reddens: "a wrong or missing token purges nothing",
  },
  "wrong-token-may-purge": {
    name: "a purge with a wrong token is carried out",
    file: "worker/control/app.ts",
    from: 'verdict.kind === "allowed") return { kind: "allowed", name: verdict.name, token: token! }',
    to: 'token) return { kind: "allowed", name: "", token }',
    reddens: "a wrong or missing token purges nothing",
  },
  "anybody-may-refresh": {
    name: "a refresh without the right token is carried out",
    file: "worker/flow/corridor.ts",
    from: 'if (verdict.kind === "refused")',
    to: "if (false)",
    reddens: "a refresh needs the token, stores what comes, and says BYPASS",
  },
  "refresh-is-not-carried-out": {
    name: "a purge does not fetch anew what it was asked to",
    file: PURGE,
    from: "request.refresh ? named.refresh : []",
    to: "[]",
    reddens: "a purge can fetch its URLs anew: the refreshed page is stored, and survives its own purge",
  },
};
