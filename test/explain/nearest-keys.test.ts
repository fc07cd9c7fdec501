import { expect, test } from "vitest";
import { nearestKeys } from "../../worker/explain/nearest-keys.ts";

const near = (key: string, ...remembered: readonly string[]) => nearestKeys(key, () => null, remembered);

test("a key of another host is near if none of this host is remembered, as where wrangler dev changes it", () => {
  const here = "http://localhost:8787/zz?a=1";
  expect(near(here, "http://www.example.com/zz?a=1", "http://www.example.com/other?a=1")).toEqual([
    { key: "http://www.example.com/zz?a=1", differsIn: ["host www.example.com"] },
  ]);
  expect(near(here, "https://www.example.com/ZZ/?b=2")).toEqual([
    {
      key: "https://www.example.com/ZZ/?b=2",
      differsIn: ["host www.example.com", "path /ZZ/", "query a=1", "query b=2"],
    },
  ]);
});

test("a page of one host of several is not near one of another", () => {
  const here = "https://www.example.com/zz";
  expect(near(here, "https://www.example.com/other", "https://shop.example.com/zz")).toEqual([]);
  expect(near(here, "https://shop.example.com/zz", "https://www.example.com/other")).toEqual([]);
});

test("keys of this host differ in scheme, path, query, order and the fields that select", () => {
  const here = "https://www.example.com/zz?a=1&b=2";
  expect(near(here, "http://www.example.com/zz?a=1&b=2")).toMatchObject([
    { differsIn: ["path http://www.example.com/zz"] },
  ]);
  expect(near(here, "https://www.example.com/zz?b=2&a=1")).toMatchObject([{ differsIn: ["order of the query"] }]);
  expect(near(here, 'https://www.example.com/zz?a=1&b=2 [["cookie","x"]]')).toMatchObject([
    { differsIn: ["field cookie"] },
  ]);
});

test("the three nearest of many keys are named, the nearest first, and variants that differ in the same once", () => {
  const here = "https://www.example.com/zz?a=1";
  const variants = ["x", "y"].map((value) => `${here} [["cookie","${value}"]]`);
  expect(near(here, `${here}&b=2&c=3`, `${here}&b=2`, ...variants, `${here}&d=4`)).toEqual([
    { key: `${here}&b=2`, differsIn: ["query b=2"] },
    { key: here, differsIn: ["field cookie"] },
    { key: `${here}&d=4`, differsIn: ["query d=4"] },
  ]);
});

test("the variant that a request selects is not near it", () => {
  const here = "https://www.example.com/zz";
  expect(nearestKeys(here, () => "de", [`${here} [["accept-language","de"]]`])).toEqual([]);
});

test("a memory of very many small pages is looked through only in part, so that it delays no explanation", () => {
  const most = 200_000;
  let looked = 0;
  function* remembered() {
    while (looked < most) yield `http://a/${looked++}`;
  }
  nearestKeys("http://a/zz", () => null, remembered());
  expect(looked).toBeLessThan(most);
});
