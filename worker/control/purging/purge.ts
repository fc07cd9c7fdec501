import type { Problem } from "../../../wire/problem.ts";
import type { PurgeReceiptBody } from "../../../wire/purge-receipt.ts";
import { purgeRequestSchema, tooManyItems } from "../../../wire/purge-request.ts";
import { IN_ENGLISH } from "../../../wire/text/english.ts";
import { unseenWarning } from "../../../wire/text/unseen-warning.ts";
import type { Clock } from "../../ports/clock.ts";
import type { AcceptedItems, AppendOutcome, PurgeLogWriter } from "../../ports/purge-log.ts";
import type { Reporter } from "../../ports/reporter.ts";
import type { KeyRules } from "../../rules/key/cache-key.ts";
import { writeReceiptToken } from "../../rules/request/receipt-token.ts";
import { errorsOf, limitErrors } from "../errors-of.ts";
import { planPurge } from "./purge-plan.ts";
import { limitWarnings } from "./purge-warnings.ts";
import { type KnownKeys, type Unseen, unseenItems } from "./unseen-items.ts";

/** The ports that a purge calls. */
export interface PurgePorts {
  readonly rules: KeyRules;
  readonly log: PurgeLogWriter;
  readonly reporter: Reporter;
  /** A short text that identifies a long one. */
  readonly fingerprint: (text: string) => Promise<string>;
  readonly clock: Clock;
}

/** The caller of a purge: the name of its token, and the public address to which it sent the purge. */
export interface PurgeCaller {
  readonly by: string;
  readonly base: string;
}

export type PurgeVerdict =
  | { readonly kind: "accepted"; readonly receipt: PurgeReceiptBody; readonly refresh: readonly string[] }
  | { readonly kind: "invalid"; readonly errors: NonNullable<Problem["errors"]> }
  | { readonly kind: "conflict" }
  | { readonly kind: "unavailable"; readonly cause: unknown };

/**
 * Checks a purge and carries out all of it or nothing (promise 5). A dry run ends after the check. `known`: who is asked,
 * meanwhile, whether it hits anything. Default: nobody.
 */
export async function purge(
  body: unknown,
  { by, base }: PurgeCaller,
  ports: PurgePorts,
  known?: KnownKeys,
): Promise<PurgeVerdict> {
  const { rules, log, reporter, fingerprint, clock } = ports;
  const tooMany = tooManyItems(body);
  if (tooMany) return { kind: "invalid", errors: [{ path: "", message: tooMany }] };
  const checked = purgeRequestSchema.safeParse(body, IN_ENGLISH);
  if (!checked.success) return { kind: "invalid", errors: errorsOf(checked.error, purgeRequestSchema) };
  const request = checked.data;
  const plan = planPurge(request, base, rules);
  if (plan.errors.length > 0) return { kind: "invalid", errors: limitErrors(plan.errors) };
  const accepted: AcceptedItems = {
    urls: request.urls?.length ?? 0,
    tags: request.tags?.length ?? 0,
    prefixes: request.prefixes?.length ?? 0,
    hosts: request.hosts?.length ?? 0,
    everything: request.everything ?? false,
  };
  const lookUp = async () => {
    if (!known || request.refresh) return []; // a page that is fetched anyway need not have been there
    return unseenItems(plan.purgeKeys, known);
  };
  if (request.dryRun) {
    const warned = warnedOf(plan.warnings, await lookUp());
    const nothing = { seq: 0, logId: "", token: "", at: new Date(clock.now()).toISOString(), settlesInMs: 0 };
    const receipt = { ...nothing, accepted, replayed: false, dryRun: true, ...warned, planned: plan.planned };
    return { kind: "accepted", receipt, refresh: [] };
  }
  const content = await fingerprint(JSON.stringify([...plan.purgeKeys].sort()));
  let result: AppendOutcome;
  let lookedUp: Promise<Unseen>;
  try {
    const appended = log.append({
      id: request.id ?? null,
      content,
      purgeKeys: plan.purgeKeys,
      accepted,
      mode: request.mode ?? "hard",
      repeatAfterMs: request.repeatAfterMs ?? null,
      reason: request.reason ?? null,
      by,
    });
    lookedUp = lookUp(); // after the purge, which nothing delays
    result = await appended;
  } catch (cause) {
    reporter.report({ kind: "log-failed", cause, isPurge: true });
    return { kind: "unavailable", cause };
  }
  if (result.kind === "conflict") return { kind: "conflict" };
  if (!result.replayed) reporter.report({ kind: "purged", items: plan.purgeKeys.length });
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
      ...(result.maySettleSooner && { maySettleSooner: true }),
      ...warnedOf(plan.warnings, await lookedUp),
    },
    refresh: request.refresh ? plan.refresh : [],
  };
}

function warnedOf(planned: readonly string[], unseen: Unseen): Pick<PurgeReceiptBody, "warnings" | "unseen"> {
  const warnings = limitWarnings([...planned, ...unseen.map(unseenWarning)]);
  return { ...(warnings.length > 0 && { warnings }), ...(unseen.length > 0 && { unseen }) };
}
