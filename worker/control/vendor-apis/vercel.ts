import { bearerToken } from "../access/tokens.ts";
import type { Door } from "./door.ts";

/**
 * `POST /v1/edge-cache/invalidate-by-tags` and `/v1/edge-cache/dangerously-delete-by-tags` of Vercel's API. The first
 * purges softly. There are no previews, and no deadline for a deletion.
 */
export const vercel: Door = {
  token: (fields) => bearerToken(fields.get("authorization")),
  read({ method, path, search, zone, json }) {
    const [, how] = /^v1\/edge-cache\/(invalidate|dangerously-delete)-by-tags$/.exec(path) ?? [];
    const named = new URLSearchParams(search).get("projectIdOrName");
    if (!how || method !== "POST" || named !== zone) return { refusal: "zone" };
    const { tags, target = "production", revalidationDeadlineSeconds = 0 } = json;
    if (target !== "production" || revalidationDeadlineSeconds !== 0) {
      return { refusal: "invalid", because: "only production, without revalidationDeadlineSeconds, is supported" };
    }
    return {
      purge: {
        tags: typeof tags === "string" ? tags.split(/ *, */) : tags,
        mode: how === "invalidate" ? "soft" : "hard",
      },
      answer: () => new Response(null),
    };
  },
  words: {
    token: [403, "Not authorized", "forbidden"],
    zone: [404, "Project not found", "not_found"],
    invalid: [400, "Invalid request: ", "bad_request"],
    unavailable: [503, "Service Unavailable: ", "service_unavailable"],
  },
  refuse: ([status, message, code], because) =>
    Response.json({ error: { code, message: message + because } }, { status }),
};
