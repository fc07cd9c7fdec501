import type { AppendRequest } from "../../../worker/purges/log/log-contract.ts";

/** A purge of these keys, as an isolate sends it to the log. */
export function purge(purgeKeys: string[], rest: Partial<AppendRequest> = {}): AppendRequest {
  return {
    id: null,
    content: JSON.stringify(purgeKeys),
    purgeKeys,
    accepted: { urls: 0, tags: purgeKeys.length, prefixes: 0, hosts: 0, everything: false },
    repeatAfterMs: null,
    reason: null,
    by: "test",
    since: null,
    leaseMs: 1000,
    skewMs: 250,
    ...rest,
  };
}
