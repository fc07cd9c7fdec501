import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRequestDirectives } from "../../../worker/rules/directives/request-directives.ts";
import type { ReuseRules } from "../../../worker/rules/directives/reuse-rules.ts";
import type { StaleRules } from "../../../worker/rules/freshness/judge.ts";
import { judge, type PurgeAnswer, type PurgeKnowledge, type Verdict } from "../../../worker/rules/freshness/judge.ts";
import {
  mayServeOnError,
  type OriginFailure,
  type StandInBecause,
} from "../../../worker/rules/freshness/stale-if-error.ts";
import type { StoredHead } from "../../../worker/rules/storing/stored-response.ts";
import { NO_STALE_RULES, NOON, storedHead } from "../storing/stored-head.ts";

interface Asked {
  readonly stored?: Partial<StoredHead>;
  readonly reuse?: Partial<ReuseRules>;
  readonly authorized?: boolean;
  readonly awaitsPurge?: boolean;
  readonly hasSession?: boolean;
  /** The request's `Cache-Control`, all of it obeyed. */
  readonly directives?: string;
  readonly purge?: PurgeAnswer;
  /** True if it carries a receipt's token that has not been reached. */
  readonly awaitsToken?: boolean;
  /** The time from the fetch until this isolate learned of the soft purge, and the site's window after it. */
  readonly soft?: { readonly seenAfterMs: number; readonly forMs: number };
  /** The owner's rules, beside those of one who has said nothing. */
  readonly rules?: Partial<StaleRules>;
  readonly afterMs: number;
}

const UNPURGED: PurgeKnowledge = { answer: "not-purged", maxViewAgeMs: 1000, awaitsToken: false, madeStaleAt: null };

function headOf({ stored = {}, reuse = {} }: Asked): StoredHead {
  const head = storedHead(stored);
  return storedHead({ ...stored, reuse: { ...head.reuse, ...reuse } });
}

function requestOf({ authorized = false, awaitsPurge = false, hasSession = false, directives }: Asked) {
  const field = (name: string) => (name === "cache-control" ? (directives ?? null) : null);
  return { authorized, awaitsPurge, hasSession, directives: readRequestDirectives(field, "all") };
}

const fresh = (ageSeconds: number): Verdict => ({ kind: "fresh", ageSeconds, ttlSeconds: 60 - ageSeconds });
const usable = (because: (Verdict & { kind: "stale-usable" })["because"], ageSeconds: number): Verdict => ({
  kind: "stale-usable",
  because,
  ageSeconds,
  ttlSeconds: because === "soft-purge" ? Math.min(0, 60 - ageSeconds) : 60 - ageSeconds,
});
const validate = (because: (Verdict & { kind: "validate" })["because"]): Verdict => ({ kind: "validate", because });

