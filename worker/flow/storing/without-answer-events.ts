import type { Reporter } from "../../ports/reporter.ts";

/** Reports everything but answers: no client receives this one, so it is not counted. */
export function withoutAnswerEvents(reporter: Reporter): Reporter {
  return {
    report: (event) => {
      if (event.kind !== "answered" && event.kind !== "answered-by-edge") reporter.report(event);
    },
  };
}
