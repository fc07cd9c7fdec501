import { describe, expect, test } from "vitest";
import { wantedCodings } from "../../../worker/rules/variants/wanted-codings.ts";

describe("the codings that a client accepts, by its Accept-Encoding. RFC 9110 §12.5.3", () => {
  test.each([
    { name: "no field: none, because the client may not know any", field: null, wants: [] },
    { name: "an empty field: none", field: "", wants: [] },
    { name: "equal weights: the order of the settings", field: "gzip, br, zstd", wants: ["br", "zstd", "gzip"] },
    { name: "different weights: their order", field: "gzip, br;q=0.8, zstd;q=0.9", wants: ["gzip", "zstd", "br"] },
    { name: "a weight of 0 refuses", field: "br;q=0, gzip", wants: ["gzip"] },
    {
      name: "a weight of 0.000 refuses, and one of 0.001 does not",
      field: "br;q=0.000, gzip;q=0.001",
      wants: ["gzip"],
    },
    { name: "a star stands for what is not named", field: "br;q=0.1, *;q=0.5", wants: ["zstd", "gzip", "br"] },
    { name: "a star with 0 refuses what is not named", field: "gzip, *;q=0", wants: ["gzip"] },
    { name: "a star alone", field: "*", wants: ["br", "zstd", "gzip"] },
    { name: "plain bytes wanted more", field: "identity, br;q=0.9", wants: [] },
    { name: "plain bytes wanted as much", field: "identity;q=0.5, br;q=0.5", wants: ["br"] },
    { name: "plain bytes wanted less", field: "identity;q=0.4, br;q=0.5", wants: ["br"] },
    { name: "plain bytes refused", field: "identity;q=0, gzip", wants: ["gzip"] },
    { name: "nothing but plain bytes refused", field: "identity;q=0", wants: [] },
    { name: "everything refused", field: "*;q=0", wants: [] },
    {
      name: "a coding that is named twice has its lowest weight",
      field: "br, gzip;q=0.5, br;q=0.1",
      wants: ["gzip", "br"],
    },
    { name: "names in any case, and the old name of gzip", field: "BR;Q=0.5, X-GZip", wants: ["gzip", "br"] },
    { name: "spaces around everything", field: " br ; q=0.5 ,\tgzip\t", wants: ["gzip", "br"] },
    { name: "malformed members are ignored", field: "br;q=2, zstd;level=3, gzip;q=0.5", wants: ["gzip"] },
    { name: "a weight with more than three digits is malformed", field: "br;q=0.5555, gzip", wants: ["gzip"] },
    { name: "unknown codings are ignored", field: "deflate, compress, dcb", wants: [] },
  ])("$name", ({ field, wants }) => {
    expect(wantedCodings(field, ["br", "zstd", "gzip"])).toEqual(wants);
  });

  test("only what is offered", () => {
    expect(wantedCodings("br, gzip", ["gzip"])).toEqual(["gzip"]);
    expect(wantedCodings("*", ["zstd", "br"])).toEqual(["zstd", "br"]);
  });
});
