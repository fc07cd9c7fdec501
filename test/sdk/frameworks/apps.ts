import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { Readable } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import express, { type ErrorRequestHandler } from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { stream } from "hono/streaming";
import * as forExpress from "../../../sdk/frameworks/express.ts";
import * as forFastify from "../../../sdk/frameworks/fastify.ts";
import * as forHono from "../../../sdk/frameworks/hono.ts";
import type { RequestOptions } from "../../../sdk/frameworks/request-scope.ts";
import { respond, tag } from "../../../sdk/frameworks/respond.ts";
import { listenLocally, localUrl } from "../../suite/local-url.ts";

/** The answer of a route, in words that every framework has. */
export interface Plain {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A route of an app: what it does below the framework. */
export type Handler = (request: { readonly body: unknown }) => Promise<Plain>;

/** The routes by method and path, like `POST /songs/42`. */
export type Routes = Readonly<Record<string, Handler>>;

/** Starts a server with these routes behind the middleware. `GET /streamed` is there, too: it tags after its head. */
export type StartApp = (routes: Routes, options: RequestOptions) => Promise<RunningApp>;

export interface RunningApp extends AsyncDisposable {
  readonly url: string;
  /** Answers a GET from within, without a connection, as frameworks let an app ask itself. Express has no such call. */
  readonly askItself?: (path: string) => Promise<{ readonly status: number; readonly body: string }>;
}

/** Each framework, by its name. */
export const frameworks: Readonly<Record<string, StartApp>> = {
  express: inExpress,
  fastify: inFastify,
  hono: inHono,
  respond: inRespond,
};

/** Calls `tag`, and says what came of it. */
function triedTag(name: string): string {
  try {
    tag(name);
    return "tagged";
  } catch (error) {
    return (error as Error).message;
  }
}

async function inExpress(routes: Routes, options: RequestOptions): Promise<RunningApp> {
  const app = express();
  app.use(forExpress.tidemark(options));
  app.use(express.json());
  app.get("/streamed", (_request, response) => {
    tag("early");
    response.writeHead(200, { "Cache-Tag": "own", "Set-Cookie": ["a=1", "b=2"] });
    response.write("head. ");
    response.end(triedTag("late"));
  });
  for (const [route, handler] of Object.entries(routes)) {
    const [method, path] = route.split(" ") as ["GET" | "POST", string];
    app[method === "GET" ? "get" : "post"](path, async (request, response) => {
      const { status = 200, fields = {}, body = "" } = await handler({ body: request.body });
      response.status(status).set(fields).send(body);
    });
  }
  app.use(((_error, _request, response, _next) => {
    response.status(500).send("broken");
  }) satisfies ErrorRequestHandler);
  return listening(createServer(app));
}

async function inFastify(routes: Routes, options: RequestOptions): Promise<RunningApp> {
  const app = Fastify();
  await app.register(forFastify.tidemark, options);
  app.get("/streamed", (_request, reply) => {
    tag("early");
    async function* body() {
      yield "head. ";
      yield triedTag("late");
    }
    return reply.header("Cache-Tag", "own").header("Set-Cookie", ["a=1", "b=2"]).send(Readable.from(body()));
  });
  for (const [route, handler] of Object.entries(routes)) {
    const [method, url] = route.split(" ") as ["GET" | "POST", string];
    app.route({
      method,
      url,
      handler: async (request, reply) => {
        const { status = 200, fields = {}, body = "" } = await handler({ body: request.body });
        return reply.code(status).headers(fields).send(body);
      },
    });
  }
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const askItself = async (path: string) => {
    const { statusCode: status, body } = await app.inject(path);
    return { status, body };
  };
  return { url, askItself, [Symbol.asyncDispose]: () => app.close() };
}

async function inHono(routes: Routes, options: RequestOptions): Promise<RunningApp> {
  const app = new Hono();
  app.use(forHono.tidemark(options));
  app.get("/streamed", (c) => {
    tag("early");
    c.header("Cache-Tag", "own");
    for (const cookie of ["a=1", "b=2"]) c.header("Set-Cookie", cookie, { append: true });
    return stream(c, async (body) => {
      await body.write("head. ");
      await body.write(triedTag("late"));
    });
  });
  for (const [route, handler] of Object.entries(routes)) {
    const [method, path] = route.split(" ") as [string, string];
    app.on(method, path, async (c) => {
      const body = method === "POST" ? await c.req.json() : undefined;
      return toResponse(await handler({ body }));
    });
  }
  app.onError((_error, c) => c.text("broken", 500));
  const askItself = async (path: string) => plain(await app.request(path));
  return { ...(await listening(createServer(getRequestListener(app.fetch)))), askItself };
}

/** A framework of its own, as small as it can be: a function from a request to a response. */
async function inRespond(routes: Routes, options: RequestOptions): Promise<RunningApp> {
  const route = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/streamed") return streamed();
    const body = request.method === "POST" ? await request.json() : undefined;
    return toResponse(await routes[`${request.method} ${pathname}`]!({ body }));
  };
  const answer = (request: Request) =>
    respond(() => route(request), options).catch(() => new Response("broken", { status: 500 }));
  const askItself = async (path: string) => plain(await answer(new Request(new URL(path, "http://localhost"))));
  return { ...(await listening(createServer(getRequestListener(answer)))), askItself };
}

async function plain(response: Response): Promise<{ readonly status: number; readonly body: string }> {
  return { status: response.status, body: await response.text() };
}

function streamed(): Response {
  tag("early");
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(Buffer.from("head. "));
      await new Promise((resolve) => setImmediate(resolve));
      controller.enqueue(Buffer.from(triedTag("late")));
      controller.close();
    },
  });
  const headers: [string, string][] = [
    ["Cache-Tag", "own"],
    ["Set-Cookie", "a=1"],
    ["Set-Cookie", "b=2"],
  ];
  return new Response(body, { headers });
}

function toResponse({ status = 200, fields = {}, body = "" }: Plain): Response {
  const location = fields.Location;
  // Its fields cannot be changed, and so the middleware has to make a copy.
  if (status === 303 && location !== undefined) return Response.redirect(location, 303);
  return new Response(body, { status, headers: fields });
}

async function listening(server: Server): Promise<RunningApp> {
  await listenLocally(server);
  return {
    url: localUrl(server),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
