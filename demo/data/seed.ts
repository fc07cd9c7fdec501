import { PHRASES, type PhraseList } from "./phrases.ts";
import { type SeededRandom, seededRandom } from "./seeded-random.ts";

export const SONG_COUNT = 3000;
export const POST_COUNT = 1080;

export interface SeedSong {
  id: number;
  title: string;
  artist: string;
  album: string;
  year: number;
  lengthSeconds: number;
  firstLine: string;
}

export interface SeedPost {
  slug: string;
  title: string;
  summary: string;
  /** Paragraphs of plain text with an empty line between them. */
  body: string;
  songId: number;
  publishedAt: number;
}

export interface Seed {
  songs: SeedSong[];
  /** Oldest first. */
  posts: SeedPost[];
}

const ARTIST_COUNT = 170;
const FIRST_POST_AT = Date.UTC(2019, 1, 4, 7, 30);
const BETWEEN_POSTS_MS = 60.5 * 3_600_000;

/** All rows of a new database. They depend only on the seed, not on a clock or the network. */
export function makeSeed(seed = 1887): Seed {
  const random = seededRandom(seed);
  const songs = makeSongs(random);
  return { songs, posts: makePosts(random, songs) };
}

function makeSongs(random: SeededRandom): SeedSong[] {
  const artists = Array.from({ length: ARTIST_COUNT }, () => {
    const name = compose(random, random.next() < 0.55 ? "person" : "band");
    const albums = Array.from({ length: random.between(1, 4) }, () => ({
      title: compose(random, "albumTitle"),
      year: random.between(1962, 2025),
    }));
    return { name, albums };
  });
  return Array.from({ length: SONG_COUNT }, (_, index) => {
    const artist = random.pick(artists);
    const album = random.pick(artist.albums);
    return {
      id: index + 1,
      title: compose(random, "songTitle"),
      artist: artist.name,
      album: album.title,
      year: album.year,
      lengthSeconds: random.between(112, 431),
      firstLine: compose(random, "firstLine"),
    };
  });
}

function makePosts(random: SeededRandom, songs: readonly SeedSong[]): SeedPost[] {
  const slugs = new Set<string>();
  return Array.from({ length: POST_COUNT }, (_, index) => {
    const song = random.pick(songs);
    const about = {
      song: song.title,
      artist: song.artist,
      album: song.album,
      year: String(song.year),
      minutes: String(Math.round(song.lengthSeconds / 60)),
    };
    const title = compose(random, "postTitle", about);
    const opening = compose(random, "opening", about);
    const sentences = shuffled(random, PHRASES.middle);
    const remark = (): string => fill(random, sentences.pop() ?? random.pick(PHRASES.middle), about);
    const paragraphs = Array.from({ length: random.between(2, 4) }, () =>
      Array.from({ length: random.between(3, 5) }, remark).join(" "),
    );
    return {
      slug: unusedSlug(title, slugs),
      title,
      summary: opening,
      body: [`${opening} ${remark()}`, ...paragraphs, `${remark()} ${compose(random, "closing", about)}`].join("\n\n"),
      songId: song.id,
      publishedAt: FIRST_POST_AT + index * BETWEEN_POSTS_MS,
    };
  });
}

function shuffled<T>(random: SeededRandom, items: readonly T[]): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(random.between(0, rest.length - 1), 1));
}

function compose(random: SeededRandom, list: PhraseList, given: Readonly<Record<string, string>> = {}): string {
  return fill(random, random.pick<string>(PHRASES[list]), given);
}

/** Fills the slots of a phrase, from `given` if it has the name, and otherwise from the list of that name. */
function fill(random: SeededRandom, phrase: string, given: Readonly<Record<string, string>>): string {
  return phrase.replace(/\{(~?)(\w+)\}/g, (_, lower: string, name: string) => {
    const filling = given[name] ?? compose(random, listNamed(name), given);
    return lower === "" ? filling : filling.toLowerCase();
  });
}

function listNamed(name: string): PhraseList {
  if (name in PHRASES) return name as PhraseList;
  throw new RangeError(`there is no list of phrases named ${name}`);
}

function unusedSlug(title: string, taken: Set<string>): string {
  const stem = title
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  let slug = stem;
  for (let copy = 2; taken.has(slug); copy += 1) slug = `${stem}-${copy}`;
  taken.add(slug);
  return slug;
}
