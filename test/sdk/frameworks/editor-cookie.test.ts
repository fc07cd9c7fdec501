import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import Fastify from "fastify";
import { Hono } from "hono";
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

test("it is added to Fastify's reply and to Hono's context, beside earlier and later cookies", async () => {
  const app = Fastify();
  app.get("/", async (_, reply) => {
    reply.header("Set-Cookie", "a=1");
    expect(setEditorCookie(reply, receipt)).toBe(reply);
    reply.header("Set-Cookie", "b=1");
    return "page";
  });
  const reply = await app.inject("/");
  expect([reply.body, reply.headers["set-cookie"]]).toEqual(["page", ["a=1", FIELD, "b=1"]]);

  const pages = new Hono().get("/", (context) => {
    context.header("Set-Cookie", "a=1");
    expect(setEditorCookie(context, receipt)).toBe(context);
    context.header("Set-Cookie", "b=1", { append: true });
    return context.text("page");
  });
  const page = await pages.request("/");
  expect([await page.text(), page.headers.getSetCookie()]).toEqual(["page", ["a=1", FIELD, "b=1"]]);
});

const requests = [
  { method: "GET", header: () => undefined },
  { method: "GET", headers: {}, header: () => undefined },
];
test.each([{}, { headers: {}, header: {} }, ...requests, { cookies: new Map() }, { get() {}, set() {} }])(
  "an object that is no response (%o) is refused with those that are",
  (other) => {
    expect(() => setEditorCookie(other as unknown as Headers, receipt)).toThrow(
      "setEditorCookie: the first argument must be a Headers, a Response, Node's ServerResponse, Fastify's reply or " +
        "Hono's context (in Koa ctx.res)",
    );
  },
);

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
