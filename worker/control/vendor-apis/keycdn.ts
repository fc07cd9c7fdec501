import type { Door } from "./door.ts";

/**
 * `GET /zones/purge/{id}.json`, `DELETE /zones/purgeurl/{id}.json` and `DELETE /zones/purgetag/{id}.json` of KeyCDN's
 * API. The token is the name in `Authorization: Basic`, with an empty password. URLs have no scheme.
 */
export const keycdn: Door = {
  token: (fields) => nameIn(/^Basic +(.+)/i.exec(fields.get("authorization") ?? "")?.[1] ?? ""),
  read({ method, path, zone, body, json }) {
    const [, kind, id] = /^zones\/purge(|url|tag)\/([^/]+)\.json$/.exec(path) ?? [];
    if (id !== zone || method !== (kind ? "DELETE" : "GET")) return { refusal: "zone" };
    const list = `${kind}s`;
    // Plugins in PHP send a form: `urls[0]=…`.
    const form = [...new URLSearchParams(body)].filter(([name]) => name.startsWith(`${list}[`));
    const items = json[list] ?? form.map(([, item]) => item);
    if (kind && !Array.isArray(items)) return { refusal: "invalid", because: `${list} must be an array` };
    const urls = kind === "url" ? (items as unknown[]).map(withScheme) : undefined;
    return {
      purge: { urls, tags: kind === "tag" ? items : undefined, everything: kind ? undefined : true },
      answer: () => answer(200, "success", `Cache has been cleared for zone ${zone}.`),
    };
  },
  words: {
    token: [403, "Access denied"],
    zone: [404, "The requested item does not exist"],
    invalid: [400, "Bad request: "],
    unavailable: [503, "Service unavailable: "],
  },
  refuse: ([status, description = ""], because) => answer(status, "error", description + because),
};

function answer(code: number, status: string, description: string): Response {
  return Response.json({ status, description }, { status: code });
}

function withScheme(url: unknown): unknown {
  return typeof url === "string" ? url.replace(/^(?:https?:\/\/)?(?!\/)/i, "https://") : url;
}

/** The name in the credentials of RFC 7617 §2; `null` if there is none. */
function nameIn(credentials: string): string | null {
  try {
    return atob(credentials).split(":")[0] || null;
  } catch {
    return null;
  }
}
