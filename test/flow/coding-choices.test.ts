import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CodingChoices } from "../../worker/flow/origin/coding-choices.ts";
import { CODINGS, codingsText } from "../../worker/rules/variants/accept-encoding.ts";
import { matchesVariant } from "../../worker/rules/variants/vary.ts";

const FULL = "br, gzip, zstd";
const HOUR_MS = 3_600_000;

function after(...answers: readonly (readonly [offered: string, chosen: string | null, at?: number])[]): CodingChoices {
  const choices = new CodingChoices();
  for (const [offered, chosen, at = 0] of answers) choices.learn(offered, chosen, at);
  return choices;
}

describe("CodingChoices", () => {
  test("knows nothing at first", () => {
    expect(after().passedOverFor("gzip", 0)).toBe("identity");
  });

  test("one answer to a full offer shows which codings the origin passes over for the chosen one", () => {
    const choices = after([FULL, "gzip"]);
    expect(choices.passedOverFor("gzip", 1)).toBe("br, zstd");
    expect(choices.passedOverFor("x-gzip", 1)).toBe("br, zstd");
    expect(choices.passedOverFor("br", 1)).toBe("identity");
    expect(choices.passedOverFor(null, 1)).toBe("identity");
    expect(choices.passedOverFor("gzip, br", 1)).toBe("identity");
  });

  test("a smaller offer says something only about its own codings", () => {
    expect(after(["br, gzip", "gzip"]).passedOverFor("gzip", 1)).toBe("br");
    expect(after(["gzip", "gzip"]).passedOverFor("gzip", 1)).toBe("identity");
  });

  test.each([null, "identity", "gzip, br", "compress", "zstd"])(
    "content in %j, which was not the only offer, says nothing",
    (coding) => {
      expect(after(["br, gzip", coding]).passedOverFor(coding ?? "gzip", 1)).toBe("identity");
    },
  );

  test("an origin that alternates between two codings passes over neither", () => {
    const choices = after([FULL, "gzip"], [FULL, "br", 1]);
    expect(choices.passedOverFor("gzip", 2)).toBe("zstd");
    expect(choices.passedOverFor("br", 2)).toBe("zstd");
  });

  test("a choice counts for an hour after it was last seen", () => {
    expect(after([FULL, "gzip"]).passedOverFor("gzip", HOUR_MS - 1)).toBe("br, zstd");
    expect(after([FULL, "gzip"]).passedOverFor("gzip", HOUR_MS)).toBe("identity");
    expect(after([FULL, "gzip"], [FULL, "gzip", 9]).passedOverFor("gzip", HOUR_MS)).toBe("br, zstd");
    expect(after([FULL, "gzip", HOUR_MS], [FULL, "br", 0]).passedOverFor("gzip", HOUR_MS)).toBe("br, zstd");
  });

  test("whatever was learned, no client is given a coding that it does not accept, unless it offers what got it", () => {
    const set = fc.subarray([...CODINGS]).map(codingsText);
    const coding = fc.constantFrom(...CODINGS);
    fc.assert(
      fc.property(fc.array(fc.tuple(set, coding)), set, coding, set, (learned, stored, encoding, asked) => {
        const passedOver = after(...learned).passedOverFor(encoding, 1);
        const value = (name: string) => (name === "accept-encoding" ? asked : null);
        const request = { field: value, value, acceptedCodings: asked };
        const matches = matchesVariant([["accept-encoding", stored]], encoding, request, passedOver);
        if (matches && asked !== stored) expect(asked.split(", ")).toContain(encoding);
      }),
    );
  });
});
