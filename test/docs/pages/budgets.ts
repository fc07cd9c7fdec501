/** How many words each hand-written page may have, so that a reader finds an answer in it within two minutes. */
export const BUDGETS: Readonly<Record<string, number>> = {
  "README.md": 600,
  "CONTRIBUTING.md": 2500,
  "docs/benchmarks.md": 1500,
  "docs/conformance.md": 250,
  "docs/getting-started.md": 1500,
  "docs/glossary.md": 500,
  "docs/http.md": 2500,
  "docs/operations.md": 3000,
  "docs/protocol.md": 4000,
  "docs/purging.md": 2200,
  "docs/release.md": 450,
  "docs/scale.md": 1000,
  "docs/security.md": 2200,
  "docs/server.md": 2000,
  "docs/sites.md": 1500,
  "docs/testing.md": 1000,
  "docs/tools.md": 2000,
  "docs/versions.md": 450,
  "docs/why.md": 700,
};

/** Of each page in docs/decisions/. */
export const OF_A_DECISION = 130;

/** Of all hand-written pages together. */
export const OF_ALL = 33_000;

/** Pages that `npm run docs` writes. */
export const GENERATED = /^docs\/(?:settings\.md$|reference\/)/;
