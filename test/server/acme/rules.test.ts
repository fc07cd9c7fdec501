import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LEAST_PAUSE_MS, mayStartAt, pauseAfter } from "../../../server/acme/attempts.ts";
import { certificateId } from "../../../server/acme/certificate-id.ts";
import { failureText } from "../../../server/acme/keeper-texts.ts";
import { namesToCertify } from "../../../server/acme/names.ts";
import { challengeTypes, prepareAcme } from "../../../server/acme/prepared-acme.ts";
import { isInLastThird, judgeRenewal, shareOf } from "../../../server/acme/renewal.ts";
import { readRenewalInfo, readRetryAfter } from "../../../server/acme/renewal-info.ts";
import { whyNotUsed } from "../../../server/acme/why-not-used.ts";
import type { PreparedSites } from "../../../server/startup/prepared-sites.ts";
import { makeCertificate } from "../connections/make-certificate.ts";
import { DAY, MINUTE, OF_45_DAYS, PAUSE_CASES, RENEWAL_CASES, WINDOW } from "./renewal-cases.ts";

describe("a certificate of 45 days is renewed", () => {
  test.each(RENEWAL_CASES)("%s", (_, window, share, now, kind) => {
    expect(judgeRenewal(OF_45_DAYS, window, share, now).kind).toBe(kind);
  });

  test("at a time that is known in advance", () => {
    expect(judgeRenewal(OF_45_DAYS, WINDOW, 0.25, 0)).toEqual({
      ...{ kind: "wait", untilAt: 28.5 * DAY, earlyAt: 28.25 * DAY },
    });
    expect(judgeRenewal(OF_45_DAYS, null, 0.25, 0)).toEqual({ kind: "wait", untilAt: 30 * DAY, earlyAt: 29.75 * DAY });
  });

  test.each([
    ["hours early, together with others", OF_45_DAYS, null, 0, 29.75 * DAY],
    ["not before its window, together with others", OF_45_DAYS, WINDOW, 0.1, 28 * DAY],
    [
      "not later, together with others, if its window is",
      OF_45_DAYS,
      { startAt: 50 * DAY, endAt: 60 * DAY },
      0,
      40.5 * DAY,
    ],
    ["seconds early if it is for an hour", { validFrom: 0, validUntil: 60 * MINUTE }, null, 0, 40 * MINUTE - 20_000],
  ])("%s", (_, validity, window, share, earlyAt) => {
    expect(judgeRenewal(validity, window, share, 0)).toMatchObject({ earlyAt });
  });

  test("at its own place in the window, always the same", () => {
    const shares = Array.from({ length: 100 }, (_, at) => shareOf(`certificate ${at}`));
    expect(shares.every((share) => share >= 0 && share < 1)).toBe(true);
    expect(Math.max(...shares) - Math.min(...shares)).toBeGreaterThan(0.8);
    expect(shareOf("certificate 1")).toBe(shares[1]);
  });

  test("and its owner is warned of a failure once a third is left", () => {
    expect([30 * DAY - 1, 30 * DAY].map((now) => isInLastThird(OF_45_DAYS, now))).toEqual([false, true]);
  });
});

