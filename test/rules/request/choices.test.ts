import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ChoiceRules, choiceNames, deviceClass, readChoices } from "../../../worker/rules/request/choices.ts";
import { negotiatedLanguage } from "../../../worker/rules/request/negotiated-language.ts";
import { anyText } from "../fields/any-text.ts";

const ALL: ChoiceRules = {
  cookies: [
    ["currency", ["eur", "usd"]],
    ["theme", ["dark"]],
  ],
  languages: ["en", "de"],
  country: true,
  device: true,
};

function choicesOf(fields: Readonly<Record<string, string>>, country: string | null = null, rules = ALL) {
  return readChoices((name) => fields[name] ?? null, country, rules);
}

describe("negotiatedLanguage", () => {
  const languages = ["en", "de", "de-CH", "zh-Hant", "pt-BR"];

  test.each<[string | null, string]>([
    [null, "en"],
    ["", "en"],
    ["de", "de"],
    ["DE-ch", "de-CH"],
    ["de-CH-1996", "de-CH"],
    ["de-AT", "de"],
    ["zh-Hant-CN-x-private1", "zh-Hant"],
    ["zh-Hant-x-a", "zh-Hant"],
    ["zh", "en"],
    ["pt", "en"],
    ["fr, de;q=0.1", "de"],
    ["de;q=0.5, pt-BR;q=0.6", "pt-BR"],
    ["de;q=0.5, pt-BR;q=0.5", "de"],
    ["de;q=0", "en"],
    ["de;q=0.000, zh-hant;q=0.001", "zh-Hant"],
    ["*, de;q=0.5", "de"],
    ["de;q=2, pt-BR", "pt-BR"],
    ["de; level=1", "en"],
    ["de ; q=1.0", "de"],
    [`de${" ".repeat(1023)}`, "en"],
    [`de${" ".repeat(1022)}`, "de"],
  ])("%j: %s (RFC 4647 §3.4)", (field, expected) => {
    expect(negotiatedLanguage(field, languages)).toBe(expected);
  });

  test("whatever a client sends, it gets one of the site's languages", () => {
    fc.assert(fc.property(anyText, (text) => void expect(languages).toContain(negotiatedLanguage(text, languages))));
  });
});

describe("deviceClass", () => {
  test.each<[hint: string | null, userAgent: string | null, expected: "mobile" | "desktop"]>([
    ["?1", null, "mobile"],
    [" ?1 ", "Mozilla/5.0 (X11; Linux x86_64)", "mobile"],
    ["?0", "Mozilla/5.0 (iPhone) Mobile/15E148", "desktop"],
    [null, null, "desktop"],
    ["1", "curl/8", "desktop"],
    [null, "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) Mobile/15E148 Safari/604.1", "mobile"],
    [null, "Mozilla/5.0 (Linux; Android 10; K) Chrome/140.0.0.0 Mobile Safari/537.36", "mobile"],
    [null, "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "mobile"],
    [null, "Mozilla/5.0 (Linux; Android 10; K) Chrome/140.0.0.0 Safari/537.36", "desktop"],
    [null, "Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) Mobile/15E148 Safari/604.1", "desktop"],
    [null, "Mozilla/5.0 (Android 15; Tablet; rv:140.0) Gecko/140.0 Firefox/140.0", "desktop"],
  ])("%j and %j: %s", (hint, userAgent, expected) => {
    expect(deviceClass(hint, userAgent)).toBe(expected);
  });
});

describe("readChoices", () => {
  test("a route without choices changes nothing", () => {
    const rules: ChoiceRules = { cookies: [], languages: [], country: false, device: false };
    expect(choicesOf({ cookie: "a=1", "user-agent": "x" }, "DE", rules)).toEqual({
      fields: new Map(),
      cookie: undefined,
      selecting: new Map(),
    });
    expect(choiceNames(rules)).toEqual([]);
  });

  test("cookies go on in the owner's order, with named values alone", () => {
    expect(choicesOf({ cookie: "theme=dark; x=1; currency=usd" }).cookie).toBe("currency=usd; theme=dark");
    expect(choicesOf({ cookie: "currency=USD; xcurrency=usd" }).cookie).toBeNull();
  });

  test.each<[string | null, string]>([
    ["DE", "DE"],
    ["T1", "T1"],
    [null, "XX"],
    ["", "XX"],
    ["de", "XX"],
    ["DEU", "XX"],
    ["D\n", "XX"],
  ])("the country %j is told as %s", (country, expected) => {
    expect(choicesOf({ "x-country": "US" }, country).fields.get("x-country")).toBe(expected);
  });

  test("whatever clients send, what selects and what the origin gets are of few values", () => {
    const seen = new Map<string, Set<string | null>>();
    const fields = fc.record({
      cookie: fc.oneof(anyText, fc.constantFrom("currency=eur", "currency=usd; theme=dark", "theme=dark")),
      "accept-language": fc.oneof(anyText, fc.constantFrom("de", "en", "fr")),
      "user-agent": fc.oneof(anyText, fc.constantFrom("Mobi", "iPad Mobi")),
      "sec-ch-ua-mobile": fc.oneof(anyText, fc.constantFrom("?0", "?1")),
      "x-country": anyText,
      "x-device": anyText,
    });
    fc.assert(
      fc.property(fields, (sent) => {
        const { fields: told, cookie, selecting } = choicesOf(sent, "DE");
        for (const [name, value] of [...told, ...selecting, ["cookie sent", cookie ?? null] as const]) {
          seen.set(name, (seen.get(name) ?? new Set()).add(value));
        }
      }),
      { numRuns: 500 },
    );
    expect(Math.max(...[...seen.values()].map(({ size }) => size))).toBeLessThanOrEqual(6);
    expect(choiceNames(ALL).every((name) => seen.has(name))).toBe(true);
  });
});
