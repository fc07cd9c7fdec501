import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { RouteInput } from "../../../worker/site/site-input.ts";
import { startMemoryEngine } from "../../engine/memory/memory-engine.ts";
import { evaluateSite } from "../site-blocks.ts";

const PAGE = readFileSync("docs/tools.md", "utf8");

/** The route settings that the table gives for a line of VCL. */
async function rulesFor(vcl: string): Promise<Omit<RouteInput, "match">> {
  const row = PAGE.split("\n").find((line) => line.startsWith("|") && line.split("|")[1]!.includes(vcl));
  const code = /\| `([^`]*)`[^|]*\|$/.exec(row ?? "")?.[1];
  if (code === undefined) throw new Error(`the table has no row for ${vcl}`);
  const { routes } = await evaluateSite(
    `import { defineSite } from "tidemark/worker";\nexport default defineSite({ origin: "https://origin.example.com", routes: [{ match: "/*", ${code} }] });`,
  );
  return routes![0]!;
}

const HOUR_MS = 3_600_000;

/** What a visitor gets five hours after a page's lifetime, from an origin that works or fails. */
async function afterHours(vcl: string, isHealthy: boolean): Promise<string | undefined> {
  const route = { match: "/*", ttl: "2s", ...(await rulesFor(vcl)) } as const;
  const engine = startMemoryEngine({ hosts: ["www.example.com"], routes: [route] }, 1);
  let status = 200;
  engine.answerBy!(() => ({ status, fields: { "cache-control": "s-maxage=2" }, body: "page" }));
  const get = () => engine.settle(engine.send({ method: "GET", host: "www.example.com", path: "/", fields: {} }));
  await get();
  await engine.finishWork();
  await engine.advance(5 * HOUR_MS);
  if (!isHealthy) status = 503;
  const { fields } = await get();
  await engine.stop();
  return fields["x-cache"];
}

test.each([
  // Varnish's built-in code serves a page for the whole grace, whether or not the backend is healthy.
  ["set beresp.grace = 6h;", "UPDATING", "UPDATING"],
  ["set req.grace = 10s;", "EXPIRED", "STALE"],
])("the row of %s does what Varnish does", async (vcl, healthy, failing) => {
  expect([await afterHours(vcl, true), await afterHours(vcl, false)]).toEqual([healthy, failing]);
});
