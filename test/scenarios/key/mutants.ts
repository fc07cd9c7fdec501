import type { Mutants } from "../../mutants/mutant.ts";

const CACHE_KEY = "worker/rules/key/cache-key.ts";
const CANONICAL_URL = "worker/rules/key/canonical-url.ts";
const QUERY = "worker/rules/key/query.ts";

/** Wrong rules of the cache key. */
export const mutants: Mutants = {
  "spellings-differ": {
    name: "each spelling of a path has its own entry",
    file: CANONICAL_URL,
    from: "const path = normalEscapes(url.pathname);",
    to: "const path = url.pathname;",
    reddens: "key/equivalent-spellings",
  },
  "escapes-keep-their-case": {
    name: "the letter case of escapes counts",
    file: CANONICAL_URL,
    from: "encoded.toUpperCase()",
    to: "encoded",
    reddens: "key/equivalent-spellings",
  },
  "case-of-paths-is-ignored": {
    name: "paths that differ in case are one entry",
    file: CANONICAL_URL,
    from: "const path = normalEscapes(url.pathname);",
    to: "const path = normalEscapes(url.pathname).toLowerCase();",
    reddens: "key/distinguishable-spellings",
  },
  "encoded-slash-is-a-slash": {
    name: "an encoded slash counts as a slash",
    file: CANONICAL_URL,
    from: "/[A-Za-z0-9\\-._~]/",
    to: "/[A-Za-z0-9\\-._~/]/",
    reddens: "key/distinguishable-spellings",
  },
  "malformed-escapes-pass": {
    name: "a malformed escape is passed on",
    file: CANONICAL_URL,
    from: "/%(?![0-9a-f]{2})/i.test(pathAsSent)",
    to: "false",
    reddens: "key/malformed-escape",
  },
  "encoded-control-characters-pass": {
    name: "an encoded control character is passed on",
    file: CANONICAL_URL,
    from: "/%(?:0[0-9a-f]|1[0-9a-f]|7f)/i.test(pathAsSent)",
    to: "false",
    reddens: "key/malformed-escape",
  },
  "control-plane-under-another-spelling": {
    name: "another spelling of the control plane's path counts as a page of the site",
    file: CACHE_KEY,
    from: 'asked.path.startsWith("/_tidemark/")',
    to: "false",
    reddens: "key/malformed-escape",
  },
  "tracking-is-keyed": {
    name: "tracking parameters are part of the key",
    file: QUERY,
    from: "matchesAnyName(name, rules.ignore)",
    to: "false",
    reddens: "key/tracking-parameters",
  },
  "tracking-is-sent": {
    name: "the origin gets the query as the client sent it",
    file: CACHE_KEY,
    from: "route.pass ? asked.path + asked.search : keyed",
    to: "asked.path + asked.search",
    reddens: "key/tracking-parameters",
  },
  "queries-are-always-sorted": {
    name: "parameters are sorted, whatever the route says",
    file: QUERY,
    from: "if (rules.sort)",
    to: "if (true)",
    reddens: "key/parameter-order",
  },
  "queries-are-never-sorted": {
    name: "parameters are not sorted, although the route says so",
    file: QUERY,
    from: "if (rules.sort)",
    to: "if (false)",
    reddens: "key/parameter-order",
  },
  "only-is-ignored": {
    name: "a route that keys by one parameter keys by all",
    file: QUERY,
    from: "!rules.only.includes(name)",
    to: "false",
    reddens: "key/one-normalized-parameter",
  },
  "values-keep-their-case": {
    name: "values that a route lowercases keep their case",
    file: QUERY,
    from: "value = value.toLowerCase()",
    to: "value",
    reddens: "key/one-normalized-parameter",
  },
  "values-keep-their-spaces": {
    name: "values that a route trims keep their white space",
    file: QUERY,
    from: "value = value.trim()",
    to: "value",
    reddens: "key/one-normalized-parameter",
  },
  "public-host-is-not-keyed": {
    name: "the key has the host under which the edge was reached, not the public one",
    file: CACHE_KEY,
    from: "rules.publicUrl?.host ?? asked.host",
    to: "asked.host",
    reddens: "key/public-url",
  },
  "public-scheme-is-not-told": {
    name: "the origin is told the scheme under which the edge was reached, not the public one",
    file: CACHE_KEY,
    from: "rules.publicUrl?.scheme ?? asked.scheme",
    to: "asked.scheme",
    reddens: "key/public-url",
  },
};
