import { startMemoryEngine } from "../../engine/memory/memory-engine.ts";
import type { Meet } from "./meet.ts";

/** Visitors of the memory engine, made from these sources or from others with the same shape. */
export function meetInMemory(start: typeof startMemoryEngine): Meet {
  return async (site, origin) => {
    const engine = start(site ?? {}, 1);
    engine.answerBy!(origin);
    return {
      send: async (request) => {
        const answer = await engine.settle(engine.send(request));
        await engine.advance(10); // background writes end before the next visitor comes
        return answer;
      },
      asked: () => engine.seen.length,
      stop: () => engine.stop(),
    };
  };
}

export const meetSoundly: Meet = meetInMemory(startMemoryEngine);
