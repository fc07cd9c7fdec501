import { urlOfPurge } from "../../rules/key/purge-url.ts";
import { bearerToken } from "../access/tokens.ts";
import {
  type Door,
  type DoorReading,
  isOfApplication,
  MAGENTO_TAGS,
  PURGE_EVERYTHING,
  PURGE_METHOD,
  TAGS_OF_PURGE,
  TAGS_PATTERN,
  wideningFields,
} from "./door.ts";

/**
 * Varnish as its usual VCL takes purges: `PURGE` of a URL, of tags in the fields of vmod_xkey, Shopware and Magento, or of
 * a directory as WordPress's plugins name it, and `BAN` with the fields that FOSHttpCache sends. Varnish has addresses
 * instead of credentials, so that the token is in `Authorization: Bearer`. A regular expression is accepted if it names
 * hosts, one URL, a directory or tags, and refused if it could mean anything else.
 */
export const varnish: Door = {
  token: (fields) => bearerToken(fields.get("authorization")),
  read({ method, page, fields }) {
    if (method === "BAN") return readBan(fields);
    if (method !== "PURGE") return { refusal: "zone" };
    return readPurge(page, fields);
  },
  words: {
    token: [405, "Not allowed"],
    zone: [405, "Not allowed"],
    invalid: [400, "Bad Request"],
    unavailable: [503, "Service Unavailable"],
  },
  refuse: ([status, reason = ""], because) => synth(status, reason, because),
};

