import { expect, test } from "vitest";
import { tagResponse } from "../../sdk/index.ts";
import { findUntagged } from "../../sdk/testing.ts";

const lanterns = { id: 1, title: "Lanterns & Co." };
const harbour = { id: 2, title: 'Harbour "Lights" <live>' };
const night = { id: 3, title: "Nattergårdens sang" };
const songs = [lanterns, harbour, night];
const song = {
  tags: ({ id }: { id: number }) => `song:${id}`,
  shows: ({ title }: { title: string }) => title,
};

const page = (body: string, ...tags: string[]) => tagResponse(new Response(body), tags);

test("A record that a page shows without its tag is found, and one that it does not show is not", async () => {
  const html = "<li>Lanterns &amp; Co.<li>Harbour &quot;Lights&quot; &lt;live&gt;";

  await expect(findUntagged(page(html, "song:1", "song:3"), songs, song)).resolves.toEqual({
    shown: [lanterns, harbour],
    untagged: [harbour],
  });
  await expect(findUntagged(page(html, "song:2", "song:1"), songs, song)).resolves.toMatchObject({ untagged: [] });
  await expect(findUntagged(page("nothing"), songs, song)).resolves.toEqual({ shown: [], untagged: [] });
});

test.for([
  { name: "HTML with names of letters", body: "Natterg&aring;rdens sang and Harbour &quot;Lights&QUOT; &LT;live&gt;" },
  { name: "HTML with numbers", body: "Nattergå&#114;dens s&#x61;ng and Harbour &#34;Lights&#34; &#60;live&#62;" },
  { name: "JSON", body: JSON.stringify([night, harbour]) },
  { name: "JSON in ASCII", body: String.raw`Natterg\u00e5rdens sang, Harbour \"Lights\" \u003clive\u003e` },
  { name: "plain text", body: `${night.title}; ${harbour.title}` },
])("Titles are found in $name", async ({ body }) => {
  const { shown } = await findUntagged(page(body), songs, song);

  expect(shown).toEqual([harbour, night]);
});

test("A record can need several tags and have several texts, and fields and body can be given separately", async () => {
  const headers = new Headers({ "Cache-Tag": "song:1, artist:9" });
  const needs = (...tags: string[]) => ({ tags: () => tags, shows: () => ["/songs/1", "Lanterns"] });

  const shown = { headers, body: '<a href="/songs/1">' };

  await expect(findUntagged(shown, [1], needs("song:1", "artist:9"))).resolves.toEqual({ shown: [1], untagged: [] });
  await expect(findUntagged(shown, [1], needs("song:1", "artist:8"))).resolves.toEqual({ shown: [1], untagged: [1] });
});

test("A text that is on every page is a TypeError", async () => {
  const found = findUntagged(page("a"), songs, { ...song, shows: () => " " });

  await expect(found).rejects.toThrow(/^findUntagged: shows must return strings that are not empty/);
});

test("A page that nobody has awaited is refused in words", async () => {
  const page = Promise.resolve(new Response("Lanterns")) as unknown as Response;
  const finding = findUntagged(page, [1], { tags: () => "song:1", shows: () => "Lanterns" });
  await expect(finding).rejects.toThrow(new TypeError("findUntagged: the page is a promise: await it first"));
});
