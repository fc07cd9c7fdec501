import { expect } from "vitest";
import { ENTRIES } from "../../mutants/entries.ts";
import { exportsOf, findersOf } from "../../mutants/finder.ts";
import { LAST_STREAM_CASES } from "./last-stream-cases.ts";

/** When a connection in HTTP/2 names its last stream, by the cases' names. */
export const lastStreamFinders = findersOf(
  ENTRIES.lastStream,
  LAST_STREAM_CASES.map((each) => [
    each.name,
    async (modules) => {
      const { mayNameLastStream } = exportsOf(modules, ENTRIES.lastStream) as LastStream;
      expect(mayNameLastStream(each)).toBe(each.expected);
    },
  ]),
);

type LastStream = typeof import("../../../server/http2/last-stream.ts");
