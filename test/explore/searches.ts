/**
 * What `npm run explore` runs: commands that fail if they find something, each with as much as a few minutes allow. `{seed}`
 * stands for the seed of a run; a command without it repeats what a race may change.
 */
export const SEARCHES: readonly string[] = [
  "npm run simulate -- --jobs 1 --worlds 500 --from {seed}",
  'TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/visitors/fuzz.test.ts -t "whatever the first visitor sends"',
  'TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/visitors/crowds/crowds.test.ts -t "honest origin"',
  'TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/visitors/platforms.test.ts -t "encounters"',
  'TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/visitors/raw/raw.test.ts -t "messages over sockets"',
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/server/http1/random-clients.test.ts",
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/rules/key/path-matcher.test.ts",
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/stories/stories.test.ts",
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/server/serve/operation/kills.test.ts",
  'TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/server/supervisor/kills.test.ts -t "at random"',
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/server/day/day.test.ts",
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/explain/agreement.test.ts",
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/flow/http-worlds/http-worlds.test.ts",
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/server/compression/random-deltas.test.ts",
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/server/log/bit-flips.test.ts",
  "TEST_SEED={seed} TEST_DEPTH=explore npx vitest run test/tools/import/random/random.test.ts",
  "TEST_DEPTH=explore npx vitest run test/server/disk/crashes.test.ts",
  'TEST_DEPTH=explore npx vitest run test/server/tiers/serve-with-parent.test.ts -t "a page costs the origin one fetch"',
  "TEST_DEPTH=explore npx vitest run test/server/http2/hostile-clients.test.ts",
  "TEST_DEPTH=explore npx vitest run test/server/machines/three-machines.test.ts",
  'TEST_DEPTH=explore npx vitest run test/server/serve/load/changes-under-load.test.ts -t "in turn"',
  'TEST_DEPTH=explore npx vitest run test/server/serve/load/changes-under-load.test.ts -t "in HTTP/2"',
];

/** What depends on the day and not on a seed, and asks others for something: each runs a single time. */
export const ONCE: readonly string[] = ["node test/explore/latest-tools.ts"];
