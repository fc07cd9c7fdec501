import { bearerToken } from "../access/tokens.ts";
import type { Door } from "./door.ts";

/**
 * `POST /client/v4/zones/{zone}/purge_cache` of Cloudflare's API v4, or `DELETE`, as plugins of WordPress send it. The
 * token is an API token, or the key beside `X-Auth-Email`. Codes and messages are Cloudflare's. Its documents have no code
 * for a wrong item, which gets 1000.
 */
export const cloudflare: Door = {
  token: (fields) => bearerToken(fields.get("authorization")) ?? fields.get("x-auth-key"),
  read({ method, path, zone, json }) {
    const [, named] = /^client\/v4\/zones\/([^/]+)\/purge_cache$/.exec(path) ?? [];
    // For a zone of somebody else, Cloudflare answers that the token is wrong.
    if (named?.length === 32 && named !== zone) return { refusal: "token" };
    if (named !== zone || !["POST", "DELETE"].includes(method)) return { refusal: "zone", because: `/${path}` };
    const { files, tags, hosts, prefixes, purge_everything } = json;
    const lists = [files, tags, hosts, prefixes].filter((list) => list !== undefined);
    if (!lists.every(Array.isArray)) return { refusal: "invalid", because: `1014 ${KINDS} must be an array` };
    if (purge_everything && lists.length > 0) {
      return { refusal: "invalid", because: `1092 Request cannot contain "purge_everything" and any of ${KINDS}` };
    }
    if (purge_everything !== true && lists.length === 0) {
      return { refusal: "invalid", because: `1012 Request must contain one of "purge_everything", ${KINDS}` };
    }
    // A file may come with the request fields of its key. A purge reaches all variants of a URL.
    const urls = (files as undefined | readonly unknown[])?.map((file) => (file as { url?: unknown })?.url ?? file);
    return {
      purge: { urls, tags, hosts, prefixes, everything: purge_everything || undefined },
      answer: ({ warnings }) => answer(200, [], { id: zone }, warnings),
    };
  },
  words: {
    token: [403, "10000 Authentication error"],
    noToken: [400, "9106 Missing X-Auth-Key, X-Auth-Email or Authorization headers"],
    zone: [404, "7003 Could not route to ", "7000 No route for that URI"],
    invalid: [400, "1000 Unable to purge, "],
    unavailable: [503, "1000 Unable to purge, "],
  },
  refuse([status, first = "", ...others], because) {
    const message = /^\d{4} /.test(because) ? because : first + because;
    const question = status === 404 ? ", perhaps your object identifier is invalid?" : "";
    return answer(status, [message + question, ...others], null);
  },
};

const KINDS = '"files", "tags", "hosts" or "prefixes"';

/** Each error is its code and its message. */
function answer(status: number, errors: readonly string[], result: object | null, warnings: string[] = []): Response {
  const told = errors.map((error) => ({ code: Number.parseInt(error, 10), message: error.replace(/^\d+ /, "") }));
  const messages = warnings.map((message) => ({ code: 1000, message }));
  return Response.json({ success: status === 200, errors: told, messages, result }, { status });
}
