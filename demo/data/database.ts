import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { makeSeed, type SeedSong } from "./seed.ts";

export type Song = SeedSong;

export interface Post {
  slug: string;
  title: string;
  summary: string;
  /** Paragraphs of plain text with an empty line between them. */
  body: string;
  songId: number;
  publishedAt: number;
  updatedAt: number;
  /** 1 when published, and one more with every edit. */
  revision: number;
}

export type PostChange = Pick<Post, "title" | "summary" | "body">;

/** Writes down a purge in the open transaction of this connection. */
export type EnqueuePurge<Purge> = (transaction: DatabaseSync) => Purge;

export interface Suggestion {
  kind: "song" | "artist";
  text: string;
  /** The song to look at; for an artist, their first one. */
  songId: number;
}

/** One page of a list. `total` counts the items on all pages. */
export interface Page<Item> {
  items: Item[];
  total: number;
}

type Row = Record<string, SQLOutputValue>;

const SCHEMA_VERSION = 2;

const SCHEMA = `
  CREATE TABLE songs (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, artist TEXT NOT NULL, album TEXT NOT NULL,
    year INTEGER NOT NULL, length_seconds INTEGER NOT NULL, first_line TEXT NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE song_words USING fts5(title, artist, album, content='songs', content_rowid='id');
  CREATE TABLE posts (
    slug TEXT PRIMARY KEY, title TEXT NOT NULL, summary TEXT NOT NULL, body TEXT NOT NULL,
    song_id INTEGER NOT NULL REFERENCES songs(id), published_at INTEGER NOT NULL UNIQUE,
    updated_at INTEGER NOT NULL, revision INTEGER NOT NULL
  ) STRICT;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** The site's rows in SQLite. A new database is filled with the seed; an existing file is used as it is. */
export class DemoDatabase {
  readonly #sql: DatabaseSync;

  /** `location` is a file, `:memory:` for rows that last as long as the process, or an open connection. */
  constructor(location: string | DatabaseSync = ":memory:") {
    this.#sql = typeof location === "string" ? new DatabaseSync(location) : location;
    const version = Number(this.#sql.prepare("PRAGMA user_version").get()?.user_version);
    if (version === 0) this.#create();
    else if (version !== SCHEMA_VERSION) {
      this.#sql.close();
      throw new Error(
        `${this.#sql.location() ?? location} was created by another version of the demo; delete it, or use another file`,
      );
    }
  }

  post(slug: string): Post | undefined {
    const row = this.#sql.prepare("SELECT * FROM posts WHERE slug = ?").get(slug);
    return row && toPost(row);
  }

  posts(limit: number, offset = 0): Page<Post> {
    const rows = this.#sql
      .prepare("SELECT * FROM posts ORDER BY published_at DESC LIMIT ? OFFSET ?")
      .all(limit, offset)
      .map(toPost);
    return { items: rows, total: this.#count("SELECT count(*) AS n FROM posts") };
  }

  slugs(): string[] {
    return this.#sql
      .prepare("SELECT slug FROM posts ORDER BY published_at DESC")
      .all()
      .map((row) => String(row.slug));
  }

  /** The posts published just before and just after this one. */
  neighbours(post: Post): { older: Post | undefined; newer: Post | undefined } {
    const older = this.#sql
      .prepare("SELECT * FROM posts WHERE published_at < ? ORDER BY published_at DESC LIMIT 1")
      .get(post.publishedAt);
    const newer = this.#sql
      .prepare("SELECT * FROM posts WHERE published_at > ? ORDER BY published_at LIMIT 1")
      .get(post.publishedAt);
    return { older: older && toPost(older), newer: newer && toPost(newer) };
  }

  song(id: number): Song | undefined {
    const row = this.#sql.prepare("SELECT * FROM songs WHERE id = ?").get(id);
    return row && toSong(row);
  }

  /** Songs in which every word of the query begins some word of the title, artist or album; all songs if there is no word. */
  searchSongs(query: string, limit: number, offset = 0): Page<Song> {
    const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
    if (words.length === 0) {
      const rows = this.#sql.prepare("SELECT * FROM songs ORDER BY id LIMIT ? OFFSET ?").all(limit, offset);
      return { items: rows.map(toSong), total: this.#count("SELECT count(*) AS n FROM songs") };
    }
    const match = words.map((word) => `"${word}"*`).join(" ");
    const rows = this.#sql
      .prepare(
        `SELECT songs.* FROM song_words JOIN songs ON songs.id = song_words.rowid
         WHERE song_words MATCH ? ORDER BY bm25(song_words, 4, 2, 1), songs.id LIMIT ? OFFSET ?`,
      )
      .all(match, limit, offset);
    const total = this.#count("SELECT count(*) AS n FROM song_words WHERE song_words MATCH ?", match);
    return { items: rows.map(toSong), total };
  }

  /** Titles and artists in which some word begins with the text, the shortest first. */
  suggest(text: string, limit: number): Suggestion[] {
    if (text === "") return [];
    const literal = text.replace(/[\\%_]/g, "\\$&");
    return this.#sql
      .prepare(
        `SELECT * FROM (
           SELECT 'song' AS kind, title AS text, min(id) AS song_id FROM songs
             WHERE title LIKE :start ESCAPE '\\' OR title LIKE :inside ESCAPE '\\' GROUP BY title
           UNION ALL
           SELECT 'artist', artist, min(id) FROM songs
             WHERE artist LIKE :start ESCAPE '\\' OR artist LIKE :inside ESCAPE '\\' GROUP BY artist
         ) ORDER BY length(text), text, kind LIMIT :limit`,
      )
      .all({ start: `${literal}%`, inside: `% ${literal}%`, limit })
      .map((row) => ({
        kind: row.kind === "artist" ? "artist" : "song",
        text: String(row.text),
        songId: Number(row.song_id),
      }));
  }

  /** The connection, for the outbox of purges. */
  get connection(): DatabaseSync {
    return this.#sql;
  }

  /** Changes a post and, in the same transaction, writes down the purge that has to follow. */
  savePost<Purge>(slug: string, change: PostChange, updatedAt: number, enqueuePurge: EnqueuePurge<Purge>): Purge {
    return this.#transaction(() => {
      this.#sql
        .prepare(
          "UPDATE posts SET title = ?, summary = ?, body = ?, updated_at = ?, revision = revision + 1 WHERE slug = ?",
        )
        .run(change.title, change.summary, change.body, updatedAt, slug);
      return enqueuePurge(this.#sql);
    });
  }

  /** Deletes a post and, in the same transaction, writes down the purge that has to follow. */
  deletePost<Purge>(slug: string, enqueuePurge: EnqueuePurge<Purge>): Purge {
    return this.#transaction(() => {
      this.#sql.prepare("DELETE FROM posts WHERE slug = ?").run(slug);
      return enqueuePurge(this.#sql);
    });
  }

  close(): void {
    this.#sql.close();
  }

  #create(): void {
    const seed = makeSeed();
    this.#transaction(() => {
      this.#sql.exec(SCHEMA);
      const song = this.#sql.prepare("INSERT INTO songs VALUES (?, ?, ?, ?, ?, ?, ?)");
      for (const s of seed.songs) song.run(s.id, s.title, s.artist, s.album, s.year, s.lengthSeconds, s.firstLine);
      const post = this.#sql.prepare("INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?, ?, 1)");
      for (const p of seed.posts) {
        post.run(p.slug, p.title, p.summary, p.body, p.songId, p.publishedAt, p.publishedAt);
      }
      this.#sql.exec("INSERT INTO song_words(song_words) VALUES ('rebuild')");
    });
  }

  #count(query: string, ...values: string[]): number {
    return Number(this.#sql.prepare(query).get(...values)?.n);
  }

  #transaction<Result>(work: () => Result): Result {
    this.#sql.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#sql.exec("COMMIT");
      return result;
    } catch (error) {
      this.#sql.exec("ROLLBACK");
      throw error;
    }
  }
}

function toPost(row: Row): Post {
  return {
    slug: String(row.slug),
    title: String(row.title),
    summary: String(row.summary),
    body: String(row.body),
    songId: Number(row.song_id),
    publishedAt: Number(row.published_at),
    updatedAt: Number(row.updated_at),
    revision: Number(row.revision),
  };
}

function toSong(row: Row): Song {
  return {
    id: Number(row.id),
    title: String(row.title),
    artist: String(row.artist),
    album: String(row.album),
    year: Number(row.year),
    lengthSeconds: Number(row.length_seconds),
    firstLine: String(row.first_line),
  };
}
