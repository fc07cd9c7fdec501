import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of the doors for other vendors' purge calls. */
export const mutants: Mutants = {
  "doors: the token": {
    "a token that may purge opens a door": {
      in: "answerAtDoor",
      replace: 'check(token, zone === ""',
      by: 'check(token, (await ports.tokens.check(token, "purge")).kind === "allowed" ? "purge" : zone === ""',
      foundBy: "doors: Cloudflare: the token scenario-token-with-32-characters0",
    },
    "the token of one door opens another": {
      in: "configuredTokens",
      replace: "each.scopes.includes(scope)",
      by: 'each.scopes.some((held) => held.split(":")[0] === scope.split(":")[0])',
      foundBy: "doors: tokens",
    },
    "the token of one zone opens another zone of its door": {
      in: "configuredTokens",
      replace: "each.scopes.includes(scope)",
      by: 'each.scopes.some((held) => held.split(":", 2).join() === scope.split(":", 2).join())',
      foundBy: "doors: tokens",
    },
    "a call without a token is answered": {
      in: "answerAtDoor",
      replace: 'if (access.kind === "refused") {',
      by: 'if (access.kind === "refused" && token !== null) {',
      foundBy: "doors: Cloudflare: no token",
    },
    "a PURGE of a page without a token is answered": {
      in: "answerAtDoor",
      replace: 'if (access.kind === "refused") {',
      by: 'if (access.kind === "refused" && (token !== null || !isPage)) {',
      foundBy: "doors: Varnish: a PURGE without a token",
    },
    "an address that the site does not name stands for a token": {
      in: "whyTokenIsNeeded",
      drop: "if (!isWithin(peer, from))",
      foundBy: "doors: by address: another address",
    },
    "the address of a proxy stands for a token": {
      in: "whyTokenIsNeeded",
      drop: "if (isWithin(peer, proxies))",
      foundBy: "doors: by address: a trusted proxy",
    },
    "a script in a browser at an address of the site's needs no token": {
      in: "whyTokenIsNeeded",
      drop: "if (ofScript !== undefined)",
      foundBy: "doors: by address: a field of a browser",
    },
    "a proxy's request is taken for its own": {
      in: "whyTokenIsNeeded",
      replace: "forwarding === undefined ? null",
      by: "true ? null",
      foundBy: "doors: by address: a field of a proxy",
    },
    "a ban without a token is answered": {
      in: "answerAtDoor",
      replace: 'if (access.kind === "refused") {',
      by: 'if (access.kind === "refused" && (token !== null || method !== "BAN")) {',
      foundBy: "doors: Varnish: a ban without a token",
    },
    "a token for all purges may purge keys at the door of Varnish": {
      in: "answerAtDoor",
      replace: '&& method === "PURGE" && wideningFields(fields).length === 0;',
      by: '&& method === "PURGE";',
      foundBy: "doors: Varnish: keys with a token for all purges",
    },
    "a token in any field opens the door of Fastly": {
      in: "fastly",
      replace: 'fields.get("fastly-key"),',
      by: 'fields.get("fastly-key") || (fields.get("authorization")?.slice(7) ?? null),',
      foundBy: "doors: Fastly: a right token in another field",
    },
    "a token as Bearer opens the door of KeyCDN": {
      in: "keycdn",
      replace: 'nameIn(/^Basic +(.+)/i.exec(fields.get("authorization") ?? "")?.[1] ?? "")',
      by: 'nameIn(/^Basic +(.+)/i.exec(fields.get("authorization") ?? "")?.[1] ?? "") ?? (fields.get("authorization")?.slice(7) ?? null)',
      foundBy: "doors: KeyCDN: a right token as Bearer",
    },
  },
  "doors: the zone": {
    "Cloudflare's door does not look at the zone": {
      in: "cloudflare",
      replace: 'if (named?.length === 32 && named !== zone) return { refusal: "token" }; if (named !== zone || method',
      by: "if (method",
      foundBy: "doors: Cloudflare: another zone",
    },
    "a name of a zone is as good as its id": {
      in: "cloudflare",
      replace: "if (named !== zone || method",
      by: 'if ((named !== zone && !named?.includes(".")) || method',
      foundBy: "doors: Cloudflare: a zone by its name",
    },
    "Fastly's door does not look at the service": {
      in: "fastly",
      replace: "(service !== zone && !url)",
      by: "(!service && !url)",
      foundBy: "doors: Fastly: another service",
    },
    "KeyCDN's door does not look at the zone": {
      in: "keycdn",
      replace: "if (id !== zone ||",
      by: "if (!id ||",
      foundBy: "doors: KeyCDN: another zone",
    },
    "Netlify's door does not look at the site": {
      in: "netlify",
      replace: "site_slug === zone",
      by: 'site_slug !== ""',
      foundBy: "doors: Netlify: another site",
    },
    "Netlify's door purges without being told a site": {
      in: "netlify",
      replace: "? domain !== undefined :",
      by: "? true :",
      foundBy: "doors: Netlify: no site",
    },
    "Vercel's door does not look at the project": {
      in: "vercel",
      replace: "|| named !== zone) return",
      by: ") return",
      foundBy: "doors: Vercel: another project",
    },
    "a door is open although the site does not name it": {
      in: "isOpen",
      replace: "return Object.hasOwn(doors, name);",
      by: "return Object.hasOwn(doors, name) || Object.hasOwn(VENDORS, name);",
      foundBy: "doors: closed doors",
    },
  },
  "doors: items and limits": {
    "a call may have more items than a purge": {
      in: "purgeRequestSchema",
      replace: "if (items > MAX_PURGE_ITEMS) {",
      by: "if (items > MAX_PURGE_ITEMS * 2) {",
      foundBy: "doors: Cloudflare: more items than a purge may have",
    },
    "a call may have a body of any size": {
      in: "answerAtDoor",
      replace: "readText(request.body, MAX_PURGE_BYTES)",
      by: "readText(request.body, Number.POSITIVE_INFINITY)",
      foundBy: "doors: large body",
    },
    "bytes that are not UTF-8 are taken for another character": {
      in: "read-text:readText",
      replace: "fatal: true",
      by: "fatal: false",
      foundBy: "doors: other coding",
    },
    "a call with one wrong item purges the others": {
      in: "purge",
      replace: "if (plan.errors.length > 0)",
      by: "if (plan.errors.length > 0 && plan.purgeKeys.length === 0)",
      foundBy: "doors: Cloudflare: a file of another site beside one of this",
    },
    "a call reaches fields of our own purge": {
      in: "cloudflare",
      replace: "{ urls, tags, hosts, prefixes, everything: purge_everything }",
      by: "{ ...jsonObject(body), files: undefined, purge_everything: undefined, urls, tags, hosts, prefixes, everything: purge_everything }",
      foundBy:
        "doors: Cloudflare: everything, with a key beside an address, and a field of ours that Cloudflare does not know",
    },
    "everything beside other items purges everything": {
      in: "cloudflare",
      replace: "if (purge_everything && lists.length > 0) {",
      by: "if (purge_everything && lists.length > 1) {",
      foundBy: "doors: Cloudflare: everything and more",
    },
    "Cloudflare's door takes the fields of a file for its URL": {
      in: "cloudflare",
      replace: "(file as { url?: unknown })?.url ?? file",
      by: "file",
      foundBy: "doors: Cloudflare: files with fields of their keys",
    },
    "a key with an escape is another key": {
      in: "fastly",
      replace: "one({ tags: [decoded(key)] })",
      by: "one({ tags: [key] })",
      foundBy: "doors: Fastly: a key with a space",
    },
    "a form of a plugin in PHP is not read": {
      in: "keycdn",
      replace: "?? form.map(([, item]) => item)",
      by: "?? undefined",
      foundBy: "doors: KeyCDN: tags in a form, as plugins in PHP send it",
    },
    "a URL without a scheme is a path of every host": {
      in: "withScheme",
      replace: 'i, "https://")',
      by: 'i, "/")',
      foundBy: "doors: KeyCDN: URLs",
    },
    "tags of a preview purge production": {
      in: "netlify",
      replace: "deploy_alias !== undefined ||",
      by: "",
      foundBy: "doors: Netlify: a preview",
    },
    "tags of one domain are purged everywhere": {
      in: "netlify",
      replace: "|| (tags !== undefined && domain !== undefined)",
      by: "",
      foundBy: "doors: Netlify: tags of one domain",
    },
    "a purge of Vercel's previews purges production": {
      in: "vercel",
      replace: 'target !== "production" ||',
      by: "",
      foundBy: "doors: Vercel: a preview",
    },
    "a deletion with a deadline happens at once": {
      in: "vercel",
      replace: "|| revalidationDeadlineSeconds !== 0",
      by: "",
      foundBy: "doors: Vercel: a deadline",
    },
  },
  "doors: soft purges": {
    "Fastly-Soft-Purge is not read": {
      in: "fastly",
      replace: 'fields.has("fastly-soft-purge") ? "soft" : "hard"',
      by: '"hard"',
      foundBy: "doors: Fastly: keys in the body, softly",
    },
    "only the batch of Fastly can be soft": {
      in: "fastly",
      replace: "purge: { ...purge, mode },",
      by: "purge: { ...purge },",
      foundBy: "doors: Fastly: PURGE of a page under the door, softly",
    },
    "xkey-softpurge is a hard purge": {
      in: "TAGS_OF_PURGE",
      replace: '"xkey-softpurge": "soft"',
      by: '"xkey-softpurge": "hard"',
      foundBy: "doors: Varnish: xkey-softpurge",
    },
    "xkey-purge is a soft purge": {
      in: "TAGS_OF_PURGE",
      replace: '"xkey-purge": "hard"',
      by: '"xkey-purge": "soft"',
      foundBy: "doors: Varnish: xkey-purge",
    },
    "an invalidation by Vercel's tags is a hard purge": {
      in: "vercel",
      replace: 'how === "invalidate" ? "soft" : "hard"',
      by: '"hard"',
      foundBy: "doors: Vercel: tags, softly",
    },
  },
  "doors: what a PURGE means": {
    "the tags of Shopware purge a URL alone": {
      in: "TAGS_OF_PURGE",
      replace: 'xkey: "hard",',
      by: "",
      foundBy: "doors: Varnish: the tags of Shopware 6",
    },
    "the tags of Magento purge a URL alone": {
      in: "wideningFields",
      replace: ", MAGENTO_TAGS]",
      by: "]",
      foundBy: "doors: Varnish: the tags of Magento 2",
    },
    "a pattern of Magento's that names more than tags purges what it names in part": {
      in: "onlyLiteral",
      replace: "another === undefined ? text : undefined",
      by: "text",
      foundBy: 'doors: Varnish: PURGE / with {"x-magento-tags-pattern":"((^|,)a|b(,|$))"}',
    },
    "an expression of WordPress's purges the URL of its name": {
      in: "readPurge",
      drop: "if (name === PURGE_METHOD) return readDirectory(page);",
      foundBy: "doors: Varnish: a directory of WordPress's Proxy Cache Purge",
    },
    "of two fields one is carried out": {
      in: "readPurge",
      drop: "if (another !== undefined) return refused(`${name} and ${another} in one PURGE`);",
      foundBy: 'doors: Varnish: PURGE / with {"xkey":"shop","surrogate-key":"shop"}',
    },
  },
  "doors: bans": {
    "a ban without fields purges everything": {
      in: "readBan",
      replace: "if (isEmpty ||",
      by: "if (",
      foundBy: "doors: Varnish: a ban of the URL itself",
    },
    "a ban of one type of content purges all types": {
      in: "readBan",
      replace: 'named("x-content-type") !== null ||',
      by: "",
      foundBy: 'doors: Varnish: a ban of {"x-content-type":"text/html"}',
    },
    "a ban for one visitor's cookie purges everybody's pages": {
      in: "readBan",
      replace: '|| fields.has("cookie")',
      by: "",
      foundBy: 'doors: Varnish: a ban of {"cookie":"PHPSESSID=1"}',
    },
    "a pattern is taken for a tag": {
      in: "literals",
      replace: "[^\\\\.*+?()[\\]{}^$]",
      by: "[^\\\\*+?()[\\]{}^$]",
      foundBy: 'doors: Varnish: a ban of {"x-cache-tags":"(^|,)(sh.p)(,|$)"}',
    },
    "a ban of tags of one page purges them everywhere": {
      in: "readBan",
      replace: "names && host === null && url === null ?",
      by: "names ?",
      foundBy: 'doors: Varnish: a ban of {"x-cache-tags":"(^|,)(shop)(,|$)","x-url":"^/about$"}',
    },
    "a ban of a directory reaches the URL of its name alone": {
      in: "readBan",
      replace: "if (folder) return banned(",
      by: "if (!path) return banned(",
      foundBy: "doors: Varnish: a ban of a directory",
    },
  },
  "doors: the audit trail": {
    "the audit trail does not say that a purge came through a door": {
      in: "answerAtDoor",
      replace: "reason: `door",
      by: "reason: `",
      foundBy: "doors: audit trail",
    },
    "the audit trail has the door in place of the token's name": {
      in: "answerAtDoor",
      replace: "{ by: access.name,",
      by: "{ by: name,",
      foundBy: "doors: audit trail",
    },
  },
};
