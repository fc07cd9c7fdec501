import { describe, expect, test } from "vitest";
import { importLifetimes } from "../../../tools/import/nginx/lifetimes.ts";
import { effectiveCacheControl } from "../../../worker/rules/directives/targeted-fields.ts";
import { freshnessLifetime } from "../../../worker/rules/freshness/freshness-lifetime.ts";
import { isStorableStatus } from "../../../worker/rules/storing/storable-status.ts";

const FINAL_STATUSES = Array.from({ length: 400 }, (_, index) => 200 + index);

/** Answers to requests that nginx does not send: for changes to a copy, and for whether its copy is still valid. */
const NOT_ASKED_FOR = [226, 304];

describe("an import from nginx keeps to the edge's rules", () => {
  test("it leaves out the statuses that are never stored, and no others", () => {
    const never = FINAL_STATUSES.filter((status) => !isStorableStatus(status) && !NOT_ASKED_FOR.includes(status));
    expect(importLifetimes([line("any", "10m")], false).leftOutStatuses).toEqual(never);
    for (const status of FINAL_STATUSES) {
      const { leftOutStatuses } = importLifetimes([line(String(status), "10m")], false);
      expect([status, leftOutStatuses]).toEqual([status, never.includes(status) ? [status] : []]);
    }
  });

  test.each([
    ["before another line", [line("any", "1m"), line("200", "404", "1h")], { 200: "1m", 404: "1m" }],
    ["after another line", [line("200", "1h"), line("any", "1m")], { 200: "1h", 404: "1m" }],
    ["for no time", [line("any", "0"), line("200", "1h")], {}],
    ["beside a status in one line", [line("200", "any", "1m"), line("404", "1h")], { 200: "1m", 404: "1m" }],
  ])("of several lines, nginx takes the first that fits: any %s", (_, lines, expected) => {
    const { defaultTtl = {} } = importLifetimes(lines, false).lifetimes;
    const { 200: found, 404: missing } = defaultTtl as Record<number, string>;
    expect({ ...(found && { 200: found }), ...(missing && { 404: missing }) }).toEqual(expected);
  });

  test("what it stores for every status may be stored", () => {
    const { lifetimes } = importLifetimes([line("any", "10m")], false);
    const statuses = Object.keys(lifetimes.defaultTtl as object).map(Number);
    expect(statuses).toEqual(expect.arrayContaining([200, 404, 503]));
    expect(statuses.filter((status) => !isStorableStatus(status))).toEqual([]);
  });

  test("a route's ttl stands for the statuses that obey it, and for no others", () => {
    const obey = FINAL_STATUSES.filter(obeysTtl);
    const words = (statuses: readonly number[]) => [line(...statuses.map(String), "10m")];
    expect(importLifetimes(words(obey), true).lifetimes).toEqual({ ttl: "10m" });
    for (const status of obey) {
      const others = obey.filter((each) => each !== status);
      expect([status, importLifetimes(words(others), true).lifetimes.ttl]).toEqual([status, undefined]);
    }
    for (const status of FINAL_STATUSES.filter((each) => !obeysTtl(each) && isStorableStatus(each))) {
      const { lifetimes } = importLifetimes(words([...obey, status]), true);
      expect(lifetimes).toEqual({ ttl: "10m", defaultTtl: { [status]: "10m" } });
    }
  });

  test.each([
    ["no status that obeys a ttl", [line("500", "502", "10s")], { 500: "10s", 502: "10s" }],
    [
      "them for no time",
      [line(...FINAL_STATUSES.filter(obeysTtl).map(String), "0"), line("500", "10s")],
      { 500: "10s" },
    ],
  ])("a route has no ttl if nginx stores %s", (_, lines, defaultTtl) => {
    expect(importLifetimes(lines, true)).toMatchObject({ lifetimes: { defaultTtl }, readsOrigins: true });
    expect(importLifetimes(lines, true).lifetimes).not.toHaveProperty("ttl");
  });
});

function line(...args: string[]) {
  return { name: "proxy_cache_valid", args, block: null, source: { place: "nginx.conf:1", text: args.join(" ") } };
}

function obeysTtl(status: number): boolean {
  const field = () => null;
  const rules = { ttlSeconds: 600, heuristic: null };
  return (
    freshnessLifetime({ status, receivedAt: 0, field }, effectiveCacheControl(field, []), rules).source === "route"
  );
}
