/** One call to several edges with separate purge logs. */

import { type PurgeFailure, PurgeIncomplete } from "../batch/purge-incomplete.ts";
import { PurgeError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { isOfPurge, type PurgeRecordPage, type RecordQuery } from "../purge-record.ts";
import type { PurgeRequest } from "../purge-request.ts";
import { type EdgeReceipt, type Receipt, receiptOfEdges } from "../receipt.ts";
import type { FailingEdges } from "./failing-edges.ts";

/** Sends a purge to all edges at once. If one edge does not accept it, it stands at the others. */
export async function sendToAll(
  edges: readonly Settings[],
  { request, deadlineMs }: { readonly request: PurgeRequest & { id: string }; readonly deadlineMs: number },
  sendTo: (edge: Settings, retries?: number) => Promise<Receipt>,
  failingEdges: FailingEdges | undefined,
): Promise<Receipt> {
  const receipts: EdgeReceipt[] = [];
  const failures: PurgeFailure[] = [];
  // With `refresh`, an edge may need long for its pages.
  const outcomes = await (failingEdges && !request.refresh
    ? failingEdges.outcomes(edges, deadlineMs, sendTo)
    : Promise.allSettled(edges.map((edge) => sendTo(edge))));
  for (const [index, outcome] of outcomes.entries()) {
    const { endpoint } = edges[index]!;
    if (outcome.status === "fulfilled") receipts.push({ ...outcome.value, endpoint });
    else if (outcome.reason instanceof PurgeError) failures.push({ endpoint, request, error: outcome.reason });
    else throw outcome.reason;
  }
  const [first, ...others] = receipts;
  if (first === undefined || failures.length > 0) throw new PurgeIncomplete(receipts, failures);
  return receiptOfEdges([first, ...others]);
}

/**
 * Asks each edge for the status of one purge. There is no common trail, because the edges' numbers cannot be compared.
 */
export async function readFromAll(
  edges: readonly Settings[],
  query: RecordQuery,
  readFrom: (edge: Settings, query: RecordQuery) => Promise<PurgeRecordPage | null>,
): Promise<PurgeRecordPage | null> {
  if (!("seq" in query)) throw new TypeError(`purges: ${OWN_TRAILS}`);
  const { edges: references } = query;
  const records = await Promise.all(
    edges.map(async (edge) => {
      const purge = references?.find(({ endpoint }) => endpoint === edge.endpoint);
      if (purge === undefined) throw new TypeError(`status: needs the receipt, because ${OWN_TRAILS}`);
      const record = (await readFrom(edge, { seq: purge.seq }))?.purges[0];
      return record && isOfPurge(record, purge) ? record : undefined;
    }),
  );
  const [first] = records;
  if (first === undefined || records.includes(undefined)) return null;
  return { purges: [{ ...first, settled: records.every((record) => record?.settled) }], next: null };
}

const OWN_TRAILS =
  "each edge has its own purge log, with its own numbers. Make a purger with the endpoint of one edge.";
