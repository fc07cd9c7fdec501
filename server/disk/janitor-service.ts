import type { ProcessLine, WorkerService } from "../processes/process-line.ts";
import type { DiskNote, Janitor, JanitorLine } from "./janitor.ts";

/** The question of a worker: the arguments of `ask`. */
interface RoomQuestion {
  readonly bytes: number;
  readonly orUpTo: number;
}

/** The janitor as the supervisor offers it to its workers. */
export function janitorService(janitor: Janitor): WorkerService {
  return {
    connect: () => {
      const line = janitor.connect();
      return {
        ask: (question) => {
          const { bytes, orUpTo } = question as RoomQuestion;
          return line.ask(bytes, orUpTo);
        },
        tell: (notes) => line.tell(notes as readonly DiskNote[]),
        close: () => line.close(),
      };
    },
  };
}

/** The janitor from a worker's side. Without the supervisor nothing more is written. */
export function janitorOver(line: ProcessLine): JanitorLine {
  return {
    ask: async (bytes, orUpTo) => {
      const question: RoomQuestion = { bytes, orUpTo };
      return (await line.ask(question).catch(() => 0)) as number;
    },
    tell: (notes) => line.tell(notes),
  };
}
