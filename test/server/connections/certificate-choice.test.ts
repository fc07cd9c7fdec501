import { expect, test } from "vitest";
import { certificateChoice, uncoveredHosts } from "../../../server/connections/certificate-choice.ts";

const NOW = Date.parse("2030-06-01");
const DAY = 86_400_000;

/** A certificate that is valid from a day before `NOW`, and its name in the tests. */
const made = (is: string, names: readonly string[], kind: string, days: number, validFrom = NOW - DAY) => ({
  ...{ is, names, kind, validFrom, validUntil: NOW + days * DAY },
});

const valid = made("valid rsa", ["www.example.test"], "rsa", 30);
const wildcard = made("wildcard", ["*.example.test"], "rsa", 30);
const expired = made("expired ec", ["www.example.test"], "ec", 0);
const early = made("early ec", ["www.example.test"], "ec", 90, NOW + 1);
const other = made("other", ["other.test"], "ec", 90);
const later = made("later rsa", ["www.example.test"], "rsa", 60);
const curve = made("ec", ["www.example.test"], "ec", 1);

test.each([
  ["the first for a name of none", [other, valid], "unknown.test", "other"],
  ["the first that is valid for a name of none", [expired, valid], "unknown.test", "valid rsa"],
  ["the first that is valid for clients that send no name", [early, valid], "", "valid rsa"],
  ["the first for a name of none, if all have expired", [expired, { ...expired, is: "other" }], "a.test", "expired ec"],
  ["an elliptic curve", [later, curve, valid], "www.example.test", "ec"],
  ["the one that is valid longer", [valid, later], "www.example.test", "later rsa"],
  ["in any case, with the dot of the root", [other, valid], "WWW.Example.TEST.", "valid rsa"],
  ["the name itself before a wildcard", [wildcard, valid], "www.example.test", "valid rsa"],
  ["a wildcard", [other, wildcard], "a.example.test", "wildcard"],
  ["a wildcard for one label only", [other, wildcard], "a.b.example.test", "other"],
  ["one that is valid before one that has expired", [expired, valid], "www.example.test", "valid rsa"],
  ["one that is valid before one that is not yet", [early, valid], "www.example.test", "valid rsa"],
  ["a wildcard before one that has expired", [expired, wildcard], "www.example.test", "wildcard"],
  ["an expired one, if there is no other for the name", [other, expired], "www.example.test", "expired ec"],
])("chooses %s", (_, certificates, name, is) => {
  expect(certificateChoice(certificates)(name, NOW).is).toBe(is);
});

test("chooses another one from the moment at which one expires", () => {
  const choose = certificateChoice([valid, curve]);
  expect(choose("www.example.test", NOW + DAY - 1).is).toBe("ec");
  expect(choose("www.example.test", NOW + DAY).is).toBe("valid rsa");
});

test("a host is uncovered if it is in no certificate, nor directly below a wildcard", () => {
  const named = (...names: string[]) => ({ names, kind: "ec", validFrom: 0, validUntil: 0 });
  const hosts = ["www.example.test", "blog.test", "a.shop.test", "shop.test", "a.b.shop.test"];
  expect(uncoveredHosts([named("example.test", "www.example.test"), named("*.shop.test")], hosts)).toEqual([
    "blog.test",
    "shop.test",
    "a.b.shop.test",
  ]);
});
