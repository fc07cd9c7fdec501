import { expect, test } from "vitest";
import { nearestKey } from "../../../worker/rules/key/nearest-key.ts";

const cases: readonly { name: string; asked: string; known: string[]; nearest: string | undefined }[] = [
  { name: "another separator", asked: "#plog-hello", known: ["#plog:bye", "#plog:hello"], nearest: "#plog:hello" },
  { name: "no separator", asked: "#ploghello", known: ["#plog:hello"], nearest: "#plog:hello" },
  { name: "other capitals", asked: "#Plog:Hello", known: ["#plog:hello"], nearest: "#plog:hello" },
  { name: "an extra slash", asked: "path:/about/", known: ["path:/", "path:/about"], nearest: "path:/about" },
  { name: "digits with another separator", asked: "#song-42", known: ["#song:43", "#song:42"], nearest: "#song:42" },
  { name: "a missing character", asked: "#plog:hllo", known: ["#plog:hello"], nearest: "#plog:hello" },
  { name: "an extra character", asked: "#plog:helllo", known: ["#plog:hello"], nearest: "#plog:hello" },
  { name: "another character", asked: "path:/abaut", known: ["path:/about"], nearest: "path:/about" },
  { name: "two exchanged characters", asked: "path:/product", known: ["path:/prodcut"], nearest: "path:/prodcut" },
  { name: "two exchanged in a short key", asked: "path:/abuot", known: ["path:/about"], nearest: undefined },
  { name: "three other characters", asked: "#products", known: ["#prodxyzs"], nearest: undefined },
  { name: "one other character of five", asked: "#shoes", known: ["#shoe"], nearest: "#shoe" },
  { name: "one other character of four", asked: "#hats", known: ["#hat"], nearest: undefined },
  { name: "another digit", asked: "#song:42", known: ["#song:43"], nearest: undefined },
  { name: "an extra digit", asked: "#song:4", known: ["#song:42", "#song:14"], nearest: undefined },
  { name: "a digit instead of a letter", asked: "#songs:a", known: ["#songs:1"], nearest: undefined },
  { name: "a missing prefix", asked: "#hello", known: ["#plog:hello"], nearest: "#plog:hello" },
  { name: "a missing prefix of an id", asked: "#42", known: ["#song:4", "#song:42"], nearest: "#song:42" },
  { name: "an extra prefix", asked: "path:/en/about", known: ["path:/about"], nearest: "path:/about" },
  {
    name: "a page below the one that was asked for",
    asked: "path:/blog",
    known: ["path:/blog/hello"],
    nearest: undefined,
  },
  { name: "two missing prefixes", asked: "#hello", known: ["#en:plog:hello"], nearest: "#en:plog:hello" },
  { name: "the home page", asked: "path:/", known: ["path:/about", "path:/a?b"], nearest: undefined },
  { name: "another query", asked: "path:/a?page=2", known: ["path:/a?page=1"], nearest: undefined },
  {
    name: "the most alike of several",
    asked: "#plog-hello",
    known: ["#x:plog:hello", "#plog:hallo", "#plog:hello", "#plog_hello"],
    nearest: "#plog:hello",
  },
  { name: "escapes in lower case", asked: "path:/x?a=%2b", known: ["path:/x?a=%2B"], nearest: "path:/x?a=%2B" },
  {
    name: "escapes of what browsers send as it is",
    asked: "path:/a%5B1%5D",
    known: ["path:/a[1]"],
    nearest: "path:/a[1]",
  },
  { name: "no escapes of it", asked: "path:/pipe|x", known: ["path:/pipe%7Cx"], nearest: "path:/pipe%7Cx" },
  {
    name: "an escape of a letter",
    asked: "path:/x?a=%41",
    known: ["path:/x?a=b", "path:/x?a=A"],
    nearest: "path:/x?a=A",
  },
  { name: "another letter outside ASCII", asked: "path:/%C3%A9", known: ["path:/%C3%A8"], nearest: undefined },
  { name: "an escaped percent sign", asked: "path:/a%2541", known: ["path:/a%25A"], nearest: undefined },
  {
    name: "a long path with escapes in lower case",
    asked: `path:/${"%C3%A9".repeat(4_000)}`,
    known: [`path:/${"%c3%a9".repeat(4_000)}`],
    nearest: `path:/${"%c3%a9".repeat(4_000)}`,
  },
  {
    name: "nothing among paths of separators, within the time of a test",
    asked: "path:/blog/hello",
    known: Array.from({ length: 500 }, (_, n) => `path:/?${"-".repeat(10_000)}${n}`),
    nearest: undefined,
  },
  { name: "no letters for a key too short for slips", asked: "#hats", known: ["#:"], nearest: undefined },
  { name: "nothing known", asked: "#plog-hello", known: [], nearest: undefined },
];

test.each(cases)("$name", ({ asked, known, nearest }) => {
  expect(nearestKey(asked, known)).toBe(nearest);
});
