import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DemoOrigin, type DemoPurger, startDemoOrigin } from "../../demo/origin.ts";
import { inGate } from "../suite/depth.ts";
import { type Editor, logIn, sendForm } from "./editor.ts";

interface RecordedPurge {
  tags: readonly string[];
  /** The post's title as another connection to the database saw it during the purge; undefined when it was gone. */
  titleSeen: string | undefined;
}

const NOW = Date.UTC(2026, 0, 1);
const LISTS = ["plog-list", "feed", "sitemap", "home"];
const RECEIPT = { seq: 7, token: "log.7", settlesInMs: 1250 };

let folder: string;
let file: string;
let origin: DemoOrigin;
let editor: Editor;
let slug: string;
let recorded: RecordedPurge[];
/** The next answer of the purger; an error is thrown. */
let purgeAnswer: unknown;

const purger: DemoPurger = {
  async purge({ tags = [] }) {
    const reader = new DatabaseSync(file, { readOnly: true });
    const row = reader.prepare("SELECT title FROM posts WHERE slug = ?").get(slug);
    reader.close();
    recorded.push({ tags, titleSeen: row && String(row.title) });
    if (purgeAnswer instanceof Error) throw purgeAnswer;
    return purgeAnswer;
  },
};

async function start(withPurger: { purger?: DemoPurger }): Promise<void> {
  // The time stands still, so that no purge is tried again unless the editor asks for it.
  origin = await startDemoOrigin({ database: file, now: () => NOW, ...withPurger });
  slug = origin.database.posts(3).items[2]?.slug ?? "";
  editor = await logIn(origin);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "demo-"));
  file = join(folder, "site.db");
  recorded = [];
  purgeAnswer = RECEIPT;
  await start({ purger });
});
afterEach(async () => {
  await origin.close();
  await rm(folder, { recursive: true });
});

const EDIT = { title: "Another title", summary: "Another summary.", body: "One.\r\n\r\nTwo <b>&</b> three." };

/** The one cookie that a response sets. Its attributes are sorted, because their order means nothing (RFC 6265 §5.2). */
function cookieOf(response: Response): { pair: string | undefined; attributes: string[] } {
  const [cookie, ...others] = response.headers.getSetCookie();
  expect(others).toEqual([]);
  const [pair, ...attributes] = cookie?.split("; ") ?? [];
  return { pair, attributes: attributes.sort() };
}

function view(path: string): Promise<string> {
  return fetch(origin.url + path).then((response) => response.text());
}

describe("the login", () => {
  test("a visitor who is not logged in is sent to the login, and from there back to the page", {
    tags: ["deep"],
  }, async () => {
    const away = await fetch(`${origin.url}/admin/posts/${slug}`, { redirect: "manual" });
    expect(away.status).toBe(303);
    const login = await fetch(origin.url + away.headers.get("location"));
    expect(await login.text()).toContain(`name="next" value="/admin/posts/${slug}"`);
    const form = { user: "editor", password: "slack-water", next: `/admin/posts/${slug}` };
    const back = await sendForm(origin, "/admin/login", "", form);
    expect([back.status, back.headers.get("location")]).toEqual([303, `/admin/posts/${slug}`]);
  });

  test.each(inGate(2, ["https://evil.example/", "//evil.example", "/admin/../", "/admin/\\evil", ""]))(
    "the login does not lead to %j",
    async (next) => {
      const back = await sendForm(origin, "/admin/login", "", { user: "editor", password: "slack-water", next });
      expect(back.headers.get("location")).toBe("/admin/");
    },
  );

  test("the cookie is for the admin area only, hidden from scripts, and Secure behind https", async () => {
    const login = (fields: Record<string, string>) =>
      fetch(`${origin.url}/admin/login`, {
        method: "POST",
        headers: fields,
        body: new URLSearchParams({ user: "editor", password: "slack-water" }),
        redirect: "manual",
      });
    const plain = await login({});
    expect(cookieOf(plain)).toEqual({
      pair: expect.stringMatching(/^demo-session=[\w-]+$/),
      attributes: ["HttpOnly", expect.stringMatching(/^Max-Age=[1-9]\d*$/), "Path=/admin", "SameSite=Lax"],
    });
    const secure = await login({ "x-forwarded-host": "localhost", "x-forwarded-proto": "https" });
    expect(cookieOf(secure).attributes).toContain("Secure");
  });

  test("a wrong password gets a message and no cookie", async () => {
    const response = await sendForm(origin, "/admin/login", "", { user: "editor", password: "high-water" });
    expect([response.status, response.headers.get("set-cookie")]).toEqual([401, null]);
    expect(await response.text()).toContain("not the right name and password");
  });

  test("a login form on another site is refused", async () => {
    const response = await fetch(`${origin.url}/admin/login`, {
      method: "POST",
      headers: { "sec-fetch-site": "cross-site" },
      body: new URLSearchParams({ user: "editor", password: "slack-water" }),
    });
    expect([response.status, response.headers.get("set-cookie")]).toEqual([403, null]);
  });

  test("nothing in the admin area may be stored", { tags: ["deep"] }, async () => {
    for (const path of ["/admin/", `/admin/posts/${slug}`, "/admin/login", "/admin/posts/none"]) {
      const { fields } = await editor.view(path);
      expect(fields.get("cache-control")).toBe("private, no-store");
      expect(fields.get("cache-tag")).toBeNull();
    }
  });

  test("after the logout the old cookie is worth nothing", { tags: ["deep"] }, async () => {
    await editor.send("/admin/logout");
    expect((await editor.view("/admin/")).status).toBe(303);
  });

  test.each(inGate(1, ["", "forged"]))("a form with the token %j changes nothing", async (csrf) => {
    const response = await editor.send(`/admin/posts/${slug}`, { ...EDIT, csrf });
    expect(response.status).toBe(403);
    expect(origin.database.post(slug)?.revision).toBe(1);
    expect(recorded).toEqual([]);
  });
});

