import { bearerToken } from "../access/tokens.ts";
import type { Door } from "./door.ts";

/**
 * `POST /api/v1/purge` of Netlify's API: tags, all of a site, or all of one of its domains. There are no deploys here, so
 * that `deploy_alias` is refused, and so are tags of one domain.
 */
export const netlify: Door = {
  token: (fields) => bearerToken(fields.get("authorization")),
  read({ method, path, zone, json }) {
    const { site_id, site_slug = site_id, domain, deploy_alias, cache_tags: tags } = json;
    const isNamed = site_slug === undefined ? domain !== undefined : site_slug === zone;
    if (method !== "POST" || path !== "api/v1/purge" || !isNamed) return { refusal: "zone" };
    if (deploy_alias !== undefined || (tags !== undefined && domain !== undefined)) {
      return { refusal: "invalid", because: "deploy_alias, and cache_tags of one domain, are not supported" };
    }
    const everything = domain === undefined ? { everything: true } : { hosts: [domain] };
    return { purge: tags === undefined ? everything : { tags }, answer: () => new Response(null, { status: 202 }) };
  },
  words: {
    token: [401, "Access Denied"],
    zone: [404, "Not Found"],
    invalid: [400, "Bad Request: "],
    unavailable: [503, "Service Unavailable: "],
  },
  refuse: ([code, message], because) => Response.json({ code, message: message + because }, { status: code }),
};
