import { revalidatePath, revalidateTag } from "next/cache";

/** Revalidates what the test asks for, as a site does after a change. */
export async function POST(request) {
  const { tag, profile, path, type } = await request.json();
  if (tag) revalidateTag(tag, profile);
  if (path) revalidatePath(path, type);
  return new Response(null, { status: 204 });
}