describe("saving", () => {
  test("purges the post's tag once, after the commit", async () => {
    const response = await editor.send(`/admin/posts/${slug}`, EDIT);
    expect([response.status, response.headers.get("location")]).toEqual([303, `/admin/posts/${slug}`]);
    expect(recorded).toEqual([{ tags: [`plog:${slug}`], titleSeen: "Another title" }]);
  });

  test("shows the change in the post, in the lists and in the feed, as text", { tags: ["deep"] }, async () => {
    const before = await fetch(`${origin.url}/plog/${slug}`);
    await editor.send(`/admin/posts/${slug}`, EDIT);
    const after = await fetch(`${origin.url}/plog/${slug}`);
    const text = await after.text();
    expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
    expect(text).toContain("<h1>Another title</h1>");
    expect(text).toContain("<p>Two &lt;b&gt;&amp;&lt;/b&gt; three.</p>");
    for (const path of ["/", "/plog/", "/plog/feed.xml"]) expect(await view(path)).toContain("Another title");
  });

  test("shows the editor the sequence number of the purge, once, and sets its token as a cookie", {
    tags: ["deep"],
  }, async () => {
    const response = await editor.send(`/admin/posts/${slug}`, EDIT);
    expect(cookieOf(response)).toEqual({
      pair: "tidemark-after=log.7",
      attributes: ["HttpOnly", "Max-Age=7", "Path=/", "SameSite=Lax"],
    });
    expect((await editor.view(`/admin/posts/${slug}`)).text).toContain("purge no. 7");
    expect((await editor.view(`/admin/posts/${slug}`)).text).not.toContain("purge no. 7");
  });

  test.each(inGate(1, [undefined, "done", { token: "not; a cookie" }]))(
    "works with a purger that answers %j",
    async (answer) => {
      purgeAnswer = answer;
      const response = await editor.send(`/admin/posts/${slug}`, EDIT);
      expect(response.headers.get("set-cookie")).toBeNull();
      expect((await editor.view("/admin/")).text).toContain(`Purged <code>plog:${slug}</code>`);
    },
  );

  test("works without a purger, and says that nothing was purged", { tags: ["deep"] }, async () => {
    await origin.close();
    await start({});
    await editor.send(`/admin/posts/${slug}`, EDIT);
    expect(origin.database.post(slug)?.title).toBe("Another title");
    expect((await editor.view("/admin/")).text).toContain("Nothing was purged");
    expect((await editor.view("/admin/")).text).not.toContain("Try the purge again");
  });
});

