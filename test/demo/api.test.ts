import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Song, Suggestion } from "../../demo/data/database.ts";
import { type DemoOrigin, startDemoOrigin } from "../../demo/origin.ts";
import { startSearchPage } from "../../demo/search-page/server.ts";

interface SearchAnswer {
  q: string;
  page: number;
  total: number;
  songs: Song[];
}

let origin: DemoOrigin;

beforeAll(async () => {
  origin = await startDemoOrigin({ autocompleteDelayMs: 0 });
});
afterAll(() => origin.close());

function get(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(origin.url + path, init);
}

async function search(query: string): Promise<SearchAnswer> {
  const response = await get(`/api/search?${query}`);
  return (await response.json()) as SearchAnswer;
}

test("a search finds songs by the beginnings of words, and says how many it found", async () => {
  const answer = await search("q=lant%20son");
  expect(answer).toMatchObject({ q: "lant son", page: 1, total: expect.any(Number) });
  expect(answer.songs[0]?.title).toMatch(/lantern/i);
});

test("no song is on two pages of a search", async () => {
  const pages = await Promise.all([search("q=harbour"), search("q=harbour&page=2")]);
  const ids = pages.flatMap(({ songs }) => songs.map((song) => song.id));
  expect(new Set(ids).size).toBe(40);
});

test("a search result carries the tag of each song in it", async () => {
  const response = await get("/api/search?q=harbour");
  const { songs } = await search("q=harbour");
  const tags = response.headers.get("cache-tag")?.split(", ");
  expect(tags).toEqual(expect.arrayContaining(songs.map((song) => `song:${song.id}`)));
});

test.each(['"', "*", "a* OR b", "NEAR(a b)", "%", "_", "\\", "title:x", "𞤀", "-", "'; DROP TABLE songs"])(
  "%j is text to search for, not query syntax",
  async (text) => {
    const q = encodeURIComponent(text);
    expect((await get(`/api/search?q=${q}`)).status).toBe(200);
    expect((await get(`/api/search/autocomplete?q=${q}`)).status).toBe(200);
  },
);

describe("the autocomplete", () => {
  test("suggests titles and artists in which a word begins with the text", async () => {
    const response = await get("/api/search/autocomplete?q=lan");
    const { suggestions } = (await response.json()) as { suggestions: Suggestion[] };
    expect(suggestions).toHaveLength(8);
    for (const { text } of suggestions) expect(text).toMatch(/(^| )lan/i);
  });

  test("ignores upper case and surrounding spaces, so that an edge may share one copy", async () => {
    const one = await (await get("/api/search/autocomplete?q=lantern")).text();
    expect(await (await get("/api/search/autocomplete?q=%20LANtern%20%20")).text()).toBe(one);
  });

  test("can be read by a page on another origin, including the fields of the edge", async () => {
    const response = await get("/api/search/autocomplete?q=lan", { headers: { origin: "http://localhost:8789" } });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-expose-headers")).toContain("X-Cache");
    expect(response.headers.get("vary")).toBeNull();
  });

  test("answers a preflight", async () => {
    const response = await get("/api/search/autocomplete", { method: "OPTIONS" });
    expect([response.status, response.headers.get("access-control-allow-methods")]).toEqual([
      204,
      "GET, HEAD, OPTIONS",
    ]);
  });

  test("aborts a slow request when the origin closes", async () => {
    const answered = Promise.withResolvers<void>();
    const slow = await startDemoOrigin({ autocompleteDelayMs: 3_600_000, log: () => answered.resolve() });
    const lost = expect(fetch(`${slow.url}/api/search/autocomplete?q=lan`)).rejects.toThrow();
    await fetch(`${slow.url}/api/song/1`);
    await answered.promise;
    await slow.close();
    await lost;
  });
});

test.each([
  { path: "/api/song/0", status: 400 },
  { path: "/api/song/forty-two", status: 400 },
  { path: "/api/song/999999", status: 404 },
  { path: "/api/nothing", status: 404 },
  { path: `/api/search?q=${"x".repeat(101)}`, status: 400 },
])("$path is a $status in JSON, which other origins can read", async ({ path, status }) => {
  const response = await get(path);
  expect(response.status).toBe(status);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(await response.json()).toEqual({ error: expect.any(String) });
});

test("the page on another origin may call only the site that it is configured for", async () => {
  const page = await startSearchPage({ siteUrl: "http://localhost:8787/ignored" });
  try {
    const response = await fetch(page.url);
    expect(await response.text()).toContain('data-site="http://localhost:8787"');
    expect(response.headers.get("content-security-policy")).toContain("connect-src http://localhost:8787;");
    expect((await fetch(`${page.url}/autocomplete.js`)).headers.get("content-type")).toContain("text/javascript");
    expect((await fetch(`${page.url}/constructor`)).status).toBe(404);
  } finally {
    await page.close();
  }
});
