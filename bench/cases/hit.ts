import { Option } from "commander";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { type Case, count } from "../frame/case.ts";
import { WRK } from "../frame/programs.ts";
import { laneOf, printTurns, type Reference, summarize, takeTurns } from "../frame/turns.ts";
import { storeFiles } from "../hit/files.ts";
import { CONSTANT, NAMED, pagesFetched, startHitRows, USUAL } from "../hit/hit-rows.ts";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import { type LoadSettings, loadFiles, loadPage } from "../load/wrk.ts";
import { listeningProcess } from "../processes/listening-process.ts";

const BODY_BYTES = { "1KB": 1000, "10KB": 10_000, "100KB": 100_000 } as const;
/**
 * A worker that answers a thousand requests a second is slower in its first seconds, while the engine compiles hot
 * code.
 */
const WARM_UP_SECONDS = 5;
const REFERENCES: readonly Reference[] = [
  { label: "constant", name: CONSTANT },
  { label: "usual", name: USUAL },
  { label: "X-Cache", name: NAMED },
];

interface HitOptions extends LoadSettings {
  readonly rounds: number;
  readonly body: keyof typeof BODY_BYTES;
  readonly files?: number;
}

export const hit: Case<HitOptions> = {
  name: "hit",
  description:
    "A hit on Workers, from memory and from the Cache API, beside a constant and a hand-written cache worker.",
  options: [
    count("--rounds", "how many turns each row has", 10),
    count("--seconds", "how long a turn takes", 1),
    count("--connections", "keep-alive connections", 10),
    new Option("--body <size>", "the size of the page").choices(Object.keys(BODY_BYTES)).default("1KB"),
    count("--files", "request this many different pages, in random order"),
  ],
  needs: [WRK],
  async measure({ rounds, body, files, ...settings }) {
    const origin = new ScriptedOrigin(() => Date.now());
    await origin.comeUp();
    try {
      const rows = await startHitRows(origin, pageOfBytes(BODY_BYTES[body]));
      try {
        if (files) for (const row of rows.all) await storeFiles(row, files);
        const lanes = rows.all.map(({ name, page }) => {
          const pid = listeningProcess(Number(page.port));
          return laneOf({
            name,
            pid: () => pid,
            load: () => (files ? loadFiles(page, files, settings) : loadPage(page, settings)),
            originRequests: async () => pagesFetched(origin),
            missShare: 0,
          });
        });
        await takeTurns(lanes, { rounds, warmUpSeconds: WARM_UP_SECONDS });
        const results = summarize(lanes, REFERENCES);
        printTurns(`hits, ${body}`, results);
        return {
          results: { rows: results },
          failures: results.flatMap(({ name, failure }) => (failure === null ? [] : [`${name}: ${failure}`])),
        };
      } finally {
        await rows.stop();
      }
    } finally {
      await origin.goDown();
    }
  },
};
