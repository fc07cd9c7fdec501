import { createPurger } from "tidemark";

export const runtime = "edge";

/** Purges a tag. */
export async function POST(request) {
  const { accepted } = await createPurger().purgeTags(await request.text());
  return Response.json(accepted);
}
