import { expect, test } from "vitest";
import { ownCacheStatus } from "../../../local/cdn/own-cache-status.ts";
import { cacheStatusMember, type Outcome } from "../../../worker/rules/forwarding/cache-status.ts";

test.each<[field: string | null, expected: ReturnType<typeof ownCacheStatus>]>([
  [null, { detail: null, ttlS: null, stored: false, collapsed: false }],
  ["tidemark; hit; ttl=60", { detail: null, ttlS: 60, stored: false, collapsed: false }],
  [
    "tidemark; hit; ttl=-5; detail=stale-if-error",
    { detail: "stale-if-error", ttlS: -5, stored: false, collapsed: false },
  ],
  [
    "tidemark; fwd=uri-miss; fwd-status=200; stored; collapsed",
    { detail: null, ttlS: null, stored: true, collapsed: true },
  ],
  [
    'tidemark; fwd=uri-miss; fwd-status=200; detail="unkeyed-field:x-app-version"',
    { detail: "unkeyed-field:x-app-version", ttlS: null, stored: false, collapsed: false },
  ],
  [
    'origin; hit; ttl=9; stored; detail="a, b", tidemark; fwd=uri-miss; detail="c; stored, \\"d\\" \\\\"',
    { detail: 'c; stored, "d" \\', ttlS: null, stored: false, collapsed: false },
  ],
  ["tidemark; detail=unstored", { detail: "unstored", ttlS: null, stored: false, collapsed: false }],
])("%s is read", (field, expected) => expect(ownCacheStatus(field)).toEqual(expected));

test.each(["no-store", "unkeyed-field:x-app-version", 'a "b", \\; stored', ""])(
  "the edge's own %j comes back",
  (detail) => {
    const outcome: Outcome = {
      kind: "forwarded",
      reason: "uri-miss",
      status: 200,
      stored: true,
      collapsed: false,
      detail,
    };
    const field = `nginx; hit, ${cacheStatusMember(outcome)}`;
    expect(ownCacheStatus(field)).toEqual({ detail, ttlS: null, stored: true, collapsed: false });
  },
);