/** The target of a PURGE: its URL, unless a field names another one. */
function readPurge(page: string, fields: Headers): DoorReading {
  const [name, another] = wideningFields(fields);
  if (another !== undefined) return refused(`${name} and ${another} in one PURGE`);
  // W3 Total Cache names no field.
  if (name === PURGE_METHOD || (name === undefined && page.endsWith("/.*"))) return readDirectory(page);
  if (name === undefined) return purged({ urls: [urlOfPurge(page)] });
  const value = fields.get(name)!;
  if (name === MAGENTO_TAGS) return readMagento(value.trim());
  if (name === PURGE_EVERYTHING && value === "1") return purged({ everything: true });
  // TYPO3's mkvarnish sends an expression in the field in which others send tags.
  if (name === TAGS_PATTERN || (name === TAGS_OF_BAN && /[(|^$*[\\]|\.[+?]/.test(value))) {
    const tags = literals(name === TAGS_PATTERN ? value : ONE_OF_TAGS.exec(value)?.[1]);
    return tags ? purged({ tags }) : refused(`${name} does not name exact tags: ${value}`);
  }
  const mode = TAGS_OF_PURGE[name];
  if (mode === undefined) {
    return refused(`${name} is not understood: name exact tags in xkey, or send a PURGE of each URL without it`);
  }
  return purged({ tags: value.split(/[\s,]+/).filter(Boolean), mode });
}

/** Magento 2 names exact tags, `((^|,)cat_p_1(,|$))|((^|,)cat_c_2(,|$))`, or everything, `.*`. */
function readMagento(pattern: string): DoorReading {
  if (pattern === ".*") return purged({ everything: true });
  const each = pattern.split(/(?<=\(,\|\$\)\))\|(?=\(\(\^\|,\))/);
  const tags = each.map((one) => onlyLiteral(dotsEscaped(/^\(\(\^\|,\)(.+)\(,\|\$\)\)$/.exec(one)?.[1])));
  if (tags.includes(undefined)) return refused(`${MAGENTO_TAGS} does not name exact tags: ${pattern}`);
  return purged({ tags });
}

/** `https://www.example.com/shop/.*`: the directory, or the whole host. */
function readDirectory(page: string): DoorReading {
  const [, host, folder] = /^https?:\/\/([^/]+)(?:(\/.+))?\/\.\*$/.exec(page) ?? [];
  const path = folder === undefined ? "" : onlyLiteral(folder);
  if (host === undefined || path === undefined || path.includes("?")) {
    return refused("a PURGE of more than its URL must name tags, or a whole directory like /shop/.*");
  }
  return purged(path === "" ? { hosts: [host] } : { prefixes: [host + path] });
}

function purged(purge: object, word = "Purged"): DoorReading {
  return { purge, answer: () => synth(200, word) };
}

function refused(because: string): DoorReading {
  return { refusal: "invalid", because };
}

const TAGS_OF_BAN = "x-cache-tags";
/** Fields that a ban joins by "and". One that is missing matches everything, but one of the first three must be there. */
const OF_BANS = ["x-host", "x-url", TAGS_OF_BAN, "x-content-type"];
/** `(^|,)(a|b)(,|$)`, or `(a|b)(,.+)?$` of FOSHttpCache 2.0 and mkvarnish. */
const ONE_OF_TAGS = /^(?:\(\^\|,\))?\((.+)\)\(,(?:\|\$\)|\.\+\)\?\$)$/;

function readBan(fields: Headers): DoorReading {
  const named = (name: string): string | null => {
    const expression = fields.get(name);
    return expression === null || /^\^?\.\*\$?$/.test(expression) ? null : expression;
  };
  const [host = null, url = null, tags = null] = OF_BANS.map(named);
  const notSupported = refused("This ban is not supported");
  const banned = (purge: object) => purged(purge, "Banned");
  const isEmpty = !OF_BANS.slice(0, 3).some((name) => fields.has(name));
  if (isEmpty || named("x-content-type") !== null || fields.has("cookie")) return notSupported;
  const unknown = [...fields.keys()].find((name) => !OF_BANS.includes(name) && isOfApplication(name));
  if (unknown !== undefined) {
    return refused(`${unknown} is not understood: a ban can name X-Host, X-Url and X-Cache-Tags`);
  }
  if (tags !== null) {
    const names = literals(ONE_OF_TAGS.exec(tags)?.[1]);
    return names && host === null && url === null ? banned({ tags: names }) : notSupported;
  }
  const [, several, one] = /^\^(?:\(([^()]+)\)|([^()|]+))\$$/.exec(host ?? "") ?? [];
  const hosts = host === null ? [""] : literals(dotsEscaped(several ?? one));
  if (!hosts) return notSupported;
  if (url === null || /^\^\/(?:\.\*\$?)?$/.test(url)) return banned(host === null ? { everything: true } : { hosts });
  const [, folder, whole] = /^\^(?:(\/.+?)\/(?:\.\*\$?)?|(\/.*)\$)$/.exec(url) ?? [];
  const path = onlyLiteral(whole ?? folder);
  if (!path || (folder && path.includes("?"))) return notSupported;
  if (folder) return banned({ prefixes: hosts.map((each) => each + path) });
  return banned({ urls: hosts.map((each) => (each && `https://${each}`) + path) });
}

/** The expression with its dots taken for dots: people do not escape those of hosts, nor Magento those of tags. */
function dotsEscaped(expression: string | undefined): string | undefined {
  return expression?.replace(/\\?\./g, "\\.");
}

/** The texts that `a|b` matches, without escapes; `null` if the pattern is of another kind. */
function literals(expression = ""): string[] | null {
  const texts = /^(?:\\\W|[^\\.*+?()[\]{}^$])+$/.test(expression) ? (expression.match(/(?:\\.|[^\\|])+/g) ?? []) : [];
  return texts.join("|") === expression && expression ? texts.map((text) => text.replace(/\\(.)/g, "$1")) : null;
}

/** The text that an expression matches if it matches no other. */
function onlyLiteral(expression: string | undefined): string | undefined {
  const [text, another] = literals(expression) ?? [];
  return another === undefined ? text : undefined;
}

/** The page that `synth()` of a VCL makes. */
function synth(status: number, statusText: string, because = ""): Response {
  const title = `${status} ${statusText}`;
  const text = because.replaceAll("&", "&amp;").replaceAll("<", "&lt;") || statusText;
  const page = `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>\n`;
  return new Response(page, { status, statusText, headers: { "content-type": "text/html; charset=utf-8" } });
}
