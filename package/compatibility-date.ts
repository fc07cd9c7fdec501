/**
 * The date of the runtime's behaviour: 00:00 UTC. The newest date that the pinned runtime accepts is later; `wrangler.toml`
 * names the same one.
 */
export const COMPATIBILITY_DATE = "2026-07-30";
