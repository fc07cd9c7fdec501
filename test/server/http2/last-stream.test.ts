import { expect, test } from "vitest";
import { mayNameLastStream } from "../../../server/http2/last-stream.ts";
import { LAST_STREAM_CASES } from "./last-stream-cases.ts";

test.each(LAST_STREAM_CASES)("a connection that is to end, when $name: GOAWAY now: $expected", (each) => {
  expect(mayNameLastStream(each)).toBe(each.expected);
});
