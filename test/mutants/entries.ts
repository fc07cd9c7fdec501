/** The modules from which each suite runs the sources. What they import is all that mutants can change. */
export const ENTRIES = {
  engine: ["test/engine/memory-engine.ts", "test/simulation/world.ts"],
  doors: ["test/engine/memory-engine.ts", "worker/control/tokens.ts"],
  check: ["setup/check/wrangler-settings.ts", "setup/check/site-findings.ts", "setup/check/bundle-findings.ts"],
  audit: ["traffic/audit/judge-path.ts", "traffic/audit/from-store.ts", "traffic/audit/provenance.ts"],
  walk: ["traffic/audit/walk-path.ts"],
  outbox: ["sdk/outbox/sqlite.ts"],
  isolation: ["server/serve/edge-program.ts"],
  tier: ["test/server/parent/tier.ts"],
  purges: [
    "worker/purges/log/sql-purge-log.ts",
    "worker/purges/lease/view-lease.ts",
    "worker/purges/relay/followed-log.ts",
  ],
} as const;
