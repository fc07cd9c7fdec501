import { expect, expectTypeOf, test } from "vitest";
import { createPurger, defineTags, type TagOf, tagResponse } from "../../sdk/index.ts";
import { createRecordingPurger } from "../../sdk/testing.ts";

const tags = defineTags({
  songs: "songs",
  song: (id: number) => `song:${id}` as const,
  line: (song: number, line: string) => `song:${song}:${line}`,
});

test("A vocabulary makes the tags of pages and purges", async () => {
  const cdn = createRecordingPurger();

  const response = tagResponse(new Response(), tags.songs, tags.song(42), tags.line(42, "a"));
  await cdn.purgeTags(tags.song(42), tags.songs);

  expect(response.headers.get("cache-tag")).toBe("songs,song:42,song:42:a");
  expect(cdn.calls).toEqual([{ tags: ["song:42", "songs"] }]);
  expect(Object.keys(tags)).toEqual(["songs", "song", "line"]);
  expect(Object.isFrozen(tags)).toBe(true);
});

const wrong: { name: string; make: () => unknown; message: RegExp }[] = [
  {
    name: "a tag with a space",
    make: () => tags.line(1, "two words"),
    message:
      /^tags\.line: "song:1:two words" is not a valid tag: a tag must be printable ASCII .*; encode names with enc/,
  },
  {
    name: "a tag that is too long",
    make: () => tags.line(1, "x".repeat(256)),
    message: /^tags\.line: ".*…? is not a valid tag: a tag can have at most 256 bytes$/,
  },
  {
    name: "a missing part",
    make: () => tags.song(undefined as unknown as number),
    message: /^tags\.song: argument 1 is undefined, so no page has this tag$/,
  },
  {
    name: "a part that is left out",
    make: () => (tags.line as (song: number) => string)(1),
    message: /^tags\.line: argument 2 is undefined, so no page has this tag$/,
  },
  { name: "no number", make: () => tags.song(Number.NaN), message: /^tags\.song: argument 1 is NaN/ },
  { name: "an empty part", make: () => tags.line(1, ""), message: /^tags\.line: argument 2 is an empty string/ },
  {
    name: "an empty list as a part",
    make: () => tags.song([] as unknown as number),
    message: /^tags\.song: argument 1 is an empty list, so no page has this tag$/,
  },
  {
    name: "a function that returns no string",
    make: () => defineTags({ a: (() => 7) as unknown as () => string }).a(),
    message: /^tags\.a: 7 is not a valid tag: .*expected string/,
  },
  {
    name: "a string that is not a tag",
    make: () => defineTags({ a: "a,b" }),
    message: /^tags\.a: "a,b" is not a valid tag/,
  },
  {
    name: "an invalid vocabulary",
    make: () => defineTags(null as unknown as Record<string, string>),
    message: /^defineTags: the first argument must be an object/,
  },
];

test.for(wrong)("A TypeError says what is wrong with $name", ({ make, message }) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(message);
});

test("The type of a vocabulary knows its tags and their parts", () => {
  expectTypeOf(tags.song).parameters.toEqualTypeOf<[id: number]>();
  expectTypeOf(tags.song).returns.toEqualTypeOf<`song:${number}`>();
  expectTypeOf(tags.songs).toEqualTypeOf<"songs">();
  expectTypeOf<TagOf<Omit<typeof tags, "line">>>().toEqualTypeOf<"songs" | `song:${number}`>();
  expectTypeOf(tags).not.toHaveProperty("sogn");
  expectTypeOf(createPurger().purgeTags).toBeCallableWith(tags.songs, tags.song(1));
});