describe("a purge that fails", () => {
  beforeEach(async () => {
    purgeAnswer = new Error("the edge does not answer");
    await editor.send(`/admin/posts/${slug}`, EDIT);
  });

  test("is reported with its reason, and the edit stays saved", async () => {
    const { text } = await editor.view(`/admin/posts/${slug}`);
    expect(text).toContain("<strong>Saved.</strong> But the purge of");
    expect(text).toContain("the edge does not answer");
    expect(origin.database.post(slug)).toMatchObject({ title: "Another title", revision: 2 });
  });

  test("can be tried again until it works", { tags: ["deep"] }, async () => {
    const again = async () => {
      const action = /action="(\/admin\/purges\/[\w-]+)"/.exec((await editor.view("/admin/")).text)?.[1];
      return action === undefined ? "no button" : (await editor.send(action)).status;
    };
    expect(await again()).toBe(303);
    expect((await editor.view("/admin/")).text).toContain("Try the purge again");
    purgeAnswer = RECEIPT;
    expect(await again()).toBe(303);
    expect(await again()).toBe("no button");
    expect(recorded.map(({ tags }) => tags)).toEqual(Array(3).fill([`plog:${slug}`]));
  });

  test("is still listed after a restart", { tags: ["deep"] }, async () => {
    await origin.close();
    await start({ purger });
    expect((await editor.view("/admin/")).text).toContain(`Not purged yet: <code>plog:${slug}</code>`);
  });

  test("is no longer listed after a later save of the same post was purged", { tags: ["deep"] }, async () => {
    purgeAnswer = RECEIPT;
    await editor.send(`/admin/posts/${slug}`, EDIT);
    expect((await editor.view("/admin/")).text).not.toContain("Not purged yet");
  });
});

describe("deleting", () => {
  test("purges the post and the lists that it was on, after the commit", { tags: ["deep"] }, async () => {
    const response = await editor.send(`/admin/posts/${slug}/delete`);
    expect([response.status, response.headers.get("location")]).toEqual([303, "/admin/"]);
    expect(recorded).toEqual([{ tags: [`plog:${slug}`, ...LISTS], titleSeen: undefined }]);
  });

  test("leaves no link to the post, and a 404 that carries the post's tag", { tags: ["deep"] }, async () => {
    await editor.send(`/admin/posts/${slug}/delete`);
    for (const path of ["/", "/plog/", "/plog/feed.xml", "/sitemap.xml"]) expect(await view(path)).not.toContain(slug);
    const gone = await fetch(`${origin.url}/plog/${slug}`);
    expect(gone.status).toBe(404);
    expect(gone.headers.get("cache-tag")).toContain(`plog:${slug}`);
  });
});

describe("bad input", () => {
  const BAD = [
    { name: "an empty title", form: { ...EDIT, title: "  " }, says: "The title cannot be empty." },
    { name: "a title that is too long", form: { ...EDIT, title: "x".repeat(121) }, says: "at most 120 characters" },
    { name: "no text", form: { title: "T", summary: "S" }, says: "The text cannot be empty." },
    { name: "a text that is too long", form: { ...EDIT, body: "x".repeat(20_001) }, says: "at most 20000 characters" },
  ];
  test.each(inGate(1, BAD))(
    "$name gets a 422 with a message, changes nothing, and keeps the text in the form",
    async ({ form, says }) => {
      const response = await editor.send(`/admin/posts/${slug}`, form as Record<string, string>);
      const text = await response.text();
      expect(response.status).toBe(422);
      expect(text).toContain(says);
      expect(text).toContain(form.summary);
      expect(origin.database.post(slug)?.revision).toBe(1);
      expect(recorded).toEqual([]);
    },
  );

  test("a form that is too large gets a 413", { tags: ["deep"] }, async () => {
    const response = await editor.send(`/admin/posts/${slug}`, { ...EDIT, body: "x".repeat(200_000) });
    expect(response.status).toBe(413);
  });

  test("a body that is not a form gets a 415", { tags: ["deep"] }, async () => {
    const response = await fetch(`${origin.url}/admin/login`, { method: "POST", body: "{}" });
    expect(response.status).toBe(415);
  });

  test.each(inGate(1, ["/admin/posts/none", "/admin/posts/none/delete"]))(
    "a deleted post gets a 404: %s",
    async (path) => {
      expect((await editor.send(path, EDIT)).status).toBe(404);
    },
  );

  test("an unknown purge leads back to the posts", { tags: ["deep"] }, async () => {
    expect((await editor.send("/admin/purges/99")).headers.get("location")).toBe("/admin/");
    expect((await editor.send("/admin/purges/none")).headers.get("location")).toBe("/admin/");
  });
});
