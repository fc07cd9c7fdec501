import type { Mutants } from "./mutant.ts";

const ANSWERS = "worker/flow/answering/answers.ts";
const FROM_STORE = "worker/flow/answering/answer-from-store.ts";
const FLOW = "worker/flow/corridor.ts";

/** Wrong rules of what is answered from store, and how. */
export const reuse: Mutants = {
  "age-is-not-told": {
    name: "an answer from store does not tell its age",
    file: ANSWERS,
    from: 'fields.set("age", String(metadata.ageSeconds));',
    to: "",
    reddens: "a fresh response is answered from store, with its age",
  },
  "head-has-a-body": {
    name: "a HEAD is answered with the stored body",
    file: FROM_STORE,
    from: 'if (facts.method === "HEAD")',
    to: "if (false)",
    reddens: "HEAD is answered from a stored GET, with its length and without a body",
  },
  "head-tells-no-length": {
    name: "a HEAD is answered without the stored length",
    file: FROM_STORE,
    from: 'headFields.set("content-length", String(head.bodyBytes));',
    to: "{}",
    reddens: "HEAD is answered from a stored GET, with its length and without a body",
  },
  "post-is-looked-up": {
    name: "a POST is looked up like a GET",
    file: "worker/rules/request/request-facts.ts",
    from: 'if (method !== "GET" && method !== "HEAD")',
    to: 'if (method !== "GET" && method !== "HEAD" && method !== "POST")',
    reddens: "POST goes to the origin with its body and is never answered from store",
  },
  "put-is-looked-up": {
    name: "a PUT is looked up like a GET",
    file: "worker/rules/request/request-facts.ts",
    from: 'if (method !== "GET" && method !== "HEAD")',
    to: 'if (method !== "GET" && method !== "HEAD" && method !== "PUT")',
    reddens: "PUT goes to the origin with its body and is never answered from store",
  },
  "patch-is-looked-up": {
    name: "a PATCH is looked up like a GET",
    file: "worker/rules/request/request-facts.ts",
    from: 'if (method !== "GET" && method !== "HEAD")',
    to: 'if (method !== "GET" && method !== "HEAD" && method !== "PATCH")',
    reddens: "PATCH goes to the origin with its body and is never answered from store",
  },
  "delete-is-looked-up": {
    name: "a DELETE is looked up like a GET",
    file: "worker/rules/request/request-facts.ts",
    from: 'if (method !== "GET" && method !== "HEAD")',
    to: 'if (method !== "GET" && method !== "HEAD" && method !== "DELETE")',
    reddens: "DELETE goes to the origin with its body and is never answered from store",
  },
  "part-is-not-looked-up": {
    name: "a stored page does not answer a request for a part",
    file: "worker/rules/request/request-facts.ts",
    from: "if (passes || ",
    to: 'if (passes || field("range") !== null || ',
    reddens: "a request for a part that misses is passed on with its Range, and the part is not stored",
  },
  "tags-are-compared-strongly": {
    name: "a weak entity tag does not match the strong one of the stored page",
    file: "worker/rules/validation/not-modified.ts",
    from: "matchesWeakly(tag, etag)",
    to: "tag === etag",
    reddens: "a client that holds the stored page gets a 304 from store, with the fields that it needs and no others",
  },
  "every-tag-matches": {
    name: "any entity tag of a client is taken for the stored page's",
    file: "worker/rules/validation/not-modified.ts",
    from: "matchesWeakly(tag, etag)",
    to: "true",
    reddens: "a client that holds the stored page gets a 304 from store, with the fields that it needs and no others",
  },
  "not-modified-has-all-fields": {
    name: "a 304 has all fields of the stored page",
    file: ANSWERS,
    from: ".filter(([name]) => NOT_MODIFIED_FIELDS.has(name))",
    to: "",
    reddens: "a client that holds the stored page gets a 304 from store, with the fields that it needs and no others",
  },
  "stored-error-is-not-modified": {
    name: "a stored error is a 304 to who holds its entity tag",
    file: FROM_STORE,
    from: "if (head.status === 200)",
    to: "if (true)",
    reddens: "a stored error or redirect is never a 304",
  },
  "purged-is-not-modified": {
    name: "a purged page is a 304 to who holds it",
    file: "worker/rules/freshness/judge.ts",
    from: 'if (answer === "purged")',
    to: "if (false)",
    reddens: "a purged page is never a 304: who holds the old one gets the new one",
  },
  "nothing-is-shared": {
    name: "nothing is put into the shared tier",
    file: "worker/store/tiers.ts",
    from: "await this.#shared.put(stored);",
    to: "",
    reddens: "what one isolate filled, another finds",
  },
  "memory-is-all": {
    name: "the shared tier is not looked at",
    file: "worker/store/tiers.ts",
    from: "return this.#orReport(() => this.#shared.get(key));",
    to: "return Promise.resolve(undefined);",
    reddens: "an isolate that restarts finds the page in the shared tier",
  },
  "another-isolates-entry-is-refused": {
    name: "what is found in the shared tier is passed over",
    file: FLOW,
    from: "[selectInMemory(context), found]",
    to: "[selectInMemory(context)]",
    reddens: "an isolate that restarts finds the page in the shared tier",
  },
};
