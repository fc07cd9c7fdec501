import type { RecordedCase } from "./recorded.ts";

/** A page with the visitor's name, and with something new in each rendering. */
const greeting = (name: string) => (rendering: number) => ({
  body: `Hello ${name}. <!-- ${1000 + rendering} -->`,
});
const GREETINGS = { a: greeting("alice"), b: greeting("robert"), s: greeting("visitor") };

/** alice asks, then alice again, bob and a stranger, who all get alice's answer. */
const TO_ALL = [
  ["a", null],
  ["a", 0],
  ["b", 0],
  ["s", 0],
] as const;
const TO_NOBODY = [
  ["a", null],
  ["b", null],
  ["s", null],
] as const;

const constant = (said: object) => () => said;

export const recordedCases: readonly RecordedCase[] = [
  { name: "a page that is the same for all", shared: TO_ALL, finds: [] },
  { name: "a page of one's own for each, not shared", fresh: GREETINGS, shared: TO_NOBODY, finds: [] },
  {
    name: "a page that changes with each rendering, shared, and nobody's",
    fresh: {
      a: (n) => ({ body: `it is ${1000 + n}` }),
      b: (n) => ({ body: `it is ${1000 + n}` }),
      s: (n) => ({ body: `it is ${1000 + n}` }),
    },
    shared: TO_ALL,
    finds: [],
  },
  {
    name: "a word that comes and goes by itself",
    fresh: {
      a: (n) => ({ body: n % 3 === 0 ? "Sale today" : "Nothing new" }),
      b: (n) => ({ body: n % 3 === 1 ? "Sale today" : "Nothing new" }),
    },
    shared: TO_ALL,
    finds: [],
  },
  {
    name: "words of one visitor's pages",
    fresh: GREETINGS,
    shared: TO_ALL,
    finds: [/^shared:\/page: of alice: body: "alice"$/],
  },
  {
    name: "a name that a tag hides from the words, in bytes that never change",
    fresh: {
      a: constant({ body: "\u0089PNG\u0001" }),
      b: constant({ body: "\u0089PNG\u0002" }),
      s: constant({ body: "\u0089PNG\u0003" }),
    },
    shared: TO_ALL,
    finds: [/^shared:\/page: of alice: body: "the same 5 bytes"$/],
  },
  {
    name: "an ETag",
    fresh: {
      a: (n) => ({ body: `it is ${1000 + n}`, fields: { etag: '"of-alice"' } }),
      b: (n) => ({ body: `it is ${1000 + n}`, fields: { etag: '"of-bob"' } }),
      s: (n) => ({ body: `it is ${1000 + n}` }),
    },
    shared: TO_ALL,
    finds: [/^shared:\/page: of alice: ETag: "of-alice"$/],
  },
  {
    name: "an ETag that is new in each answer",
    fresh: {
      a: (n) => ({ fields: { etag: `"${n}"` } }),
      b: (n) => ({ fields: { etag: `"${n}"` } }),
      s: (n) => ({ fields: { etag: `"${n}"` } }),
    },
    shared: TO_ALL,
    finds: [],
  },
  {
    name: "a field of the site's own",
    fresh: {
      a: constant({ fields: { "x-account": "17", date: "now" } }),
      b: constant({ fields: { "x-account": "18" } }),
    },
    shared: TO_ALL,
    finds: [/^shared:\/page: of alice: X-Account: "17"$/],
  },
  {
    name: "the status",
    fresh: { s: constant({ status: 403 }) },
    shared: [
      ["a", null],
      ["s", 0],
    ],
    finds: [/^shared:\/page: of alice: status: "200"$/],
  },
  {
    name: "a field that is another in each answer",
    fresh: { a: (n) => ({ fields: { "x-trace": `${n}` } }) },
    shared: TO_ALL,
    finds: [],
  },
  {
    name: "a cookie that was set, whose value is not shown",
    fresh: { a: (n) => ({ fields: { "set-cookie": `basket=basket-number-${1000 + n}; Path=/` } }) },
    shared: TO_ALL,
    onCopies: { "x-cache": "MISS" },
    finds: [/^shared:\/page: of alice: Set-Cookie: "basket=bas… \(18 characters\)"$/],
  },
  {
    name: "a cookie that everybody is given",
    fresh: {
      a: constant({ fields: { "set-cookie": "lang=en" } }),
      b: constant({ fields: { "set-cookie": "lang=en" } }),
      s: constant({ fields: { "set-cookie": "lang=en" } }),
    },
    shared: TO_ALL,
    onCopies: { "x-cache": "MISS" },
    finds: [],
  },
  {
    name: "a form's token",
    fresh: Object.fromEntries(
      (["a", "b", "s"] as const).map((who) => [
        who,
        (n: number) => ({ body: `<input name="csrf_token" value="token-${String.fromCodePoint(97 + n)}xyz">` }),
      ]),
    ),
    shared: TO_ALL,
    finds: [/^shared:\/page: of alice: form token: "… \(10 characters\)"$/],
  },
  {
    name: "a canary, also one that is in no other page of its owner's",
    fresh: {
      a: (n) => ({ body: n > 8 ? "write to alice@example.com" : "write to us" }),
      b: constant({ body: "write to us" }),
      s: constant({ body: "write to us" }),
    },
    canaries: ["alice@example.com"],
    shared: TO_ALL,
    finds: [/^shared:\/page: of alice: body: "alice@example.com"$/],
  },
  {
    name: "a canary that stands in everybody's pages",
    fresh: Object.fromEntries(
      (["a", "b", "s"] as const).map((who) => [who, constant({ body: "editor: alice@example.com" })]),
    ),
    canaries: ["alice@example.com"],
    shared: TO_ALL,
    finds: [],
  },
  {
    name: "a stranger's page for a visitor with a session",
    fresh: { s: greeting("visitor"), a: greeting("alice") },
    shared: [
      ["s", null],
      ["a", 0],
    ],
    finds: [/^shared:\/page: of a stranger: body: "visitor"$/],
  },
  {
    name: "credentials that a page repeats are masked",
    fresh: { ...GREETINGS, a: (n) => ({ body: `key: secret-of-alice, ${1000 + n}` }) },
    shared: TO_ALL,
    finds: [/^shared:\/page: of alice: body: "… \(15 characters\)"(?!.*secret)/],
  },
  {
    name: "a credential of few characters that a page repeats is masked",
    cookie: "sid=x7q; empty=",
    fresh: { ...GREETINGS, a: (n) => ({ body: `key: x7q, x7qs, ${1000 + n}` }) },
    shared: TO_ALL,
    finds: [/^shared:\/page: of alice: body: "x7qs", "key", "… \(3 characters\)"$/],
  },
  {
    name: "a short token in a page is masked like a long one",
    fresh: { ...GREETINGS, a: (n) => ({ body: `nonce k8Zp2QwX, 20261005, ${1000 + n}` }) },
    shared: TO_ALL,
    finds: [/^shared:\/page: of alice: body: "… \(8 characters\)", "20261005", "nonce"$/],
  },
  {
    name: "private, and stored",
    fresh: { a: constant({ fields: { "cache-control": "private" } }) },
    shared: TO_ALL,
    finds: [/^stored:private:\/page: $/],
  },
  {
    name: "private, and not stored",
    fresh: { a: constant({ fields: { "cache-control": "private" } }) },
    shared: TO_ALL,
    onCopies: { "x-cache": "MISS" },
    finds: [],
  },
  {
    name: "no-store, and stored",
    fresh: { a: constant({ fields: { "cache-control": "no-store" } }) },
    shared: TO_ALL,
    finds: [/^stored:no-store:\/page: $/],
  },
  {
    name: "no-store for browsers, and a lifetime for CDNs",
    fresh: { a: constant({ fields: { "cache-control": "no-store", "cdn-cache-control": "max-age=60" } }) },
    shared: TO_ALL,
    finds: [],
  },
  {
    name: "private for one field alone",
    fresh: { a: constant({ fields: { "cache-control": 'private="x-account"' } }) },
    shared: TO_ALL,
    finds: [],
  },
  {
    name: "Set-Cookie, and stored",
    fresh: {
      a: constant({ fields: { "set-cookie": "lang=en" } }),
      b: constant({ fields: { "set-cookie": "lang=en" } }),
      s: constant({ fields: { "set-cookie": "lang=en" } }),
    },
    shared: TO_ALL,
    finds: [/^stored:set-cookie:\/page: $/],
  },
  {
    name: "Set-Cookie that everybody is given in each answer, and stored",
    fresh: Object.fromEntries(
      (["a", "b", "s", "S"] as const).map((who) => [who, constant({ fields: { "set-cookie": "country=DE; Path=/" } })]),
    ),
    shared: TO_ALL,
    finds: [],
  },
  {
    name: "Set-Cookie that is not in each answer, and stored",
    fresh: Object.fromEntries(
      (["a", "b", "s", "S"] as const).map((who) => [
        who,
        (n: number) => (n === 5 ? {} : { fields: { "set-cookie": "country=DE; Path=/" } }),
      ]),
    ),
    shared: TO_ALL,
    finds: [/^stored:set-cookie:\/page: $/],
  },
  {
    name: "a cookie that the edge itself adds to an answer from the store",
    shared: [
      ["a", null],
      ["b", 0],
    ],
    onCopies: { "x-cache": "HIT", "set-cookie": "__edge=1" },
    finds: [],
  },
  {
    name: "Vary: Cookie, and a hit for other cookies",
    fresh: { a: constant({ fields: { vary: "Accept, Cookie" } }) },
    shared: TO_ALL,
    finds: [/^stored:vary-cookie:\/page: $/],
  },
  {
    name: "Vary: Cookie, and a hit for the same cookies",
    fresh: { a: constant({ fields: { vary: "Cookie" } }) },
    shared: [
      ["a", null],
      ["a", 0],
    ],
    finds: [],
  },
  {
    name: "Vary: Cookie, and a hit for a request with another field",
    input: { kind: "field", name: "x-shop", value: "b" },
    fresh: { s: constant({ fields: { vary: "Cookie" } }), S: constant({ fields: { vary: "Cookie" } }) },
    shared: [
      ["S", null],
      ["s", 0],
    ],
    finds: [],
  },
  {
    name: "Vary: Cookie, and a hit for a request with another cookie",
    fresh: { s: constant({ fields: { vary: "Cookie" } }), S: constant({ fields: { vary: "Cookie" } }) },
    shared: [
      ["s", null],
      ["S", 0],
    ],
    finds: [/^stored:vary-cookie:\/page: $/],
  },
  {
    name: "Vary: Cookie, and a hit for a visitor who has no cookies either",
    authorization: true,
    fresh: { a: constant({ fields: { vary: "Cookie", "cache-control": "public" } }) },
    shared: [
      ["a", null],
      ["s", 0],
    ],
    finds: [],
  },
  {
    name: "an answer to Authorization, and stored",
    authorization: true,
    shared: TO_ALL,
    finds: [/^stored:authorization:\/page: $/],
  },
  {
    name: "an answer to Authorization that is for all",
    authorization: true,
    fresh: { a: constant({ fields: { "cache-control": "public" } }) },
    shared: TO_ALL,
    finds: [],
  },
  {
    name: "private, and stored by a cache that does not mark hits, of a page that is never the same twice",
    fresh: Object.fromEntries(
      (["a", "b", "s", "S"] as const).map((who) => [
        who,
        (n: number) => ({ body: `it is ${1000 + n}`, fields: { "cache-control": "private" } }),
      ]),
    ),
    shared: TO_ALL,
    onCopies: {},
    finds: [/^stored:private:\/page: $/],
  },
  {
    name: "private, from a cache that does not mark hits, of a page that never changes",
    fresh: { a: constant({ fields: { "cache-control": "private" } }) },
    shared: TO_ALL,
    onCopies: {},
    finds: [],
  },
  {
    name: "private, and stored by a cache that marks hits by Age alone",
    fresh: { a: constant({ fields: { "cache-control": "private" } }) },
    shared: TO_ALL,
    onCopies: { age: "0" },
    finds: [/^stored:private:\/page: $/],
  },
  {
    name: "private, from a server that writes Age into every answer",
    fresh: { a: constant({ fields: { "cache-control": "private", age: "0" } }) },
    shared: TO_ALL,
    onCopies: {},
    finds: [],
  },
  {
    name: "private, from a cache that writes Age and that the answer is not stored",
    fresh: { a: constant({ fields: { "cache-control": "private" } }) },
    shared: TO_ALL,
    onCopies: { "x-cache": "MISS", age: "0" },
    finds: [],
  },
  {
    name: "a page made for one value of an input, given to a request without it",
    fresh: { S: constant({ body: "Guten Tag" }) },
    shared: [
      ["S", null],
      ["s", 0],
    ],
    finds: [/^unkeyed:cookie:lang:\/page: tried with lang=de; body: "Guten", "Tag"$/],
  },
  {
    name: "a request with an input that got the page made for those without it",
    fresh: { S: constant({ body: "Guten Tag" }) },
    shared: [
      ["s", null],
      ["S", 0],
    ],
    finds: [/^unkeyed:cookie:lang:\/page: tried with lang=de; body: "everybody", /],
  },
  {
    name: "an input that is in the key",
    fresh: { S: constant({ body: "Guten Tag" }) },
    shared: [
      ["S", null],
      ["s", null],
      ["S", null],
    ],
    finds: [],
  },
  {
    name: "an input that changes nothing, on a page that sets a new cookie in each answer",
    fresh: {
      s: (n) => ({ fields: { "set-cookie": `visit=${n}` } }),
      S: (n) => ({ fields: { "set-cookie": `visit=${n}` } }),
    },
    shared: [
      ["S", null],
      ["s", 0],
    ],
    onCopies: { "x-cache": "MISS" },
    finds: [],
  },
];