const verdicts: readonly (Asked & { name: string; source: string; expect: Verdict })[] = [
  { name: "a page that was just stored is fresh", source: "RFC 9111 §4.2", afterMs: 0, expect: fresh(0) },
  { name: "the last millisecond is fresh", source: "RFC 9111 §4.2", afterMs: 59_999, expect: fresh(59) },
  {
    name: "an age equal to the lifetime is stale",
    source: "RFC 9111 §4.2",
    afterMs: 60_000,
    expect: validate("stale"),
  },
  {
    name: "a page for visitors without a session is not used for a visitor with one",
    source: "docs/http.md#cookies-sessions-and-authorization",
    stored: { sharedWithSessions: false },
    hasSession: true,
    afterMs: 0,
    expect: { kind: "none", because: "session" },
  },
  {
    name: "a page for visitors without a session is used for another of them",
    source: "docs/http.md#cookies-sessions-and-authorization",
    stored: { sharedWithSessions: false },
    afterMs: 0,
    expect: fresh(0),
  },
  {
    name: "a page that the origin lets caches store is also used for a visitor with a session",
    source: "docs/http.md#cookies-sessions-and-authorization",
    hasSession: true,
    afterMs: 0,
    expect: fresh(0),
  },
  {
    name: "a purged page is not used, however fresh",
    source: "R10",
    purge: "purged",
    afterMs: 0,
    expect: { kind: "none", because: "purged" },
  },
  {
    name: "if the view cannot tell whether a page was purged, it is not used, however fresh",
    source: "R13, R23",
    purge: "unverifiable",
    afterMs: 0,
    expect: { kind: "none", because: "unverifiable" },
  },
  {
    name: "requests with Authorization need the origin's permission",
    source: "RFC 9111 §3.5",
    authorized: true,
    afterMs: 0,
    expect: { kind: "none", because: "authorization" },
  },
  {
    name: "requests with Authorization may use shared pages",
    source: "RFC 9111 §3.5",
    authorized: true,
    stored: { sharedWithAuthorized: true },
    afterMs: 0,
    expect: fresh(0),
  },
  {
    name: "unknown purges: less than a lease after the fetch it may be served",
    source: "R8",
    purge: "unknown",
    afterMs: 999,
    expect: fresh(0),
  },
  {
    name: "unknown purges: a lease after the fetch it may not",
    source: "R8",
    purge: "unknown",
    afterMs: 1000,
    expect: validate("purge-state-unknown"),
  },
  {
    name: "unknown purges: a fetch in our future is not trusted",
    source: "R7",
    purge: "unknown",
    afterMs: -1,
    expect: validate("purge-state-unknown"),
  },
  {
    name: "unknown purges: a receipt's token that the view has not reached allows nothing",
    source: "R9",
    purge: "unknown",
    awaitsToken: true,
    afterMs: 0,
    expect: validate("purge-state-unknown"),
  },
  {
    name: "a receipt's token that the view has not reached does not affect pages that the view has judged",
    source: "R9",
    awaitsToken: true,
    afterMs: 0,
    expect: fresh(0),
  },
  {
    name: "no-cache is validated each time",
    source: "RFC 9111 §5.2.2.4",
    reuse: { validateAlways: true },
    afterMs: 0,
    expect: validate("no-cache"),
  },
  ...[
    { afterMs: 60_000, expect: usable("stale-while-revalidate", 60) },
    { afterMs: 69_999, expect: usable("stale-while-revalidate", 69) },
    { afterMs: 70_000, expect: validate("stale") },
  ].map((window) => ({
    name: `stale-while-revalidate=10 at ${window.afterMs} ms`,
    source: "RFC 5861 §3",
    reuse: { staleWhileRevalidateSeconds: 10 },
    ...window,
  })),
  {
    name: "must-revalidate overrides stale-while-revalidate",
    source: "RFC 9111 §5.2.2.2",
    reuse: { staleWhileRevalidateSeconds: 10, mayServeStale: false },
    afterMs: 60_000,
    expect: validate("stale"),
  },
  {
    name: "a request that awaits a purge gets nothing stale",
    source: "R9",
    awaitsPurge: true,
    reuse: { staleWhileRevalidateSeconds: 10 },
    afterMs: 60_000,
    expect: validate("stale"),
  },
  {
    name: "nothing stale while the purge state is unknown",
    source: "R8",
    purge: "unknown",
    reuse: { staleWhileRevalidateSeconds: 10 },
    stored: { freshnessSeconds: 0, fetchedAt: NOON },
    afterMs: 500,
    expect: validate("stale"),
  },
  ...[
    { directives: "max-stale=10", afterMs: 69_999, expect: usable("max-stale", 69) },
    { directives: "max-stale=10", afterMs: 70_000, expect: validate("stale") },
    { directives: "max-stale", afterMs: 600_000, expect: usable("max-stale", 600) },
    { directives: "no-cache", afterMs: 0, expect: validate("request-directive") },
    { directives: "max-age=5", afterMs: 5_000, expect: fresh(5) },
    { directives: "max-age=5", afterMs: 5_001, expect: validate("request-directive") },
    { directives: "min-fresh=10", afterMs: 50_000, expect: fresh(50) },
    { directives: "min-fresh=10", afterMs: 50_001, expect: validate("request-directive") },
  ].map((asked) => ({
    name: `a request with ${asked.directives} at ${asked.afterMs} ms`,
    source: "RFC 9111 §5.2.1",
    ...asked,
  })),
  ...[
    { name: "inside its stale-while-revalidate", afterMs: 30_000 + 9_999, expect: usable("soft-purge", 39) },
    { name: "at the end of its stale-while-revalidate", afterMs: 30_000 + 10_000, expect: validate("soft-purge") },
    { name: "at once", afterMs: 30_000, expect: usable("soft-purge", 30) },
    { name: "by a clock that has gone back", afterMs: 29_000, expect: usable("soft-purge", 29) },
    {
      name: "a page that must not be used stale",
      reuse: { mayServeStale: false },
      afterMs: 30_000,
      expect: validate("soft-purge"),
    },
    { name: "no-cache", reuse: { validateAlways: true }, afterMs: 30_000, expect: validate("no-cache") },
    { name: "a request that awaits a purge (R9)", awaitsPurge: true, afterMs: 30_000, expect: validate("soft-purge") },
    {
      name: "a request with Authorization, even for a shared page",
      authorized: true,
      stored: { sharedWithAuthorized: true },
      afterMs: 30_000,
      expect: validate("soft-purge"),
    },
    { name: "max-stale gives no more", directives: "max-stale", afterMs: 40_000, expect: validate("soft-purge") },
  ].map((asked) => ({
    source: "R10",
    purge: "soft" as const,
    soft: { seenAfterMs: 30_000, forMs: 60_000 },
    ...asked,
    reuse: { staleWhileRevalidateSeconds: 10, ...asked.reuse },
    name: `after a soft purge: ${asked.name}`,
  })),
  ...[
    { name: "inside the site's own time", forMs: 5_000, afterMs: 14_999, expect: usable("soft-purge", 14) },
    { name: "at the end of the site's own time", forMs: 5_000, afterMs: 15_000, expect: validate("soft-purge") },
    { name: "if the site allows nothing", forMs: 0, afterMs: 10_000, expect: validate("soft-purge") },
    { name: "in its lifetime's last millisecond", forMs: 600_000, afterMs: 59_999, expect: usable("soft-purge", 59) },
    { name: "at the end of its lifetime", forMs: 600_000, afterMs: 60_000, expect: validate("soft-purge") },
  ].map(({ name, forMs, ...asked }) => ({
    source: "R10",
    purge: "soft" as const,
    soft: { seenAfterMs: 10_000, forMs },
    ...asked,
    name: `after a soft purge of a page without its own stale window: ${name}`,
  })),
  ...[
    { name: "inside", afterMs: 69_999, expect: usable("soft-purge", 69) },
    { name: "at the end", afterMs: 70_000, expect: validate("soft-purge") },
  ].map((asked) => ({
    source: "R10",
    purge: "soft" as const,
    reuse: { staleWhileRevalidateSeconds: 10 },
    soft: { seenAfterMs: 65_000, forMs: 0 },
    ...asked,
    name: `a soft purge of a page that was already stale does not extend its time: ${asked.name}`,
  })),
  {
    name: "a soft purge at an unknown time",
    source: "R10",
    purge: "soft",
    afterMs: 0,
    expect: validate("soft-purge"),
  },
  {
    name: "a page that an unsafe request invalidated is validated, whatever else it says",
    source: "R10",
    purge: "invalidated",
    reuse: { staleWhileRevalidateSeconds: 10 },
    afterMs: 0,
    expect: validate("invalidated"),
  },
  {
    name: "after a soft purge, a page with s-maxage is usable if the owner's rules cover it",
    source: "docs/decisions/0037-a-window-beside-s-maxage-permits-stale.md",
    purge: "soft",
    soft: { seenAfterMs: 10_000, forMs: 5_000 },
    reuse: { mayServeStale: false },
    rules: { overSMaxage: true },
    afterMs: 14_999,
    expect: usable("soft-purge", 14),
  },
  ...[
    { name: "begins", afterMs: 60_000, expect: usable("stale.whileRevalidate", 60) },
    { name: "is not over", afterMs: 69_999, expect: usable("stale.whileRevalidate", 69) },
    { name: "is over", afterMs: 70_000, expect: validate("stale") },
    {
      name: "counts beside a stale-while-revalidate of 0",
      reuse: { staleWhileRevalidateSeconds: 0 },
      afterMs: 60_000,
      expect: validate("stale"),
    },
    {
      name: "counts beside a shorter one of the response",
      reuse: { staleWhileRevalidateSeconds: 5 },
      afterMs: 65_000,
      expect: validate("stale"),
    },
    {
      name: "covers a page that was never fresh",
      stored: { freshnessSeconds: 0 },
      afterMs: 0,
      expect: validate("stale"),
    },
    {
      name: "covers a page with s-maxage without overSMaxage",
      reuse: { mayServeStale: false },
      afterMs: 60_000,
      expect: validate("stale"),
    },
    {
      name: "covers a page with s-maxage by overSMaxage",
      reuse: { mayServeStale: false },
      rules: { overSMaxage: true },
      afterMs: 60_000,
      expect: usable("stale.whileRevalidate", 60),
    },
    {
      name: "covers a page with must-revalidate by overSMaxage",
      reuse: { mayServeStale: false, mayServeStaleOverSMaxage: false },
      rules: { overSMaxage: true },
      afterMs: 60_000,
      expect: validate("stale"),
    },
    { name: "applies to requests that await a purge", awaitsPurge: true, afterMs: 60_000, expect: validate("stale") },
  ].map((asked) => ({
    source: "docs/http.md#stale-responses",
    ...asked,
    rules: { whileRevalidateSeconds: 10, ...asked.rules },
    name: `the owner's whileRevalidate of 10 s: ${asked.name}`,
  })),
  {
    name: "max-stale does not override must-revalidate",
    source: "RFC 9111 §5.2.2.2",
    directives: "max-stale",
    reuse: { mayServeStale: false },
    afterMs: 60_000,
    expect: validate("stale"),
  },
];

