import { expect } from "vitest";
import { HOST, TOKEN } from "../../engine/scenario.ts";
import { DOOR_TOKENS, type DoorEdge, ZONE } from "./door-edges.ts";
import { CLOUDFLARE, type DoorCase, FASTLY, KEYCDN, NETLIFY, PAGES, VARNISH, VERCEL } from "./recorded-calls.ts";

export const CALLS: Readonly<Record<string, readonly DoorCase[]>> = {
  Cloudflare: CLOUDFLARE,
  Fastly: FASTLY,
  KeyCDN: KEYCDN,
  Netlify: NETLIFY,
  Varnish: VARNISH,
  Vercel: VERCEL,
};

const OWN_FIELDS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** The pages that do not come from the store; after this they do. */
export async function refetched(edge: DoorEdge): Promise<string[]> {
  const paths: string[] = [];
  for (const path of Object.keys(PAGES)) {
    const { fields } = await edge.ask({ path });
    if (fields["x-cache"] !== "HIT") paths.push(path);
  }
  return paths;
}

/** Publishes the pages of the calls and stores them. */
export async function publishPages(edge: DoorEdge): Promise<void> {
  for (const [path, tags] of Object.entries(PAGES)) edge.publish(path, tags);
  await refetched(edge);
}

/** Makes a call, and checks its answer and the pages that it has purged. */
export async function checkCall(
  edge: DoorEdge,
  { request, status, answer, purged = [], mode = "hard" }: DoorCase,
): Promise<void> {
  expect(await refetched(edge)).toEqual([]);
  const answered = await edge.ask(request);
  expect(answered).toMatchObject({ status, fields: OWN_FIELDS });
  if (typeof answer === "string") expect(answered.body).toContain(answer);
  else if (answer === null) expect(answered.body).toBe("");
  else expect(JSON.parse(answered.body)).toMatchObject(answer);
  expect(await refetched(edge)).toEqual(purged);
  if (purged.length > 0) expect(await newestPurge(edge)).toMatchObject({ mode });
}

/** The newest row of the audit trail. */
export async function newestPurge(edge: DoorEdge): Promise<object | undefined> {
  const fields = { authorization: `Bearer ${TOKEN}` };
  const { body } = await edge.ask({ path: "/_tidemark/purges?limit=1", fields });
  return (JSON.parse(body) as { purges: object[] }).purges[0];
}

/** A purge is in the audit trail under its token's name, with the door as its reason. */
export async function checkAuditTrail(edge: DoorEdge): Promise<void> {
  const path = "/_tidemark/doors/keycdn/zones/purge/4711.json";
  const authorization = `Basic ${Buffer.from(`${DOOR_TOKENS.keycdn[0]}:`).toString("base64")}`;
  await edge.ask({ path, fields: { authorization } });
  expect(await newestPurge(edge)).toMatchObject({
    by: "of-keycdn",
    reason: "door keycdn",
    mode: "hard",
    items: ["everything"],
  });
}

/** A body that is not UTF-8 is refused in the vendor's form: its paths would be others. */
export async function checkOtherCoding(edge: DoorEdge): Promise<void> {
  const fields = { authorization: `Bearer ${DOOR_TOKENS.cloudflare[0]}` };
  const path = `/_tidemark/doors/cloudflare/client/v4/zones/${ZONE}/purge_cache`;
  const body = Buffer.from(`{"files":["https://${HOST}/café"]}`, "latin1") as never;
  const answer = await edge.ask({ method: "POST", path, fields, body });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({
    errors: [{ code: 1000, message: expect.stringContaining("UTF-8") }],
  });
}

/** A body that is too large is refused in the vendor's form. */
export async function checkLargeBody(edge: DoorEdge): Promise<void> {
  const fields = { authorization: `Bearer ${DOOR_TOKENS.netlify[0]}` };
  const body = " ".repeat(4 * 1024 * 1024 + 1);
  const answer = await edge.ask({ method: "POST", path: "/_tidemark/doors/netlify/api/v1/purge", fields, body });
  expect(answer.status).toBe(413);
  expect(JSON.parse(answer.body)).toMatchObject({ code: 413 });
}
