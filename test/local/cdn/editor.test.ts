import { type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DemoOrigin, type DemoPurger, startDemoOrigin } from "../../../demo/origin.ts";
import { type Editor, logIn } from "../../demo/editor.ts";
import "tidemark/local/matchers";

let cdn: Cdn<"fra" | "syd">;
let origin: DemoOrigin;
let editor: Editor;

/** The demo purges through the PoP in Frankfurt. */
const purger: DemoPurger = { purge: (request) => cdn.purger.purge(request) };

beforeAll(async () => {
  origin = await startDemoOrigin({ purger });
  cdn = await startCdn({
    site: { hosts: ["www.example.test"], routes: [{ match: "/admin{/*}?", pass: true }] },
    origin: origin.url,
    regions: ["fra", "syd"],
  });
  editor = await logIn(origin);
});

afterAll(async () => {
  await cdn.close();
  await origin.close();
});

test("an editor sees a saved post at once, even from another PoP; all others see it once the purge has settled", async () => {
  const post = origin.database.posts(1).items[0]!;
  const path = `/plog/${post.slug}`;
  const seen = (fields: Record<string, string> = {}) => cdn.get(path, { from: "syd", fields });
  await expect(seen()).toMiss();
  await expect(seen()).toHit();

  const saved = await editor.send(`/admin/posts/${post.slug}`, {
    title: "A title that nobody has seen",
    summary: post.summary,
    body: post.body,
  });
  expect(saved.status).toBe(303);
  const cookie = saved.headers.getSetCookie().find((each) => each.startsWith("tidemark-after="))!;
  expect(cookie.split("; ").slice(1).sort()).toEqual([
    "HttpOnly",
    expect.stringMatching(/^Max-Age=\d+$/),
    "Path=/",
    "SameSite=Lax",
  ]);

  // A visitor in Sydney may see the old page until the lease of that PoP ends, but the editor there may not.
  expect((await seen()).body).toContain(post.title);
  const editors = await seen({ cookie: cookie.split(";")[0]! });
  expect(editors).toMatchObject({ status: 200, xCache: "MISS" });
  expect(editors.body).toContain("A title that nobody has seen");

  await cdn.advance("2s");
  for (const from of ["fra", "syd"] as const) {
    expect((await cdn.get(path, { from })).body).toContain("A title that nobody has seen");
  }
});
