import { Hono } from "hono";
import { etag, RETAINED_304_HEADERS } from "hono/etag";
import { HTTPException } from "hono/http-exception";
import { methodNotAllowed } from "hono/method-not-allowed";
import { adminRoutes } from "./admin/routes.ts";
import { API_FIELDS, apiAutocomplete, apiSearch, apiSong } from "./api.ts";
import { image, stylesheet } from "./assets.ts";
import { publicFields, UNSTORED_FIELDS } from "./cache-fields.ts";
import type { DemoContext, DemoEnv, Site } from "./context.ts";
import { errorPage } from "./pages/error-page.ts";
import { robots, rssFeed, sitemap } from "./pages/feeds.ts";
import { home } from "./pages/home.ts";
import { LIST_TAG, plogList, plogPost } from "./pages/plog.ts";
import { songsPage } from "./pages/songs.ts";
import { redirect } from "./redirect.ts";

/** A 304 has all fields of its 200 except Content-Type. */
const FIELDS_OF_304 = [
  ...RETAINED_304_HEADERS,
  "cache-tag",
  "content-security-policy",
  "referrer-policy",
  "x-content-type-options",
  "x-demo-render",
];

/** The whole site: every route, and the answers to requests without a route. */
export function demoApp(site: Site): Hono<DemoEnv> {
  const app = new Hono<DemoEnv>();

  app.use(async (context, next) => {
    const startedAt = site.now();
    const forwarded = context.req.header("x-forwarded-host") !== undefined;
    context.set("site", site);
    context.set("publicUrl", publicUrl(context.req.header(), site.publicHosts, site.fallbackUrl));
    context.set("forwarded", forwarded);
    await next();
    site.report({
      kind: "answered",
      method: context.req.method,
      path: pathAndQuery(context),
      status: context.res.status,
      tookMs: site.now() - startedAt,
      forwarded,
    });
  });
  app.use("/api/*", async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(API_FIELDS)) context.header(name, value);
  });
  app.use(methodNotAllowed({ app, onMethodNotAllowed: refuseMethod }));

  // Before `etag`, because robots.txt represents a part of the site where nobody thought of caching.
  app.get("/robots.txt", robots);
  app.use(etag({ retainedHeaders: FIELDS_OF_304 }));

  app.get("/", home);
  app.get("/plog", (context) =>
    redirect(context, 308, "/plog/", publicFields({ edgeSeconds: 3600, browserSeconds: 0, tags: [LIST_TAG] })),
  );
  app.get("/plog/", plogList);
  app.get("/plog/feed.xml", rssFeed);
  app.get("/plog/:slug", plogPost);
  app.get("/sitemap.xml", sitemap);
  app.get("/songs", songsPage);
  app.get("/api/search", apiSearch);
  app.get("/api/search/autocomplete", apiAutocomplete);
  app.get("/api/song/:id", apiSong);
  app.get("/images/:name", image);
  app.get("/style.css", stylesheet);
  app.route("/", adminRoutes());

  app.notFound(notFound);
  app.onError((error, context) => {
    if (error instanceof HTTPException) return badRequest(context, error);
    if (!isAborted(context)) {
      site.report({ kind: "failed", method: context.req.method, path: context.req.path, error });
    }
    return errorPage(context, 500, UNSTORED_FIELDS, {
      title: "Something broke here",
      text: "It is not your fault. The origin has logged the error.",
    });
  });
  return app;
}

function notFound(context: DemoContext): Response | Promise<Response> {
  if (isApi(context)) return context.json({ error: "there is nothing here" }, 404, UNSTORED_FIELDS);
  return errorPage(context, 404, UNSTORED_FIELDS, {
    title: "There is nothing here",
    text: "The tide has been, or there never was a page with this address.",
  });
}

/** Answers OPTIONS, and refuses every other method that the path does not allow. RFC 9110 §9.3.7, §15.5.6. */
function refuseMethod(context: DemoContext, methods: readonly string[]): Response | Promise<Response> {
  const allow = [...methods, "OPTIONS"].join(", ");
  const fields = { ...UNSTORED_FIELDS, allow };
  context.res = undefined; // otherwise the fields of the earlier 404 would be merged into this answer
  if (context.req.method === "OPTIONS") {
    return context.body(null, 204, isApi(context) ? { ...fields, "access-control-allow-methods": allow } : fields);
  }
  if (isApi(context)) return context.json({ error: `use one of ${allow}` }, 405, fields);
  return errorPage(context, 405, fields, {
    title: "That cannot be done here",
    text: `This page does not take ${context.req.method}; it takes ${allow}.`,
  });
}

function badRequest(context: DemoContext, { status, message }: HTTPException): Response | Promise<Response> {
  if (isApi(context)) return context.json({ error: message }, status, UNSTORED_FIELDS);
  return errorPage(context, status, UNSTORED_FIELDS, { title: "The request is not valid", text: message });
}

function isApi(context: DemoContext): boolean {
  return context.req.path.startsWith("/api/");
}

function isAborted(context: DemoContext): boolean {
  return context.req.raw.signal.aborted || context.var.site.closing.aborted;
}

function pathAndQuery(context: DemoContext): string {
  const { pathname, search } = new URL(context.req.url);
  return pathname + search;
}

const ALWAYS_ALLOWED = ["localhost", "127.0.0.1", "[::1]"];

/**
 * The scheme and host that the visitor sees, for absolute URLs.
 *
 * `X-Forwarded-Host` and `X-Forwarded-Proto` come from the edge, or from anybody who reaches the origin directly. A
 * host is therefore accepted only if it is on the list. Otherwise the answer is `fallback`, because a link to the
 * wrong address of this site does less harm than a link to a stranger's site.
 */
function publicUrl(
  fields: Readonly<Record<string, string | undefined>>,
  allowedHosts: readonly string[],
  fallback: string,
): string {
  const claimed = (fields["x-forwarded-host"] ?? fields.host ?? "").trim();
  const scheme = fields["x-forwarded-proto"]?.trim() === "https" ? "https" : "http";
  const url = URL.parse(`${scheme}://${claimed}`);
  if (url === null || url.host !== claimed.toLowerCase()) return fallback;
  return [...ALWAYS_ALLOWED, ...allowedHosts].includes(url.hostname) ? url.origin : fallback;
}
