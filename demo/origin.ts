import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { adminRoutes } from "./admin/routes.ts";
import { type Answer, json, redirect } from "./answer.ts";
import { apiAutocomplete, apiSearch, apiSong, CORS_FIELDS } from "./api.ts";
import { publicFields, UNSTORED_FIELDS } from "./cache-fields.ts";
import { DemoDatabase } from "./database.ts";
import { readForm } from "./form-body.ts";
import { alreadyHeld } from "./if-none-match.ts";
import { image } from "./images.ts";
import { listen, stopListening } from "./listening.ts";
import { robots, rssFeed, sitemap } from "./pages/feeds.ts";
import { home } from "./pages/home.ts";
import { LIST_TAG, plogList, plogPost } from "./pages/plog.ts";
import { songsPage } from "./pages/songs.ts";
import { sorry } from "./pages/sorry.ts";
import { publicUrl } from "./public-url.ts";
import type { DemoPurger } from "./purger.ts";
import { BadRequest, type DemoRequest, findRoute, type Route } from "./router.ts";
import type { DemoEvent, Site } from "./site.ts";
import { stylesheet } from "./stylesheet.ts";

export type { DemoPurger } from "./purger.ts";
export type { DemoEvent } from "./site.ts";

export interface DemoOriginOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** The address to listen on; default `127.0.0.1`. */
  host?: string;
  /** Purges what a saved change made old. Without one, saving works and says that nothing was purged. */
  purger?: DemoPurger;
  /** The file of the database; default `:memory:`. A new one is filled with the same rows every time. */
  database?: string;
  /** Host names, without a port, that are believed in `X-Forwarded-Host`, beside those of this machine. Default none. */
  publicHosts?: readonly string[];
  /** What the front page links to as the page of another origin; default `http://localhost:8789/`. */
  searchPageUrl?: string;
  /** How long the autocomplete takes, in milliseconds; default 200. */
  autocompleteDelayMs?: number;
  /** Counts the renderings; hand over the same one to go on counting after a restart. Default: from 0. */
  renders?: { count: number };
  /** The clock, in epoch milliseconds; default the system's. */
  now?: () => number;
  /** Told of each answer, purge and failure; default nobody. */
  log?: (event: DemoEvent) => void;
}

export interface DemoOrigin {
  url: string;
  port: number;
  database: DemoDatabase;
  close(): Promise<void>;
}

