import { expect, test } from "vitest";
import { makeSeed, POST_COUNT, SONG_COUNT } from "../../demo/data/seed.ts";

test("the same seed makes the same rows", () => {
  expect(makeSeed(7)).toEqual(makeSeed(7));
});

test("another seed makes other rows", () => {
  expect(makeSeed(7).posts[0]).not.toEqual(makeSeed(8).posts[0]);
});

test("there are a few thousand rows, and the slugs are unique and fit in a URL and a tag", () => {
  const { songs, posts } = makeSeed();
  expect(songs).toHaveLength(SONG_COUNT);
  expect(posts).toHaveLength(POST_COUNT);
  expect(new Set(posts.map((post) => post.slug)).size).toBe(POST_COUNT);
  for (const post of posts) expect(post.slug).toMatch(/^[a-z0-9-]{3,100}$/);
});

test("no slot in a phrase is left unfilled", () => {
  expect(JSON.stringify(makeSeed()).match(/\{~?\w+\}/g)).toBeNull();
});