describe("judge", () => {
  test.each(verdicts)("$name ($source)", (asked) => {
    const { purge: answer = "not-purged", awaitsToken = false, soft } = asked;
    const madeStaleAt = soft ? NOON + soft.seenAfterMs : null;
    const purge = { ...UNPURGED, answer, awaitsToken, madeStaleAt };
    const verdict = judge(
      headOf(asked),
      requestOf(asked),
      purge,
      { ...NO_STALE_RULES, softForMs: soft?.forMs ?? 0, ...asked.rules },
      NOON + asked.afterMs,
    );
    expect(verdict).toEqual(asked.expect);
  });

  test("a stale page is never fresh again", () => {
    const instants = fc.integer({ min: 0, max: 200_000 });
    fc.assert(
      fc.property(instants, instants, fc.integer({ min: 0, max: 100 }), (one, other, freshnessSeconds) => {
        const at = (ms: number) =>
          judge(storedHead({ freshnessSeconds }), requestOf({ afterMs: 0 }), UNPURGED, NO_STALE_RULES, NOON + ms);
        const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
        if (at(later).kind === "fresh") expect(at(earlier).kind).toBe("fresh");
      }),
      { numRuns: 500 },
    );
  });

  test("no page is served beyond its lifetime and stale windows, whatever the request asks", () => {
    const seconds = fc.integer({ min: 0, max: 100 });
    fc.assert(
      fc.property(
        seconds,
        seconds,
        seconds,
        fc.boolean(),
        fc.integer({ min: 0, max: 400_000 }),
        (life, swr, stale, may, afterMs) => {
          const asked: Asked = {
            stored: { freshnessSeconds: life },
            reuse: { staleWhileRevalidateSeconds: swr, mayServeStale: may },
            directives: `max-stale=${stale}`,
            afterMs,
          };
          const verdict = judge(headOf(asked), requestOf(asked), UNPURGED, NO_STALE_RULES, NOON + afterMs);
          const latestMs = (life + (may ? Math.max(swr, stale) : 0)) * 1000;
          expect(verdict.kind === "fresh" || verdict.kind === "stale-usable").toBe(afterMs < latestMs);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

const errors: readonly (Asked & {
  name: string;
  whileUnknown?: boolean;
  isViewUsable?: boolean;
  madeStaleAfterMs?: number;
  failure?: OriginFailure;
  /** `true`: by stale-if-error. */
  expect: boolean | StandInBecause;
})[] = [
  {
    name: "a page invalidated by an unsafe request is never shown (RFC 9111 §4.4)",
    reuse: { staleIfErrorSeconds: 10 },
    purge: "invalidated",
    afterMs: 20_000,
    expect: false,
  },
  ...(["soft"] as const)
    .flatMap((purge) => [
      { name: `${purge}: inside stale-if-error, counted from the purge`, purge, afterMs: 29_999, expect: true },
      { name: `${purge}: at the end of it`, purge, afterMs: 30_000, expect: false },
      {
        name: `${purge}: must-revalidate forbids it`,
        purge,
        reuse: { mayServeStale: false },
        afterMs: 20_000,
        expect: false,
      },
    ])
    .map((asked) => ({
      ...asked,
      madeStaleAfterMs: 20_000,
      reuse: { staleIfErrorSeconds: 10, ...asked.reuse },
    })),
  { name: "inside stale-if-error", reuse: { staleIfErrorSeconds: 10 }, afterMs: 69_999, expect: true },
  { name: "at the end of stale-if-error", reuse: { staleIfErrorSeconds: 10 }, afterMs: 70_000, expect: false },
  ...[
    { name: "inside ifError", rules: { ifErrorSeconds: 10 }, afterMs: 69_999, expect: "stale.ifError" as const },
    { name: "at the end of ifError", rules: { ifErrorSeconds: 10 }, afterMs: 70_000, expect: false },
    {
      name: "ifError also covers a missing answer",
      rules: { ifErrorSeconds: 10 },
      failure: "disconnected" as const,
      afterMs: 69_999,
      expect: "stale.ifError" as const,
    },
    {
      name: "inside ifDisconnected, which is longer",
      rules: { ifErrorSeconds: 10, ifDisconnectedSeconds: 20 },
      failure: "disconnected" as const,
      afterMs: 79_999,
      expect: "stale.ifDisconnected" as const,
    },
    {
      name: "at the end of ifDisconnected",
      rules: { ifDisconnectedSeconds: 20 },
      failure: "disconnected" as const,
      afterMs: 80_000,
      expect: false,
    },
    { name: "ifDisconnected and an error", rules: { ifDisconnectedSeconds: 20 }, afterMs: 60_000, expect: false },
    {
      name: "s-maxage forbids it",
      reuse: { mayServeStale: false },
      rules: { ifErrorSeconds: 10 },
      afterMs: 60_000,
      expect: false,
    },
    {
      name: "s-maxage, and overSMaxage",
      reuse: { mayServeStale: false },
      rules: { ifErrorSeconds: 10, overSMaxage: true },
      afterMs: 60_000,
      expect: "stale.ifError" as const,
    },
    {
      name: "must-revalidate, and overSMaxage",
      reuse: { mayServeStale: false, mayServeStaleOverSMaxage: false },
      rules: { ifErrorSeconds: 10, overSMaxage: true },
      afterMs: 60_000,
      expect: false,
    },
  ].map((asked) => ({ ...asked, name: `the owner's rules: ${asked.name}` })),
  {
    name: "the origin's stale-if-error=0 overrides the site",
    reuse: { staleIfErrorSeconds: 0 },
    rules: { ifErrorSeconds: 10 },
    afterMs: 60_000,
    expect: false,
  },
  { name: "nobody allows it", afterMs: 60_000, expect: false },
  { name: "the request allows it", directives: "stale-if-error=10", afterMs: 69_999, expect: true },
  {
    name: "must-revalidate forbids it",
    reuse: { staleIfErrorSeconds: 10, mayServeStale: false },
    afterMs: 60_000,
    expect: false,
  },
  {
    name: "no-cache forbids it",
    reuse: { staleIfErrorSeconds: 10, mayServeStale: false, validateAlways: true },
    afterMs: 0,
    expect: false,
  },
  {
    name: "a hard-purged page is never shown (R18)",
    reuse: { staleIfErrorSeconds: 10 },
    purge: "purged",
    afterMs: 60_000,
    expect: false,
  },
  {
    name: "a page from another log is never shown (R13)",
    reuse: { staleIfErrorSeconds: 10 },
    purge: "unverifiable",
    afterMs: 0,
    expect: false,
  },
  {
    name: "purge state unknown, and the window allows it (R18)",
    reuse: { staleIfErrorSeconds: 10 },
    purge: "unknown",
    afterMs: 60_000,
    expect: true,
  },
  {
    name: "purge state unknown, page fresh, but nobody allows it (R18)",
    purge: "unknown",
    afterMs: 5_000,
    expect: false,
  },
  {
    name: "purge state unknown, and the site forbids it (R18)",
    reuse: { staleIfErrorSeconds: 10 },
    purge: "unknown",
    whileUnknown: false,
    afterMs: 60_000,
    expect: false,
  },
  {
    name: "soft-purged as far as is known, the view too old, and the site forbids it (R18)",
    reuse: { staleIfErrorSeconds: 10 },
    purge: "soft",
    isViewUsable: false,
    whileUnknown: false,
    afterMs: 60_000,
    expect: false,
  },
  {
    name: "soft-purged as far as is known, the view too old, and the site allows it (R18)",
    reuse: { staleIfErrorSeconds: 10 },
    purge: "soft",
    isViewUsable: false,
    afterMs: 60_000,
    expect: true,
  },
  {
    name: "a request that awaits a purge gets nothing stale (R9)",
    reuse: { staleIfErrorSeconds: 10 },
    awaitsPurge: true,
    afterMs: 60_000,
    expect: false,
  },
  {
    name: "a page that is not shared with requests with Authorization",
    reuse: { staleIfErrorSeconds: 10 },
    authorized: true,
    afterMs: 60_000,
    expect: false,
  },
];

describe("mayServeOnError (RFC 5861 §4)", () => {
  test.each(errors)("$name: $expect", (asked) => {
    const rules = { ...NO_STALE_RULES, ...asked.rules, ifErrorWhileUnknown: asked.whileUnknown ?? true };
    const answer = asked.purge ?? "not-purged";
    const madeStaleAt = asked.madeStaleAfterMs === undefined ? null : NOON + asked.madeStaleAfterMs;
    const purge = { answer, isViewUsable: asked.isViewUsable ?? answer !== "unknown", madeStaleAt };
    const now = NOON + asked.afterMs;
    const because = mayServeOnError(headOf(asked), requestOf(asked), purge, rules, asked.failure ?? "error", now);
    expect(because).toBe(asked.expect === true ? "stale-if-error" : asked.expect || null);
  });
});