/** Starts the demo's site. */
export async function startDemoOrigin(options: DemoOriginOptions = {}): Promise<DemoOrigin> {
  const database = new DemoDatabase(options.database);
  const now = options.now ?? Date.now;
  const closing = new AbortController();
  const renders = options.renders ?? { count: 0 };
  const site: Site = {
    database,
    purger: options.purger,
    autocompleteDelayMs: options.autocompleteDelayMs ?? 200,
    searchPageUrl: options.searchPageUrl ?? "http://localhost:8789/",
    now,
    stamp: () => {
      renders.count += 1;
      return { number: renders.count, at: now() };
    },
    report: options.log ?? (() => {}),
  };
  const routes = siteRoutes(site);
  const publicHosts = options.publicHosts ?? [];
  let fallbackUrl = publicHosts[0] === undefined ? "http://localhost" : `http://${publicHosts[0]}`;

  const server = createServer(async (incoming, outgoing) => {
    const startedAt = now();
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const url = incoming.url?.startsWith("/") ? URL.parse(`http://origin.invalid${incoming.url}`) : null;
    const request: DemoRequest = {
      method: incoming.method ?? "GET",
      url: url ?? new URL("http://origin.invalid/"),
      params: {},
      fields: incoming.headers,
      publicUrl: publicUrl(incoming.headers, publicHosts, fallbackUrl),
      forwarded: incoming.headers["x-forwarded-host"] !== undefined,
      signal: AbortSignal.any([gone.signal, closing.signal]),
      form: () => readForm(incoming),
    };
    const answer =
      url === null
        ? sorry(site, request, 400, UNSTORED_FIELDS, { title: "That is no address", text: "A path starts with /." })
        : await answerTo(site, routes, request);
    send(incoming, outgoing, answer);
    site.report({
      kind: "answered",
      method: request.method,
      path: request.url.pathname + request.url.search,
      status: outgoing.statusCode,
      tookMs: now() - startedAt,
      forwarded: request.forwarded,
    });
  });

  try {
    const { url, port } = await listen(server, options.port ?? 0, options.host ?? "127.0.0.1");
    if (publicHosts.length === 0) fallbackUrl = url;
    return {
      url,
      port,
      database,
      close: async () => {
        closing.abort();
        await stopListening(server);
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function siteRoutes(site: Site): Route[] {
  const get = (path: string, handle: Route["handle"]): Route => ({ method: "GET", path, handle });
  return [
    get("/", (request) => home(site, request)),
    get("/plog", () =>
      redirect(308, "/plog/", publicFields({ edgeSeconds: 3600, browserSeconds: 0, tags: [LIST_TAG] })),
    ),
    get("/plog/", (request) => plogList(site, request)),
    get("/plog/feed.xml", (request) => rssFeed(site, request)),
    get("/plog/:slug", (request) => plogPost(site, request)),
    get("/sitemap.xml", (request) => sitemap(site, request)),
    get("/robots.txt", (request) => robots(request)),
    get("/songs", (request) => songsPage(site, request)),
    get("/api/search", (request) => apiSearch(site, request)),
    get("/api/search/autocomplete", (request) => apiAutocomplete(site, request)),
    get("/api/song/:id", (request) => apiSong(site, request)),
    get("/images/:name", (request) => image(request.params.name ?? "") ?? notFound(site, request)),
    get("/style.css", (request) => stylesheet(request.url.searchParams.get("v"))),
    ...adminRoutes(site),
  ];
}

async function answerTo(site: Site, routes: readonly Route[], request: DemoRequest): Promise<Answer> {
  const path = request.url.pathname;
  const routed = findRoute(routes, request.method, path);
  switch (routed.kind) {
    case "not-found":
      return notFound(site, request);
    case "method-not-allowed":
      return methodNotAllowed(site, request, [...routed.allow, "OPTIONS"].join(", "));
    case "found":
      try {
        return await routed.route.handle({ ...request, params: routed.params });
      } catch (error) {
        if (error instanceof BadRequest) return badRequest(site, request, error);
        if (!request.signal.aborted) site.report({ kind: "failed", method: request.method, path, error });
        return sorry(site, request, 500, UNSTORED_FIELDS, {
          title: "Something broke here",
          text: "It is not your fault. The origin has written down what happened.",
        });
      }
  }
}

function notFound(site: Site, request: DemoRequest): Answer {
  if (isApi(request)) return json(404, { error: "there is nothing here" }, { ...UNSTORED_FIELDS, ...CORS_FIELDS });
  return sorry(site, request, 404, UNSTORED_FIELDS, {
    title: "There is nothing here",
    text: "The tide has been, or there never was a page with this address.",
  });
}

function methodNotAllowed(site: Site, request: DemoRequest, allow: string): Answer {
  const cors = isApi(request) ? { ...CORS_FIELDS, "access-control-allow-methods": allow } : {};
  if (request.method === "OPTIONS") return { status: 204, fields: { allow, ...UNSTORED_FIELDS, ...cors }, body: "" };
  const fields = { allow, ...UNSTORED_FIELDS, ...cors };
  if (isApi(request)) return json(405, { error: `use one of ${allow}` }, fields);
  return sorry(site, request, 405, fields, {
    title: "That cannot be done here",
    text: `This page does not take ${request.method}; it takes ${allow}.`,
  });
}

function badRequest(site: Site, request: DemoRequest, { status, message }: BadRequest): Answer {
  const fields = status === 413 ? { ...UNSTORED_FIELDS, connection: "close" } : UNSTORED_FIELDS;
  if (isApi(request)) return json(status, { error: message }, { ...fields, ...CORS_FIELDS });
  return sorry(site, request, status, fields, { title: "That did not work out", text: message });
}

function isApi(request: DemoRequest): boolean {
  return request.url.pathname.startsWith("/api/");
}

/** Writes the answer, or a 304 if the client holds it already (RFC 9110 §15.4.5), or its head alone. */
function send(incoming: IncomingMessage, outgoing: ServerResponse, { status, fields, body }: Answer): void {
  const { etag } = fields;
  if (status === 200 && typeof etag === "string" && alreadyHeld(incoming.headers["if-none-match"], etag)) {
    const { "content-type": _, ...kept } = fields;
    outgoing.writeHead(304, kept).end();
    return;
  }
  const bytes = Buffer.from(body);
  const length = status === 204 ? {} : { "content-length": bytes.byteLength };
  outgoing.writeHead(status, { ...fields, ...length });
  outgoing.end(incoming.method === "HEAD" ? undefined : bytes);
}
