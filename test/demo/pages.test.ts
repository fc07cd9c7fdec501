import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DemoOrigin, startDemoOrigin } from "../../demo/origin.ts";
import { STYLESHEET_PATH } from "../../demo/site/assets.ts";

let origin: DemoOrigin;
let slug: string;

beforeAll(async () => {
  origin = await startDemoOrigin({ autocompleteDelayMs: 0, publicHosts: ["www.example.com"] });
  slug = origin.database.posts(1).items[0]?.slug ?? "";
});
afterAll(() => origin.close());

function get(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(origin.url + path.replace(":slug", slug), { redirect: "manual", ...init });
}

function tags(response: Response): string[] {
  return response.headers.get("cache-tag")?.split(", ") ?? [];
}

const IMMUTABLE = "public, max-age=2419200, immutable";

const PUBLIC = [
  { path: "/", type: "text/html", maxAge: "max-age=0", tag: "home" },
  { path: "/plog/", type: "text/html", maxAge: "max-age=0", tag: "plog-list" },
  { path: "/plog/?page=2", type: "text/html", maxAge: "max-age=0", tag: "plog-list" },
  { path: "/plog/:slug", type: "text/html", maxAge: "max-age=0", tag: "plog" },
  { path: "/plog/feed.xml", type: "application/rss+xml", maxAge: "max-age=300", tag: "feed" },
  { path: "/sitemap.xml", type: "application/xml", maxAge: "max-age=0", tag: "sitemap" },
  { path: "/songs?q=harbour", type: "text/html", maxAge: "max-age=0", tag: "songs" },
  { path: "/api/search?q=harbour", type: "application/json", maxAge: "max-age=60", tag: "songs" },
  { path: "/api/song/42", type: "application/json", maxAge: "max-age=60", tag: "song:42" },
  { path: "/api/search/autocomplete?q=har", type: "application/json", maxAge: "max-age=5", tag: "autocomplete" },
];

