import type { Reporter } from "../../ports/reporter.ts";
import type { RequestFacts } from "../../rules/request/request-facts.ts";
import type { RequestContext } from "../request-context.ts";

/** The context of a fetch that no client waits for: a refresh, or a second look. */
export function unattended(context: RequestContext, facts: RequestFacts): RequestContext {
  const { ports } = context;
  return {
    ...context,
    facts,
    isUnattended: true,
    answersHead: false,
    ports: { ...ports, reporter: withoutAnswerEvents(ports.reporter) },
  };
}

/** Reports everything but answers: no client receives this one, so it is not counted. */
function withoutAnswerEvents(reporter: Reporter): Reporter {
  return {
    report: (event) => {
      if (event.kind !== "answered" && event.kind !== "answered-by-edge") reporter.report(event);
    },
  };
}
