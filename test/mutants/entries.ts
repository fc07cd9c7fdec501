/** The modules from which each suite runs the sources. What they import is all that mutants can change. */
export const ENTRIES = {
  engine: ["test/engine/memory/memory-engine.ts", "test/simulation/world.ts"],
  doors: [
    "test/engine/memory/memory-engine.ts",
    "worker/control/access/tokens.ts",
    "worker/control/vendor-apis/purge-addresses.ts",
  ],
  check: ["cli/check/wrangler-settings.ts", "cli/check/site-findings.ts", "cli/check/bundle-findings.ts"],
  audit: ["tools/audit/judge-path.ts", "tools/audit/from-store.ts", "tools/audit/provenance.ts"],
  import: ["tools/import/nginx/import-nginx.ts"],
  walk: ["tools/audit/walk-path.ts"],
  order: ["tools/logs/time-order.ts"],
  budget: ["tools/counting/budget-trial.ts"],
  outbox: ["sdk/outbox/sqlite.ts"],
  isolation: ["server/program/edge-program.ts"],
  keeper: ["test/server/acme/keeper-under-test.ts"],
  lastStream: ["server/http2/last-stream.ts"],
  renewal: ["server/acme/renewal.ts", "server/acme/attempts.ts"],
  tier: ["test/server/tiers/tier.ts"],
  purges: ["worker/purges/log/sql-purge-log.ts", "worker/purges/lease/view-lease.ts"],
} as const;
