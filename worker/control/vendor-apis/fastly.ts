import { urlOfPurge } from "../../rules/key/purge-url.ts";
import type { Door, DoorReading } from "./door.ts";

/**
 * Fastly's purge API: `POST /service/{id}/purge/{key}`, `/service/{id}/purge` with `Surrogate-Key` or `surrogate_keys`,
 * `/service/{id}/purge_all`, `/purge/{url}`; and `PURGE` of a URL. `Fastly-Soft-Purge` makes a purge soft, whatever its
 * value is, except that of everything.
 */
export const fastly: Door = {
  token: (fields) => fields.get("fastly-key"),
  read({ method, path, search, page, fields, zone, json }) {
    const mode = fields.has("fastly-soft-purge") ? "soft" : "hard";
    const one = (purge: object): DoorReading => ({
      purge: { ...purge, mode },
      answer: ({ token }) => Response.json({ status: "ok", id: token }),
    });
    if (method === "PURGE") return one({ urls: [urlOfPurge(page)] });
    const [, service, all, key] = /^service\/([^/]+)\/purge(?:(_all)|\/(.+))?$/.exec(path) ?? [];
    const [, scheme = "https://", url] = /^purge\/(https?:\/\/)?(.+)$/i.exec(path) ?? [];
    if (method !== "POST" || (service !== zone && !url)) return { refusal: "zone" };
    if (url) return one({ urls: [scheme + url + search] });
    if (all) return { purge: { everything: true }, answer: () => Response.json({ status: "ok" }) };
    // The path of a key that is not escaped ends at its first question mark.
    if (key) return one({ tags: [decoded(key + search)] });
    const tags = fields.get("surrogate-key")?.split(/\s+/).filter(Boolean) ?? json.surrogate_keys;
    return {
      purge: { tags, mode },
      answer: ({ token }) => Response.json(Object.fromEntries((tags as string[]).map((tag) => [tag, token]))),
    };
  },
  words: {
    token: [401, "Provided credentials are missing or invalid"],
    zone: [404, "Record not found", "Cannot find service"],
    invalid: [400, "Bad request"],
    unavailable: [503, "Service unavailable"],
  },
  refuse: ([status, msg, details], because) => Response.json({ msg, details: because || details }, { status }),
};

/** A key with a `%` that encodes nothing is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
