import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "2",
    requirement: "the cache key consists of method and target URI",
    does: "Only GET is stored; the URL is canonical.",
    scenarios: ["key/equivalent-spellings", "key/name-in-full"],
  },
  {
    table: "caching",
    section: "4.1",
    requirement: "our own rule: choices of the owner's in the key",
    does: "Cookies, languages (RFC 4647 §3.4), country and device, each in a bounded set of values. The origin gets the chosen value and no other, so `Vary` by these fields selects nothing more.",
    scenarios: [
      "key/choice-of-cookie",
      "key/choices-of-part",
      "key/choice-that-is-not-made-any-more",
      "key/choice-that-comes-back",
      "key/choice-that-nothing-needs",
      "key/choice-of-language",
      "key/choice-of-country",
      "key/choice-of-country-behind-a-proxy",
      "key/choice-of-device",
      "key/choices-and-purges",
      "key/choices-and-sessions",
      "key/choices-and-well-known-sessions",
      "key/choices-select-without-vary",
    ],
  },
];