describe("what an authority says of renewal", () => {
  const body = (start: unknown, end: unknown) => JSON.stringify({ suggestedWindow: { start, end } });
  const [START, END] = ["2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"];

  test.each([
    ["a window", body(START, END), { startAt: Date.parse(START), endAt: Date.parse(END) }],
    ["one that ends before it begins is none", body(END, START), null],
    ["one that ends when it begins is none", body(START, START), null],
    ["numbers are no dates", body(1, 2), null],
    ["words are no dates", body("soon", "later"), null],
    ["no window", "{}", null],
    ["nothing", "null", null],
    ["no JSON", "<html>", null],
  ])("%s", (_, text, window) => {
    expect(readRenewalInfo(text, null)?.window ?? null).toEqual(window);
  });

  test.each([
    ["six hours if it does not say", null, 6 * 60 * MINUTE],
    ["as it says", 10 * MINUTE, 10 * MINUTE],
    ["not more often than each minute", 0, MINUTE],
    ["at least once a day", 7 * DAY, DAY],
  ])("it is asked again: %s", (_, retryAfterMs, againInMs) => {
    expect(readRenewalInfo(body(START, END), retryAfterMs)?.againInMs).toBe(againInMs);
  });

  test.each([
    ["seconds", "120", 120_000],
    ["a date", new Date(5_000).toUTCString(), 4_000],
    ["a date that is over", new Date(0).toUTCString(), 0],
    ["none", null, null],
    ["words", "soon", null],
  ])("Retry-After: %s", (_, field, ms) => {
    expect(readRetryAfter(field, 1_000)).toBe(ms);
  });

  // RFC 9773, appendix A.
  const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`;

  test("the request has the identifier of the RFC's example", () => {
    expect(certificateId(EXAMPLE)).toBe("aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE");
  });

  test("the request names the authority's key, whatever else a certificate has", () => {
    const { chain } = makeCertificate(["www.example.test"], { authorityKey: Buffer.from("authority") });
    expect(certificateId(chain)).toMatch(
      new RegExp(`^${Buffer.from("authority").toString("base64url")}\\.[\\w-]{22}$`),
    );
  });

  test("there is no request for a certificate that names no authority's key", () => {
    expect(certificateId(makeCertificate(["www.example.test"]).chain)).toBeNull();
  });
});

describe("after attempts in vain", () => {
  test.each(PAUSE_CASES)(
    "%i of a %s, told to wait for %s ms, by chance %d: %d minutes",
    (attempts, of, told, random, minutes) => {
      expect(pauseAfter(attempts, of, told, random)).toBe(minutes * MINUTE);
    },
  );

  test("failed validations stay below five at once plus one every twelve minutes", () => {
    let budget = 5;
    for (let attempts = 1; attempts < 40; attempts++) {
      budget -= 2; // by both challenges
      expect(budget).toBeGreaterThanOrEqual(0);
      budget = Math.min(5, budget + pauseAfter(attempts, "name", null, 0) / (12 * MINUTE));
    }
  });

  test("a server that restarts again and again also stays below that limit", () => {
    expect(LEAST_PAUSE_MS / (12 * MINUTE)).toBeGreaterThanOrEqual(2);
    expect(mayStartAt(null, 1_000)).toBe(1_000);
    expect(mayStartAt(1_000, 1_000)).toBe(1_000 + LEAST_PAUSE_MS);
    expect(mayStartAt(1_000, 1_000 + LEAST_PAUSE_MS + 1)).toBe(1_000 + LEAST_PAUSE_MS + 1);
    expect(mayStartAt(DAY, 1_000)).toBe(1_000); // noted while the clock was wrong
  });
});

describe("the names of certificates", () => {
  test("are the public ones, without ports, each once", () => {
    expect(
      namesToCertify([
        ...["www.example.com", "WWW.example.com:8443", "xn--bcher-kva.example", "a.b.c.example.com."],
        ...[
          "localhost",
          "localhost:8080",
          "box.local",
          "db.internal",
          "127.0.0.1",
          "[::1]:8080",
          "intranet",
          "a_b.example.com",
        ],
      ]),
    ).toEqual({
      names: ["www.example.com", "xn--bcher-kva.example", "a.b.c.example.com"],
      others: ["localhost", "box.local", "db.internal", "127.0.0.1", "[::1]", "intranet", "a_b.example.com"],
    });
  });

  test("the challenges are those that the listeners can answer, and the one at its own port comes first", () => {
    const tls = { host: "::", port: 443, scheme: "https" } as const;
    expect(challengeTypes([tls])).toEqual(["tls-alpn-01"]);
    expect(challengeTypes([tls, { path: "/run/edge.sock" }])).toEqual(["tls-alpn-01"]);
    expect(challengeTypes([{ host: "::", port: 80 }, tls])).toEqual(["http-01", "tls-alpn-01"]);
    expect(challengeTypes([{ host: "::", port: 8080 }, tls])).toEqual(["tls-alpn-01", "http-01"]);
  });
});

test("a reload goes on with a certificate whose file can no longer be read, and says so", () => {
  const cache = mkdtempSync(join(tmpdir(), "tidemark-"));
  const name = "www.example.com";
  const sites = new Map([["only", { isLocal: false, site: { hosts: [name] } }]]) as unknown as PreparedSites;
  const around = { cache, listen: [], sites, isOneOfSeveral: false };
  const options = { email: "you@example.com", directory: "https://authority.test/dir" };
  const started = prepareAcme(options, around, null);
  const { chain, key } = makeCertificate([name]);
  started.folder.keep(name, key, chain);
  const before = prepareAcme(options, around, started);
  expect(before.certificates).toMatchObject([{ names: [name] }]);
  const file = join(started.folder.path, `${name}.pem`);
  rmSync(file);
  mkdirSync(file);
  expect(prepareAcme(options, around, before)).toMatchObject({
    certificates: before.certificates,
    warnings: [expect.stringContaining("it is a folder. The server goes on with the one that it has read before.")],
  });
  expect(prepareAcme(options, around, null).certificates).toEqual([]); // a new process has read none
  rmSync(cache, { recursive: true });
});

describe("what was issued", () => {
  const { chain, key } = makeCertificate(["www.example.test"]);
  const BROKEN = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  test.each([
    ["is used if it is for the name and the key", chain, key, "www.example.test", null],
    ["not for another name", chain, key, "example.test", /for other names: DNS:www\.example\.test/],
    ["not for another key", chain, makeCertificate(["x.test"]).key, "www.example.test", /for another key/],
    ["not if it is none", "nothing", key, "www.example.test", /not a certificate/],
    ["not with something else behind it", chain + BROKEN, key, "www.example.test", /a chain that cannot be used: /],
  ] as const)("%s", (_, given, withKey, name, because) => {
    const why = whyNotUsed(given, withKey, name);
    if (because === null) expect(why).toBeNull();
    else expect(why).toMatch(because);
  });
});

describe("the owner is told", () => {
  const told = (old: typeof OF_45_DAYS | null, now: number) =>
    failureText({ name: "www.example.com", old, because: "no route", againAt: now + MINUTE }, now);

  test.each([
    [
      "that there is none",
      null,
      DAY,
      "there is no certificate for www.example.com: no route. Until there is one, TLS connections to it fail. The next attempt is at 1970-01-02T00:01:00Z.",
    ],
    [
      "that there is time",
      OF_45_DAYS,
      30 * DAY - 1,
      "the certificate for www.example.com was not renewed yet: no route. It is valid until 1970-02-15T00:00:00Z. The next attempt is at 1970-01-31T00:00:59Z.",
    ],
    [
      "that it expires",
      OF_45_DAYS,
      30 * DAY,
      "the certificate for www.example.com expires in 15 days, and could not be renewed: no route. The next attempt is at 1970-01-31T00:01:00Z.",
    ],
    [
      "that it has expired",
      OF_45_DAYS,
      45 * DAY,
      "the certificate for www.example.com expired at 1970-02-15T00:00:00Z, and could not be renewed: no route. The next attempt is at 1970-02-15T00:01:00Z.",
    ],
  ])("%s", (_, old, now, text) => {
    expect(told(old, now)).toBe(text);
  });
});
