import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { editorCookie, setEditorCookie } from "../../../sdk/frameworks/respond.ts";

const receipt = { token: "log.7", settlesInMs: 1201 };
const FIELD = "tidemark-after=log.7; Path=/; Max-Age=7; HttpOnly; SameSite=Lax";

test("the cookie lasts until every PoP knows of the purge, plus five seconds for the way", () => {
  expect(editorCookie(receipt)).toEqual({
    name: "tidemark-after",
    value: "log.7",
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    maxAge: 7,
  });
});

test("it is added to Headers, to a Response and to Node's response, beside other cookies", () => {
  const headers = new Headers({ "Set-Cookie": "a=1" });
  expect(setEditorCookie(headers, receipt).getSetCookie()).toEqual(["a=1", FIELD]);

  const response = new Response("", { headers: { "Set-Cookie": "a=1" } });
  expect(setEditorCookie(response, receipt)).toBe(response);
  expect(response.headers.getSetCookie()).toEqual(["a=1", FIELD]);

  const node = new ServerResponse(new IncomingMessage(new Socket()));
  setEditorCookie(node, receipt);
  expect(node.getHeader("set-cookie")).toEqual([FIELD]);
  node.setHeader("Set-Cookie", "a=1");
  expect(setEditorCookie(node, receipt).getHeader("set-cookie")).toEqual(["a=1", FIELD]);
});

test("there is no cookie without a purge or for a dry run", () => {
  const headers = new Headers();
  expect(() => editorCookie({ token: "", settlesInMs: 0 })).toThrow("editorCookie: this receipt is of a dry run");
  expect(setEditorCookie(headers, { token: "", settlesInMs: 0 }).getSetCookie()).toEqual([]);
  expect(setEditorCookie(headers, null).getSetCookie()).toEqual([]);
});

test("a response whose fields cannot be changed is refused with the way out", async () => {
  const fetched = await fetch("data:text/plain,page"); // a framework may replace Response, and not what fetch gives
  expect(() => setEditorCookie(fetched, receipt)).toThrow(
    "setEditorCookie: the fields of this response cannot be changed, as those of Response.redirect and of fetch: " +
      "take a copy, new Response(response.body, response)",
  );
  expect(setEditorCookie(fetched, null)).toBe(fetched);
});
