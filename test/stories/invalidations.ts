import type { Page } from "../simulation/history.ts";
import { LEASE_MS, LOG_ID, SKEW_MS, type Stage } from "./stage.ts";
import type { Story } from "./story.ts";

interface AuditPage {
  readonly purges: readonly {
    readonly seq: number;
    readonly at: string;
    readonly by: string;
    readonly items: readonly string[];
  }[];
  readonly next: number | null;
}

/** Adds the edge's invalidations after unsafe requests to the histories, because nobody has a receipt of them. */
export async function noteInvalidations(stage: Stage, stories: readonly Story[]): Promise<void> {
  for (const { history } of stories) for (const isolate of stage.gaveUp) history.gaveUp.add(isolate);
  for (let before: number | null = null, isFirst = true; isFirst || before !== null; isFirst = false) {
    const from: string = before === null ? "" : `&before=${before}`;
    const answer = await stage.cdn.request(`/_tidemark/purges?limit=500${from}`, {
      token: stage.cdn.token,
      host: stories[0]!.host,
    });
    const { purges, next } = JSON.parse(answer.body) as AuditPage;
    for (const purge of purges) if (purge.by === "edge") note(stage, stories, purge);
    before = next;
  }
}

function note(stage: Stage, stories: readonly Story[], { seq, at, items }: AuditPage["purges"][number]): void {
  stage.count("invalidations told to the log");
  const instant = Date.parse(at);
  for (const { host, history } of stories) {
    const targets = items.map((item) => new URL(item)).flatMap((url) => (url.host === host ? [url.pathname] : []));
    if (targets.length === 0) continue;
    history.purges.push({
      name: `invalidation ${seq}`,
      kind: "invalidation",
      mode: "invalidate",
      logId: LOG_ID,
      seq,
      // It happened after its cause, and at this instant. Nothing more is known.
      order: stage.timeline.beginningOf(instant),
      at: instant,
      settledAt: instant + LEASE_MS + SKEW_MS,
      matches: ({ target }: Page) => targets.includes(target),
    });
  }
}
