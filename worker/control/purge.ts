import type * as z from "zod";
import type { Problem } from "../../wire/problem.ts";
import type { PurgeReceiptBody } from "../../wire/purge-receipt.ts";
import { type PurgeRequestBody, purgeRequestSchema } from "../../wire/purge-request.ts";
import type { AppendOutcome, PurgeLog, Reporter } from "../ports.ts";
import { writeReceiptToken } from "../rules/receipt-token.ts";
import {
  EVERYTHING_PURGE_KEY,
  pathPurgeKey,
  resolveTarget,
  type Target,
  type TargetRules,
  tagPurgeKey,
  urlPurgeKey,
} from "../rules/target.ts";

export type PurgeVerdict =
  | { readonly kind: "accepted"; readonly receipt: PurgeReceiptBody; readonly refresh: readonly string[] }
  | { readonly kind: "invalid"; readonly errors: NonNullable<Problem["errors"]> }
  | { readonly kind: "conflict" }
  | { readonly kind: "unavailable"; readonly cause: unknown };

/** Checks a purge whole and carries it out: all of it, or nothing (promise 5). `base` is the public address it came to. */
export async function purge(
  body: unknown,
  base: string,
  by: string,
  rules: TargetRules,
  log: PurgeLog,
  reporter: Reporter,
  fingerprint: (text: string) => Promise<string>,
): Promise<PurgeVerdict> {
  const checked = purgeRequestSchema.safeParse(body);
  if (!checked.success) return { kind: "invalid", errors: errorsOf(checked.error) };
  const request = checked.data;
  const named = purgeKeys(request, base, rules);
  if (named.errors.length > 0) return { kind: "invalid", errors: named.errors };
  const accepted = {
    urls: request.urls?.length ?? 0,
    tags: request.tags?.length ?? 0,
    prefixes: 0,
    hosts: 0,
    everything: request.everything ?? false,
  };
  let result: AppendOutcome;
  try {
    result = await log.append({
      id: request.id ?? null,
      content: await fingerprint(JSON.stringify([...named.keys].sort())),
      purgeKeys: named.keys,
      accepted,
      repeatAfterMs: request.repeatAfterMs ?? null,
      reason: request.reason ?? null,
      by,
    });
  } catch (cause) {
    reporter.report({ kind: "log-failed", cause });
    return { kind: "unavailable", cause };
  }
  if (result.kind === "conflict") return { kind: "conflict" };
  reporter.report({ kind: "purged", items: named.keys.length });
  const { seq, logId } = result;
  return {
    kind: "accepted",
    receipt: {
      seq,
      logId,
      token: writeReceiptToken({ logId, seq }),
      at: new Date(result.at).toISOString(),
      settlesInMs: result.settlesInMs,
      accepted,
      replayed: result.replayed,
      dryRun: false,
    },
    refresh: request.refresh ? named.refresh : [],
  };
}

/** What the items are filed under, in the key's normal form, or what is wrong with which of them. */
function purgeKeys(
  request: PurgeRequestBody,
  base: string,
  rules: TargetRules,
): { keys: string[]; refresh: string[]; errors: { path: string; message: string }[] } {
  const keys = new Set<string>();
  const refresh: string[] = [];
  const errors: { path: string; message: string }[] = [];
  for (const [index, url] of (request.urls ?? []).entries()) {
    const relative = url.startsWith("/");
    const absolute = relative ? base + url : url;
    const target = resolveTarget(absolute, relative ? { ...rules, hosts: null } : namedHostRules(rules));
    if (target.kind === "refused") {
      errors.push({ path: `urls[${index}]`, message: `${JSON.stringify(url)}: ${target.because}` });
      continue;
    }
    const pathAndQuery = target.key.slice(target.key.indexOf("/", target.key.indexOf("//") + 2));
    keys.add(relative ? pathPurgeKey(pathAndQuery) : urlPurgeKey(target.host, pathAndQuery));
    refresh.push(relative ? onAHostOfTheSite(target, rules) : target.key);
  }
  for (const tag of request.tags ?? []) keys.add(tagPurgeKey(tag));
  if (request.everything) keys.add(EVERYTHING_PURGE_KEY);
  return { keys: [...keys], refresh, errors };
}

/** A relative URL is fetched from the host that the purge came to, if that is the site's; else from the site's first. */
function onAHostOfTheSite({ scheme, host, key }: Target, { hosts }: TargetRules): string {
  if (hosts === null || hosts.includes(host)) return key;
  return `${scheme}://${hosts[0]}${key.slice(`${scheme}://${host}`.length)}`;
}

/** A whole URL means the host that it names, also where the public address stands in for every request's own. */
function namedHostRules(rules: TargetRules): TargetRules {
  const { publicUrl } = rules;
  return publicUrl ? { ...rules, publicUrl: null, hosts: rules.hosts ?? [publicUrl.host] } : rules;
}

/** Fields of the contract that this version does not have yet, so that nobody takes them for a typo. */
const NOT_YET = new Set(["prefixes", "hosts", "mode", "dryRun"]);

/** What is wrong where: `tags[3]: a tag cannot be empty`. A kind that is not known is not also called missing. */
function errorsOf({ issues }: z.ZodError): { path: string; message: string }[] {
  const hasUnknown = issues.some((issue) => issue.code === "unrecognized_keys");
  return issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") return issue.keys.map(unknownField);
    if (hasUnknown && issue.path.length === 0) return [];
    const path = issue.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
    return [{ path: path.replace(/^\./, ""), message: issue.message }];
  });
}

function unknownField(name: string): { path: string; message: string } {
  if (NOT_YET.has(name)) return { path: name, message: "is not built yet in this version of the edge; leave it out" };
  const known = Object.keys(purgeRequestSchema.def.shape).join(", ");
  return { path: name, message: `unknown field ${name}; known are ${known}` };
}
