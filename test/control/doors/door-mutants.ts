import type { Mutation } from "../../mutants/mutant.ts";

/** A wrong rule of the doors. */
export interface DoorMutant extends Mutation {
  /** A sentence that describes the wrong rule. */
  readonly name: string;
  /** What must fail under it: a recorded call, as `Fastly: another service`, or another check of `door-mutants.test.ts`. */
  readonly reddens: string;
}

const DOORS = "worker/control/doors/doors.ts";
const TOKENS = "worker/control/tokens.ts";
const PURGE = "worker/control/purge.ts";

const door = (name: string) => `worker/control/doors/${name}.ts`;

export const doorMutants: readonly DoorMutant[] = [
  // The token.
  {
    name: "a token that may purge opens a door",
    file: DOORS,
    from: 'check(token, zone === ""',
    to: 'check(token, (await ports.tokens.check(token, "purge")).kind === "allowed" ? "purge" : zone === ""',
    reddens: "Cloudflare: the token scenario-token-with-32-characters0",
  },
  {
    name: "the token of one door opens another",
    file: TOKENS,
    from: "each.scopes.includes(scope)",
    to: 'each.scopes.some((held) => held.split(":")[0] === scope.split(":")[0])',
    reddens: "tokens",
  },
  {
    name: "the token of one zone opens another zone of its door",
    file: TOKENS,
    from: "each.scopes.includes(scope)",
    to: 'each.scopes.some((held) => held.split(":", 2).join() === scope.split(":", 2).join())',
    reddens: "tokens",
  },
  {
    name: "a call without a token is answered",
    file: DOORS,
    from: 'if (access.kind === "refused") {',
    to: 'if (access.kind === "refused" && token !== null) {',
    reddens: "Cloudflare: no token",
  },
  {
    name: "a PURGE of a page without a token is answered",
    file: DOORS,
    from: 'if (access.kind === "refused") {',
    to: 'if (access.kind === "refused" && (token !== null || !isPage)) {',
    reddens: "Varnish: a PURGE without a token",
  },
  {
    name: "a ban without a token is answered",
    file: DOORS,
    from: 'if (access.kind === "refused") {',
    to: 'if (access.kind === "refused" && (token !== null || method !== "BAN")) {',
    reddens: "Varnish: a ban without a token",
  },
  {
    name: "a token for all purges may purge keys at the door of Varnish",
    file: DOORS,
    from: ' && method === "PURGE" && !hasKeys(fields);',
    to: ' && method === "PURGE";',
    reddens: "Varnish: keys with a token for all purges",
  },
  {
    name: "a token in any field opens the door of Fastly",
    file: door("fastly"),
    from: 'fields.get("fastly-key"),',
    to: 'fields.get("fastly-key") || (fields.get("authorization")?.slice(7) ?? null),',
    reddens: "Fastly: a right token in another field",
  },
  {
    name: "a token as Bearer opens the door of KeyCDN",
    file: door("keycdn"),
    from: 'nameIn(/^Basic +(.+)/i.exec(fields.get("authorization") ?? "")?.[1] ?? "")',
    to: 'nameIn(/^Basic +(.+)/i.exec(fields.get("authorization") ?? "")?.[1] ?? "") ?? (fields.get("authorization")?.slice(7) ?? null)',
    reddens: "KeyCDN: a right token as Bearer",
  },

  // The zone.
  {
    name: "Cloudflare's door does not look at the zone",
    file: door("cloudflare"),
    from: 'if (named?.length === 32 && named !== zone) return { refusal: "token" };\n    if (named !== zone || method',
    to: "if (method",
    reddens: "Cloudflare: another zone",
  },
  {
    name: "a name of a zone is as good as its id",
    file: door("cloudflare"),
    from: "if (named !== zone || method",
    to: 'if ((named !== zone && !named?.includes(".")) || method',
    reddens: "Cloudflare: a zone by its name",
  },
  {
    name: "Fastly's door does not look at the service",
    file: door("fastly"),
    from: "(service !== zone && !url)",
    to: "(!service && !url)",
    reddens: "Fastly: another service",
  },
  {
    name: "KeyCDN's door does not look at the zone",
    file: door("keycdn"),
    from: "if (id !== zone ||",
    to: "if (!id ||",
    reddens: "KeyCDN: another zone",
  },
  {
    name: "Netlify's door does not look at the site",
    file: door("netlify"),
    from: "site_slug === zone",
    to: 'site_slug !== ""',
    reddens: "Netlify: another site",
  },
  {
    name: "Netlify's door purges without being told a site",
    file: door("netlify"),
    from: "? domain !== undefined :",
    to: "? true :",
    reddens: "Netlify: no site",
  },
  {
    name: "Vercel's door does not look at the project",
    file: door("vercel"),
    from: " || named !== zone) return",
    to: ") return",
    reddens: "Vercel: another project",
  },
  {
    name: "a door is open although the site does not name it",
    file: DOORS,
    from: "return Object.hasOwn(doors, name);",
    to: "return Object.hasOwn(doors, name) || Object.hasOwn(VENDORS, name);",
    reddens: "closed doors",
  },

  // Items and limits.
  {
    name: "a call may have more items than a purge",
    file: "wire/purge-request.ts",
    from: "if (items > MAX_PURGE_ITEMS) {",
    to: "if (items > MAX_PURGE_ITEMS * 2) {",
    reddens: "Cloudflare: more items than a purge may have",
  },
  {
    name: "a call may have a body of any size",
    file: DOORS,
    from: "readText(request.body, MAX_PURGE_BYTES)",
    to: "readText(request.body, Number.POSITIVE_INFINITY)",
    reddens: "large body",
  },
  {
    name: "a call with one wrong item purges the others",
    file: PURGE,
    from: "if (plan.errors.length > 0)",
    to: "if (plan.errors.length > 0 && plan.purgeKeys.length === 0)",
    reddens: "Cloudflare: a file of another site beside one of this",
  },
  {
    name: "a call reaches fields of our own purge",
    file: door("cloudflare"),
    from: "purge: { urls, tags, hosts, prefixes, everything: purge_everything },",
    to: "purge: { ...jsonObject(body), files: undefined, purge_everything: undefined, urls, tags, hosts, prefixes, everything: purge_everything },",
    reddens: "Cloudflare: everything, with a key beside an address, and a field of ours that Cloudflare does not know",
  },
  {
    name: "everything beside other items purges everything",
    file: door("cloudflare"),
    from: "if (purge_everything && lists.length > 0) {",
    to: "if (purge_everything && lists.length > 1) {",
    reddens: "Cloudflare: everything and more",
  },
  {
    name: "Cloudflare's door takes the fields of a file for its URL",
    file: door("cloudflare"),
    from: "(file as { url?: unknown })?.url ?? file",
    to: "file",
    reddens: "Cloudflare: files with fields of their keys",
  },
  {
    name: "a key with an escape is another key",
    file: door("fastly"),
    from: "one({ tags: [decoded(key)] })",
    to: "one({ tags: [key] })",
    reddens: "Fastly: a key with a space",
  },
  {
    name: "a form of a plugin in PHP is not read",
    file: door("keycdn"),
    from: "?? form.map(([, item]) => item)",
    to: "?? undefined",
    reddens: "KeyCDN: tags in a form, as plugins in PHP send it",
  },
  {
    name: "a URL without a scheme is a path of every host",
    file: door("keycdn"),
    from: 'i, "https://")',
    to: 'i, "/")',
    reddens: "KeyCDN: URLs",
  },
  {
    name: "tags of a preview purge production",
    file: door("netlify"),
    from: "deploy_alias !== undefined ||",
    to: "",
    reddens: "Netlify: a preview",
  },
  {
    name: "tags of one domain are purged everywhere",
    file: door("netlify"),
    from: "|| (tags !== undefined && domain !== undefined)",
    to: "",
    reddens: "Netlify: tags of one domain",
  },
  {
    name: "a purge of Vercel's previews purges production",
    file: door("vercel"),
    from: 'target !== "production" ||',
    to: "",
    reddens: "Vercel: a preview",
  },
  {
    name: "a deletion with a deadline happens at once",
    file: door("vercel"),
    from: "|| revalidationDeadlineSeconds !== 0",
    to: "",
    reddens: "Vercel: a deadline",
  },

  // Soft purges.
  {
    name: "Fastly-Soft-Purge is not read",
    file: door("fastly"),
    from: 'fields.has("fastly-soft-purge") ? "soft" : "hard"',
    to: '"hard"',
    reddens: "Fastly: keys in the body, softly",
  },
  {
    name: "only the batch of Fastly can be soft",
    file: door("fastly"),
    from: "purge: { ...purge, mode },",
    to: "purge: { ...purge },",
    reddens: "Fastly: PURGE of a page under the door, softly",
  },
  {
    name: "xkey-softpurge is a hard purge",
    file: door("varnish"),
    from: 'mode: soft ? "soft" : "hard"',
    to: 'mode: "hard"',
    reddens: "Varnish: xkey-softpurge",
  },
  {
    name: "xkey-purge is a soft purge",
    file: door("varnish"),
    from: 'mode: soft ? "soft" : "hard"',
    to: 'mode: "soft"',
    reddens: "Varnish: xkey-purge",
  },
  {
    name: "an invalidation by Vercel's tags is a hard purge",
    file: door("vercel"),
    from: 'how === "invalidate" ? "soft" : "hard"',
    to: '"hard"',
    reddens: "Vercel: tags, softly",
  },

  // Bans.
  {
    name: "a ban without fields purges everything",
    file: door("varnish"),
    from: "if (isEmpty ||",
    to: "if (",
    reddens: "Varnish: a ban of the URL itself",
  },
  {
    name: "a ban of one type of content purges all types",
    file: door("varnish"),
    from: 'named("x-content-type") !== null ||',
    to: "",
    reddens: 'Varnish: a ban of {"x-content-type":"text/html"}',
  },
  {
    name: "a ban for one visitor's cookie purges everybody's pages",
    file: door("varnish"),
    from: '|| fields.has("cookie")',
    to: "",
    reddens: 'Varnish: a ban of {"cookie":"PHPSESSID=1"}',
  },
  {
    name: "a pattern is taken for a tag",
    file: door("varnish"),
    from: "[^\\\\.*+?()[\\]{}^$]",
    to: "[^\\\\*+?()[\\]{}^$]",
    reddens: 'Varnish: a ban of {"x-cache-tags":"(^|,)(sh.p)(,|$)"}',
  },
  {
    name: "a ban of tags of one page purges them everywhere",
    file: door("varnish"),
    from: "names && host === null && url === null ?",
    to: "names ?",
    reddens: 'Varnish: a ban of {"x-cache-tags":"(^|,)(shop)(,|$)","x-url":"^/about$"}',
  },
  {
    name: "a ban of a directory reaches the URL of its name alone",
    file: door("varnish"),
    from: "if (folder) return banned(",
    to: "if (!path) return banned(",
    reddens: "Varnish: a ban of a directory",
  },

  // The audit trail.
  {
    name: "the audit trail does not say that a purge came through a door",
    file: DOORS,
    from: "reason: `door ",
    to: "reason: `",
    reddens: "audit trail",
  },
  {
    name: "the audit trail has the door in place of the token's name",
    file: DOORS,
    from: "{ by: access.name,",
    to: "{ by: name,",
    reddens: "audit trail",
  },
];
