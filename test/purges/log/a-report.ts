import { REPORT_FORM, type Report } from "../../../worker/metrics/reports.ts";

/** A report of ten requests in a minute, as an isolate sends it. */
export function report(more: Partial<Report> = {}): string {
  const made: Report = {
    form: REPORT_FORM,
    isolate: "one",
    pop: "fra",
    number: 1,
    coversMs: 60_000,
    agoMs: 0,
    isLast: false,
    counts: { requests: 10, answers: { HIT: 7, MISS: 3 } },
    routes: { "/a": { requests: 10 } },
    top: { missed: [], bytes: [], slowest: [], notStored: [] },
    memory: { entries: 1, bytes: 100, maxBytes: 1000 },
    ...more,
  };
  return JSON.stringify(made);
}
