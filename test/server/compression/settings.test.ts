import { describe, expect, test } from "vitest";
import { compressionSettings } from "../../../worker/site/compression-settings.ts";
import { reviewSite } from "../../../worker/site/review-site.ts";
import type { CompressionInput } from "../../../worker/site/site-input.ts";
import { evaluateSite, isSite } from "../../docs/site-blocks.ts";
import { blocksOf } from "../../snippets/blocks.ts";

test("it is off unless the site has it", () => {
  expect(compressionSettings({})).toBe(null);
});

test("an empty object is all defaults", () => {
  expect(compressionSettings({ compression: {} })).toMatchObject({
    codings: ["br", "zstd", "gzip"],
    minBytes: 1024,
    maxBytes: 8 * 1024 ** 2,
    types: expect.arrayContaining(["text/*", "*+json", "application/javascript"]),
    levels: { br: 5, gzip: 6, zstd: 6 },
  });
});

test("the site in docs/server.md is accepted, and its codings and levels are the defaults", async () => {
  const block = blocksOf("docs/server.md").find(
    (each) => isSite(each) && each.code.includes("compression:") && !each.code.includes("deltas"),
  );
  const written = compressionSettings(await evaluateSite(block!.code));
  const { types: _, ...defaults } = compressionSettings({ compression: {} })!;
  expect(written).toMatchObject(defaults);
});

test("sizes may have units, and types any case", () => {
  const compression = { minBytes: "2KiB", maxBytes: "1MiB", types: ["Text/HTML"], codings: ["gzip"] } as const;
  expect(compressionSettings({ compression })).toMatchObject({
    codings: ["gzip"],
    minBytes: 2048,
    maxBytes: 1024 ** 2,
    types: ["text/html"],
  });
});

describe("mistakes are named", () => {
  test.each([
    [{ codings: ["deflate"] }, 'compression.codings[0]: is none of "br", "gzip" and "zstd"; found "deflate"'],
    [{ codings: [] }, "compression.codings: needs at least one coding; found []"],
    [{ codings: ["br", "br"] }, 'compression.codings: names a coding twice; found ["br","br"]'],
    [{ types: ["html"] }, "compression.types[0]: is not a media type"],
    [{ types: ["text/event-stream"] }, "compression.types[0]: is a stream of events"],
    [{ minBytes: "1 kB" }, "compression.minBytes: is not a size"],
    [{ levels: { br: 12 } }, "compression.levels.br: "],
    [{ levels: { gzip: 0 } }, "compression.levels.gzip: "],
    [{ levels: { zstd: 20 } }, "compression.levels.zstd: "],
    [{ level: 3 }, "compression.level: unknown key; did you mean levels?"],
    [true, "compression: "],
  ])("%j", (compression, message) => {
    const { errors } = reviewSite({ origin: "http://origin", compression: compression as CompressionInput }, {});
    expect(errors.map(({ path, message }) => `${path}: ${message}`).join("\n")).toContain(message);
  });
});
