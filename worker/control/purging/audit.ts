import type { Problem } from "../../../wire/problem.ts";
import type { PurgeRecordBody, PurgeRecordPageBody } from "../../../wire/purge-record.ts";
import { DEFAULT_LISTED_PURGES, purgeRecordQuerySchema, purgeWaitSchema } from "../../../wire/purge-record-query.ts";
import { IN_ENGLISH } from "../../../wire/text/english.ts";
import type { PurgeAudit, PurgeRecord } from "../../ports/purge-log.ts";
import { shownUrl } from "../../rules/request/shown-url.ts";
import { errorsOf } from "../errors-of.ts";
import { purgeItemText } from "./purge-item-text.ts";

export type AuditVerdict =
  | { readonly kind: "found"; readonly body: PurgeRecordBody | PurgeRecordPageBody }
  | { readonly kind: "invalid"; readonly errors: NonNullable<Problem["errors"]> }
  | { readonly kind: "unknown"; readonly seq: string }
  | { readonly kind: "unavailable" };

interface AuditPorts {
  readonly audit: PurgeAudit;
}

/** A page of the audit trail, the newest purge first. `query` is not checked yet. */
export async function listPurges(query: Readonly<Record<string, string>>, ports: AuditPorts): Promise<AuditVerdict> {
  const checked = purgeRecordQuerySchema.safeParse(query, IN_ENGLISH);
  if (!checked.success) return { kind: "invalid", errors: errorsOf(checked.error, purgeRecordQuerySchema) };
  const { before, limit = DEFAULT_LISTED_PURGES } = checked.data;
  return read(ports, async (audit) => {
    const { purges, next } = await audit.list(before === undefined ? null : Number(before), Number(limit));
    return { kind: "found", body: { purges: purges.map(recordBody), next } };
  });
}

/** One purge by its sequence number. Neither that nor `query` is checked yet. */
export async function findPurge(
  seq: string,
  query: Readonly<Record<string, string>>,
  ports: AuditPorts,
): Promise<AuditVerdict> {
  if (!/^[1-9][0-9]{0,14}$/.test(seq)) return { kind: "unknown", seq };
  const checked = purgeWaitSchema.safeParse(query, IN_ENGLISH);
  if (!checked.success) return { kind: "invalid", errors: errorsOf(checked.error, purgeWaitSchema) };
  const { wait } = checked.data;
  return read(ports, async (audit) => {
    const record = await audit.find(Number(seq), wait === undefined ? wait : Number(wait));
    return record ? { kind: "found", body: recordBody(record) } : { kind: "unknown", seq };
  });
}

async function read({ audit }: AuditPorts, ask: (audit: PurgeAudit) => Promise<AuditVerdict>): Promise<AuditVerdict> {
  try {
    return await ask(audit);
  } catch {
    return { kind: "unavailable" };
  }
}

/** A row as the control plane answers it. */
export function recordBody({
  purgeKeys,
  purgeKeyCount,
  at,
  accepted,
  settlesInMs: _,
  waitsFor,
  ...rest
}: PurgeRecord): PurgeRecordBody {
  const texts = purgeKeys.map(purgeItemText);
  // The URLs of an invalidation are a visitor's own, and perhaps in a `Location` for nobody else.
  const items = rest.mode === "invalidate" ? texts.map(shownUrl) : texts;
  return {
    ...rest,
    at: new Date(at).toISOString(),
    accepted: { ...accepted },
    items,
    itemCount: purgeKeyCount,
    waitsFor: waitsFor && [...waitsFor],
  };
}
