import type { Reply } from "../../local/cdn/scripted-origin.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { type FrameworkTrial, SETTLED_MS, withoutRoute } from "./framework-trial.ts";

const JSON_FIELDS = { "x-powered-by": "Express", "content-type": "application/json; charset=utf-8" };

const shared = (body: string): Reply => ({
  fields: {
    ...JSON_FIELDS,
    "cache-control": "public, max-age=0, s-maxage=3600",
    "cache-tag": "song:42",
    etag: 'W/"2e-5zM16kx977u0e7kIc6hJg42yJGQ"',
  },
  body,
});
const personal = (body: string): Reply => ({
  fields: { ...JSON_FIELDS, etag: 'W/"1f-m6AFVjfU5pdCuZXFhANoLIVqu0M"' },
  body,
});
const gone: Reply = {
  status: 404,
  fields: { ...JSON_FIELDS, "cache-control": "public, max-age=60", etag: 'W/"10-TYVTgU9Kfe8nBFa5GvrdZWFjOmM"' },
  body: '{"error":"gone"}',
};

const app = (version: string) => ({
  "user-agent": `DemoApp/${version} okhttp/4.12`,
  accept: "application/json",
  "x-app-version": version,
  "x-request-id": `request of ${version}`,
});
const withToken = (token: string) => ({ ...app("3.1"), authorization: `Bearer ${token}` });

/** The site without one rule of the key. */
function withoutInKey(name: "query" | "fields"): (site: SiteInput) => SiteInput {
  return ({ routes = [], ...site }) => ({
    ...site,
    routes: routes.map(({ key, ...route }) => (key ? { ...route, key: { ...key, [name]: undefined } } : route)),
  });
}

export const jsonApi: FrameworkTrial = {
  heading: "A JSON API",
  recordedFrom: "Express 5.3.0",
  origin: {
    "/v1/songs/42": [shared("a song"), shared("a new song")],
    "/v1/songs?genre=folk&page=2": [shared("songs")],
    "/v1/songs/0": [gone],
    "/v1/me": [personal("ada"), personal("bob")],
  },
  steps: [
    { get: "/v1/songs/42", fields: withToken("ada"), expect: { body: "a song" } },
    { originLastSaw: "/v1/songs/42", fields: { "x-app-version": null, "x-request-id": null } },
    { get: "/v1/songs/42", fields: withToken("bob"), expect: { body: "a song", xCache: "HIT" } },
    { get: "/v1/songs/42", fields: app("3.2"), expect: { body: "a song", xCache: "HIT" } },
    { get: "/v1/songs?page=2&genre=folk", fields: app("3.1"), expect: { body: "songs" } },
    { get: "/v1/songs?genre=folk&page=2", fields: app("3.2"), expect: { body: "songs", xCache: "HIT" } },
    { get: "/v1/songs/0", fields: app("3.1"), expect: { status: 404 } },
    { get: "/v1/songs/0", fields: app("3.2"), expect: { status: 404, xCache: "HIT" } },
    { get: "/v1/me", fields: withToken("ada"), expect: { body: "ada", xCache: "BYPASS" } },
    { get: "/v1/me", fields: withToken("bob"), expect: { body: "bob", xCache: "BYPASS" } },
    { purge: { tags: ["song:42"] } },
    { advanceMs: SETTLED_MS },
    { get: "/v1/songs/42", fields: app("3.1"), expect: { body: "a new song" } },
    { get: "/v1/songs/42", fields: withToken("ada"), expect: { body: "a new song", xCache: "HIT" } },
  ],
  without: {
    "fields.drop": ({ fields: _, ...site }) => site,
    "the pages of one visitor": withoutRoute("/v1/me{/*}?"),
    "the sorted query": withoutInKey("query"),
    "accept in key.fields": withoutInKey("fields"),
  },
};
