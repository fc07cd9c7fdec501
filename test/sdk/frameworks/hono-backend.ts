/** A backend in Hono that is itself a worker. It purges through a `fetch` that says what it was sent. */
import { Hono } from "hono";
import { purgeLater, tag, tidemark } from "../../../sdk/frameworks/hono.ts";
import { createPurger } from "../../../sdk/index.web.ts";

const sent: unknown[] = [];

const purger = createPurger({
  endpoint: "https://www.example.com",
  token: "a-token",
  fetch: async (_url, { body }) => {
    const { id: _, ...purge } = JSON.parse(String(body)) as { id: string };
    sent.push(purge);
    const accepted = { urls: 0, tags: 1, prefixes: 0, hosts: 0, everything: false };
    const at = "2000-01-01T00:00:00.000Z";
    const receipt = { seq: 1, logId: "log", token: "log.1", at, settlesInMs: 1200, accepted };
    return Response.json({ ...receipt, replayed: false, dryRun: false });
  },
});

const app = new Hono();
app.use(tidemark({ purger }));
app.get("/", async (c) => {
  // A tag that is set in a later turn, as behind a query, still belongs to this request.
  await new Promise((resolve) => setTimeout(resolve, 0));
  tag("song:42");
  return c.json(sent);
});
app.post("/", async (c) => {
  await c.req.text();
  purgeLater({ tags: ["song:42"] });
  return c.body(null, 204);
});

export default app;
