import { bearerToken } from "../access/tokens.ts";
import type { Door, DoorReading } from "./door.ts";

/**
 * Varnish as its usual VCL takes purges: `PURGE` of a URL, `PURGE` with the keys of vmod_xkey in `xkey-purge` or
 * `xkey-softpurge`, and `BAN` with the fields that FOSHttpCache sends. Varnish has addresses instead of credentials, so
 * that the token is in `Authorization: Bearer`. A ban is a regular expression; it is accepted if it names hosts, one
 * URL, a directory or tags, and refused if it could mean anything else.
 */
export const varnish: Door = {
  token: (fields) => bearerToken(fields.get("authorization")),
  read({ method, page, fields }) {
    if (method === "BAN") return readBan(fields);
    const hard = fields.get("xkey-purge");
    const soft = fields.get("xkey-softpurge");
    if (method !== "PURGE") return { refusal: "zone" };
    if (hard !== null && soft !== null) return { refusal: "invalid", because: "XKey-Purge and XKey-SoftPurge" };
    const tags = (hard ?? soft)?.split(/[\s,]+/).filter(Boolean);
    return {
      purge: tags ? { tags, mode: soft ? "soft" : "hard" } : { urls: [page] },
      answer: () => synth(200, "Purged"),
    };
  },
  words: {
    token: [405, "Not allowed"],
    zone: [405, "Not allowed"],
    invalid: [400, "Bad Request"],
    unavailable: [503, "Service Unavailable"],
  },
  refuse: ([status, reason = ""], because) => synth(status, reason, because),
};

/** Fields that a ban joins by "and". A field that is missing matches everything, but one must be there. */
function readBan(fields: Headers): DoorReading {
  const named = (name: string): string | null => {
    const expression = fields.get(name);
    return expression === null || /^\^?\.\*\$?$/.test(expression) ? null : expression;
  };
  const [host, url, tags] = [named("x-host"), named("x-url"), named("x-cache-tags")];
  const refused: DoorReading = { refusal: "invalid", because: "This ban is not supported" };
  const banned = (purge: object): DoorReading => ({ purge, answer: () => synth(200, "Banned") });
  const isEmpty = !["x-host", "x-url", "x-cache-tags"].some((name) => fields.has(name));
  if (isEmpty || named("x-content-type") !== null || fields.has("cookie")) return refused;
  if (tags !== null) {
    const names = literals(/^(?:\(\^\|,\))?\((.+)\)\(,(?:\|\$\)|\.\+\)\?\$)$/.exec(tags)?.[1]);
    return names && host === null && url === null ? banned({ tags: names }) : refused;
  }
  // People leave the dots of hosts as they are.
  const hosts = host === null ? [""] : literals(/^\^\(?([^()]+)\)?\$$/.exec(host)?.[1]?.replace(/\\?\./g, "\\."));
  if (!hosts) return refused;
  if (url === null || /^\^\/(?:\.\*\$?)?$/.test(url)) return banned(host === null ? { everything: true } : { hosts });
  const [, folder, whole] = /^\^(?:(\/.+?)\/(?:\.\*\$?)?|(\/.*)\$)$/.exec(url) ?? [];
  const [path, another] = literals(whole ?? folder) ?? [];
  if (!path || another || (folder && path.includes("?"))) return refused;
  if (folder) return banned({ prefixes: hosts.map((each) => each + path) });
  return banned({ urls: hosts.map((each) => (each && `https://${each}`) + path) });
}

/** The texts that `a|b` matches, with escapes taken off; `null` if it matches others. */
function literals(expression = ""): string[] | null {
  const texts = /^(?:\\\W|[^\\.*+?()[\]{}^$])+$/.test(expression) ? (expression.match(/(?:\\.|[^\\|])+/g) ?? []) : [];
  return texts.join("|") === expression && expression ? texts.map((text) => text.replace(/\\(.)/g, "$1")) : null;
}

/** The page that `synth()` of a VCL makes. */
function synth(status: number, statusText: string, because = ""): Response {
  const title = `${status} ${statusText}`;
  const text = because.replaceAll("&", "&amp;").replaceAll("<", "&lt;") || statusText;
  const page = `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>\n`;
  return new Response(page, { status, statusText, headers: { "content-type": "text/html; charset=utf-8" } });
}
