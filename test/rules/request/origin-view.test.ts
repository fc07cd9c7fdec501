import { expect, test } from "vitest";
import { OriginView } from "../../../worker/rules/request/origin-view.ts";

test("a client's list of the fields of its connection is read once, however many fields select", () => {
  const read: string[] = [];
  const request = {
    field: (name: string) => {
      read.push(name);
      return name === "connection" ? "x-a, x-b" : "1";
    },
    visitor: { cookies: { forwarded: null } },
    choices: { selecting: new Map() },
  };
  const view = new OriginView(request, { keyFields: [], droppedFields: [], trustedFields: [], asksPlain: false });
  expect(["x-a", "x-b", "x-c", "x-d"].map((name) => view.value(name))).toEqual([null, null, "1", "1"]);
  expect(read.filter((name) => name === "connection")).toHaveLength(1);
});
