import { beforeAll, describe, expect, test } from "vitest";
import { ModuleGraph } from "../../mutants/module-graph.ts";
import { judgeMutants } from "./judge-mutants.ts";
import { findingsIn, type Judges, type RecordedCase, recordOf } from "./recorded.ts";
import { recordedCases } from "./recorded-cases.ts";

const FILES = ["judge-path", "from-store", "provenance"].map((name) => `traffic/audit/${name}.ts`);

let graph: ModuleGraph;

beforeAll(async () => {
  graph = await ModuleGraph.load(FILES);
});

async function judgesWith(changed?: { readonly path: string; readonly text: string }): Promise<Judges> {
  const exportsOf = await graph.instantiate(changed);
  return Object.assign({}, ...FILES.map(exportsOf)) as Judges;
}

/** Whether the judges find in a case what they must. */
function isRight(judges: Judges, each: RecordedCase): boolean {
  const found = findingsIn(judges, each);
  return found.length === each.finds.length && each.finds.every((wanted, index) => wanted.test(found[index]!));
}

describe("the judges of an audit, on recorded answers", () => {
  test.each(recordedCases)("$name", async (each) => {
    const found = findingsIn(await judgesWith(), each);
    expect(found).toEqual(each.finds.map((wanted) => expect.stringMatching(wanted)));
  });
});

describe("a judge that is taken away or wrong is missed", () => {
  test.each(judgeMutants)("$name", async ({ file, from, to, reddens }) => {
    const pieces = graph.textOf(file)!.split(from);
    expect(pieces).toHaveLength(2);
    const judges = await judgesWith({ path: file, text: pieces.join(to) });
    const reddened = recordedCases.find(({ name }) => name === reddens)!;
    expect(isRight(await judgesWith(), reddened)).toBe(true);
    expect(isRight(judges, reddened)).toBe(false);
  });
});

describe("where an answer comes from", () => {
  test.each([
    [{ "x-cache": "HIT" }, "hit"],
    [{ "x-cache": "MISS" }, "miss"],
    [{ "x-cache": "EXPIRED" }, "expired"],
    [{ "x-cache": "MISS, HIT" }, "hit"],
    [{ "x-cache": "Miss from cloudfront" }, "miss"],
    [{ "x-cache": "TCP_REFRESH_HIT from a1-2 (AkamaiGHost)" }, "hit"],
    [{ "cf-cache-status": "DYNAMIC" }, "miss"],
    [{ "cf-cache-status": "REVALIDATED" }, "hit"],
    [{ "cache-status": "tidemark; hit; ttl=30" }, "hit"],
    [{ "cache-status": "tidemark; fwd=uri-miss; stored" }, "miss"],
    [{ "cache-status": "origin; hit, cdn; fwd=miss" }, "hit"],
    [{ "cache-status": "tidemark; fwd=stale; fwd-status=200" }, "expired"],
    [{ "x-varnish": "32770 3" }, "hit"],
    [{ "x-varnish": "32770" }, "miss"],
    [{ "x-cache-hits": "0, 3" }, "hit"],
    [{ "server-timing": "cdn-cache; desc=HIT, edge; dur=1" }, "hit"],
    [{ age: "120" }, "hit"],
    [{ age: "1" }, "unknown"],
    [{ "x-cache": "MISS", age: "120" }, "hit"],
    [{ "x-anything": "white chit" }, "unknown"],
    [{}, "unknown"],
  ] as const)("%o: %s", async (fields, wanted) => {
    const { provenanceOf } = await judgesWith();
    expect(provenanceOf(Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, [text]])))).toBe(wanted);
  });

  test("an owner's own field tells hits as the owner says", async () => {
    const { provenanceOf } = await judgesWith();
    const own = [{ name: "x-served-by-us", text: "store" }];
    expect(provenanceOf({ "x-served-by-us": ["Store 7"] }, own)).toBe("hit");
    expect(provenanceOf({ "x-served-by-us": ["origin"] }, own)).toBe("miss");
  });
});

describe("whether the buster is in the key", () => {
  const hit = { "x-cache": "HIT" };
  const record = async (each: Partial<RecordedCase>) => {
    const { provenanceOf, busterVerdict } = await judgesWith();
    return busterVerdict(recordOf({ name: "", finds: [], ...each }, provenanceOf));
  };

  test("a first answer from the store shows that it is not", async () => {
    expect(await record({ fresh: { s: () => ({ fields: hit }) } })).toBe("dropped");
    expect(await record({ fresh: { s: () => ({ fields: { "x-cache": "EXPIRED" } }) } })).toBe("dropped");
  });

  test("a hit, and no hit for another, show that it is", async () => {
    expect(
      await record({
        shared: [
          ["s", null],
          ["s", 0],
        ],
      }),
    ).toBe("own-entry");
  });

  test("without a hit nothing is shown", async () => {
    expect(await record({ shared: [["s", null]] })).toBe("nothing-stored");
    expect(
      await record({
        shared: [
          ["s", null],
          ["s", 0],
        ],
        onCopies: {},
      }),
    ).toBe("nothing-stored");
  });
});