describe.each(PUBLIC)("$path", ({ path, type, maxAge, tag }) => {
  test("may be stored, for longer by the edge than by a browser, and can be purged by tag", async () => {
    const response = await get(path);
    const directives = response.headers.get("cache-control")?.split(", ");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain(type);
    expect(directives).toEqual(expect.arrayContaining(["public", maxAge, expect.stringMatching(/^s-maxage=\d{4,}$/)]));
    expect(tags(response)).toContain(tag);
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("carries its render number, and is a 304 for a client that has it", async () => {
    const first = await get(path);
    const again = await get(path, { headers: { "if-none-match": first.headers.get("etag") ?? "" } });
    expect(Number(again.headers.get("x-demo-render"))).toBe(Number(first.headers.get("x-demo-render")) + 1);
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect(again.headers.get("cache-control")).toBe(first.headers.get("cache-control"));
    expect(tags(again)).toEqual(tags(first));
  });

  test("answers HEAD with the fields of GET and no body", async () => {
    const whole = await get(path);
    const head = await get(path, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const field of ["content-type", "cache-control", "cache-tag", "etag"]) {
      expect(head.headers.get(field)).toBe(whole.headers.get(field));
    }
  });
});

test("every page that shows a post's title carries the post's tag", async () => {
  const tag = `plog:${slug}`;
  for (const path of ["/", "/plog/", "/plog/:slug", "/plog/feed.xml"]) expect(tags(await get(path))).toContain(tag);
  const older = origin.database.posts(2).items[1]?.slug ?? "";
  expect(tags(await get(`/plog/${older}`))).toContain(tag);
  expect(tags(await get("/plog/?page=3"))).not.toContain(tag);
});

test("a page says in its text when it was rendered, and its render number", async () => {
  const response = await get("/plog/:slug");
  const text = await response.text();
  expect(text).toContain(`<b>#${response.headers.get("x-demo-render")}</b>`);
  expect(text).toMatch(/<time datetime="\d{4}-\d\d-\d\dT[\d:.]+Z">\d{4}-\d\d-\d\d [\d:.]+ UTC<\/time>/);
});

test.each([
  { path: "/images/cover-32k.jpg", bytes: 32 * 1024 },
  { path: "/images/cover-100k.jpg", bytes: 100 * 1024 },
])("$path is an immutable JPEG of exactly $bytes bytes", async ({ path, bytes }) => {
  const response = await get(path);
  const body = Buffer.from(await response.arrayBuffer());
  expect(body.byteLength).toBe(bytes);
  expect([body.subarray(0, 3).toString("hex"), body.subarray(-2).toString("hex")]).toEqual(["ffd8ff", "ffd9"]);
  expect(response.headers.get("content-type")).toBe("image/jpeg");
  expect(response.headers.get("cache-control")).toBe(IMMUTABLE);
});

test("the stylesheet is immutable under its own version, and revalidated under another", async () => {
  expect((await get(STYLESHEET_PATH)).headers.get("cache-control")).toBe(IMMUTABLE);
  expect((await get("/style.css?v=older")).headers.get("cache-control")).toContain("max-age=0");
  expect(await (await get("/")).text()).toContain(STYLESHEET_PATH);
});

describe("the public URL", () => {
  const ALLOWED = [
    { fields: { "x-forwarded-host": "www.example.com", "x-forwarded-proto": "https" }, url: "https://www.example.com" },
    { fields: { "x-forwarded-host": "localhost:8787" }, url: "http://localhost:8787" },
    { fields: { "x-forwarded-host": "[::1]:8787", "x-forwarded-proto": "gopher" }, url: "http://[::1]:8787" },
  ];
  test.each(ALLOWED)("$url is accepted", async ({ fields, url }) => {
    const home = await (await get("/", { headers: fields })).text();
    const feed = await (await get("/plog/feed.xml", { headers: fields })).text();
    expect(home).toContain(`curl -sD- -o /dev/null ${url}/plog/${slug}`);
    expect(feed).toContain(`<link>${url}/plog/${slug}</link>`);
  });

  const REFUSED = [
    "evil.example",
    "localhost.evil.example",
    "www.example.com@evil.example",
    "localhost/evil",
    "a b",
    "",
  ];
  test.each(REFUSED)("%j is not accepted", async (host) => {
    const feed = await (await get("/plog/feed.xml", { headers: { "x-forwarded-host": host } })).text();
    expect(feed).not.toContain("evil");
    expect(feed).toContain(`/plog/${slug}</link>`);
  });

  test("the front page says when no edge passed the request on", async () => {
    expect(await (await get("/")).text()).toContain("You are talking to the origin itself");
    const passedOn = await get("/", { headers: { "x-forwarded-host": "localhost:8787" } });
    expect(await passedOn.text()).not.toContain("You are talking to the origin itself");
  });
});

const ERRORS = [
  { path: "/nothing", status: 404 },
  { path: "/plog/no-such-post", status: 404 },
  { path: "/plog/%E0%A4%A", status: 404 },
  { path: "/plog/%3Cscript%3E", status: 404 },
  { path: "/plog//", status: 404 },
  { path: "/images/nothing.jpg", status: 404 },
  { path: "/images/constructor", status: 404 },
  { path: "/plog/?page=0", status: 400 },
  { path: "/plog/?page=two", status: 400 },
  { path: "/plog/?page=999", status: 404 },
  { path: `/songs?q=${"x".repeat(101)}`, status: 400 },
];
test.each(ERRORS)("$path is a $status with a page that leads on", async ({ path, status }) => {
  const response = await get(path);
  const text = await response.text();
  expect(response.status).toBe(status);
  expect(text).toContain("<h1>");
  expect(text).toContain("Back to the start");
  expect(text).not.toContain("<script>");
});

test("a method that a page does not take is a 405 that lists the ones it takes", async () => {
  const response = await get("/plog/:slug", { method: "DELETE" });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
});

test("/plog redirects to /plog/", async () => {
  const response = await get("/plog");
  expect([response.status, response.headers.get("location")]).toEqual([308, "/plog/"]);
});

test("a visitor's input is shown as text, never as markup", async () => {
  const text = await (await get(`/songs?q=${encodeURIComponent('"><script>alert(1)</script>')}`)).text();
  expect(text).not.toContain("<script>");
  expect(text).toContain("&quot;&gt;&lt;script&gt;");
});
