import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker, edgeEntry } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";

/** Edge and app in one worker. The app changes each page by the runtime's own means, which leave the old length there. */
const EDGE_AND_APP = `
  import { createEdge } from "tidemark/worker";
  import { WorkerEntrypoint } from "cloudflare:workers";
  export { PurgeLog } from "tidemark/worker";

  export class App extends WorkerEntrypoint {
    async fetch(request) {
      const headers = { "content-length": "3", "content-type": "text/html", "cache-control": "max-age=60" };
      const page = new Response("<p>old</p>", { headers });
      const path = new URL(request.url).pathname;
      if (path.endsWith("/cf")) return Response.json(request.cf ?? null, { headers: { "cache-control": "max-age=60" } });
      if (request.method === "MOVE") return new Response(request.headers.get("destination"));
      if (path === "/shorter") return new Response("x", page);
      if (path === "/none") return new Response(null, page);
      if (path === "/text") return new Response("a longer text", page);
      if (path === "/large") {
        const length = String(150_000);
        const large = new Response("<p>old</p>".padEnd(150_000), { headers: { ...headers, "content-length": length } });
        return new HTMLRewriter().on("p", { element: (p) => p.setInnerContent("a longer page") }).transform(large);
      }
      return new HTMLRewriter().on("p", { element: (p) => p.setInnerContent("a longer page") }).transform(page);
    }
  }

  const limits = { fetchWholeBytes: "1MiB" };
  const routes = [{ match: "/cart/*", pass: true }];
  const atOnce = createEdge({ origin: { service: "APP" }, hosts: ["${HOST}"], limits, routes });
  const smallest = createEdge({ origin: { service: "APP" }, hosts: ["${HOST}"], limits: { storeBytes: "100KiB" } });
  const inTurn = createEdge({ origin: { service: "APP", concurrency: 2 }, hosts: ["${HOST}"] });
  export default {
    fetch(request, env, context) {
      const edge = { "?turn": inTurn, "?small": smallest }[new URL(request.url).search] ?? atOnce;
      return edge.fetch(new Request(request, { cf: { country: "DK" } }), { ...env, APP: context.exports.App }, context);
    },
  };`;

const agent = new Agent({ keepAlive: false });
let edge: EdgeRuntime;

beforeAll(async () => {
  const script = await bundleWorker({ ...edgeEntry("tidemark.config.ts"), contents: EDGE_AND_APP });
  edge = await startEdgeRuntime({ script, variables: { TIDEMARK_TOKEN: TOKEN } }, { port: 0 });
});

afterAll(() => edge.stop());

describe("an app in the origin's place whose answer has another length than it says", () => {
  test.each([
    ["/rewritten", "<p>a longer page</p>"],
    ["/text", "a longer text"],
    ["/shorter", "x"],
    ["/none", ""],
    ["/text?turn", "a longer text"],
    ["/none?turn", ""],
  ])("%s arrives whole, and is stored", async (path, body) => {
    const get = () => exchange(edge.url, agent, { path });
    expect(await get()).toMatchObject({ status: 200, body, fields: { "x-cache": "MISS" } });
    expect(await get()).toMatchObject({ status: 200, body, fields: { "x-cache": "HIT" } });
  });

  test("a page above the site's own limit of stored pages arrives whole", async () => {
    const { body } = await exchange(edge.url, agent, { path: "/large?small" });
    expect(`${body.trim()} ${body.length}`).toBe("<p>a longer page</p> 150010");
  });

  test("a part of it is cut from the whole", async () => {
    const get = () => exchange(edge.url, agent, { path: "/text?part", fields: { range: "bytes=2-7" } });
    expect(await get()).toMatchObject({ status: 206, body: "longer", fields: { "x-cache": "MISS" } });
    expect(await get()).toMatchObject({ status: 206, body: "longer", fields: { "x-cache": "HIT" } });
  });

  test("a HEAD that the app answers does not tell the wrong length", async () => {
    const { status, fields } = await exchange(edge.url, agent, {
      method: "HEAD",
      path: "/text?asked-by-head=1",
      fields: { authorization: "Basic YTpi" },
    });
    expect({ status, length: fields["content-length"] }).toEqual({ status: 200, length: undefined });
  });
});

test("the Destination of a MOVE has the address that the app sees in its request", async () => {
  const destination = `https://${HOST}/b`;
  const { body } = await exchange(edge.url, agent, { method: "MOVE", path: "/a", fields: { destination } });
  expect(body).toBe(`http://${HOST}/b`);
});

describe("what the platform tells of the visitor", () => {
  const get = async (path: string, method = "GET") => exchange(edge.url, agent, { path, method });

  test.each([
    ["a route that passes", "/cart/cf", "GET"],
    ["an unsafe method", "/cf", "POST"],
  ])("%s: it reaches the app", async (_, path, method) => {
    expect(JSON.parse((await get(path, method)).body)).toEqual({ country: "DK" });
  });

  test("an answer that may be stored is made without it", async () => {
    expect(await get("/cf?stored")).toMatchObject({ body: "{}", fields: { "x-cache": "MISS" } });
    expect(await get("/cf?stored")).toMatchObject({ body: "{}", fields: { "x-cache": "HIT" } });
  });
});
