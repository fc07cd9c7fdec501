import type { ProcessLine, WorkerService } from "../../supervisor/process-line.ts";
import type { Janitor } from "./janitor.ts";
import type { DiskNote, JanitorLine } from "./janitor-line.ts";

/** A question of a worker: for how many bytes there is room. */
interface Ask {
  readonly bytes: number;
  readonly orUpTo: number;
}

/** The janitor as the supervisor offers it to its workers. */
export function janitorService(janitor: Janitor): WorkerService {
  return {
    connect: () => {
      const { ask, tell, close } = janitor.connect();
      return {
        ask: (question) => ask((question as Ask).bytes, (question as Ask).orUpTo),
        tell: (notes) => tell(notes as readonly DiskNote[]),
        close,
      };
    },
  };
}

/** Notes are sent together, because a message between processes costs more than reading a small file. Milliseconds. */
const NOTES_EVERY_MS = 50;

/** The janitor as a worker sees it. Once the supervisor has died there is no room. */
export function janitorBehind(line: ProcessLine): JanitorLine {
  let waiting: DiskNote[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length > 0) line.tell(waiting);
    waiting = [];
  };
  return {
    ask: (bytes, orUpTo) => {
      flush(); // before it grants more room, the janitor has to know which room is used
      const question: Ask = { bytes, orUpTo };
      return line.ask(question).then(Number, () => 0);
    },
    tell: (notes) => {
      waiting.push(...notes);
      timer ??= setTimeout(flush, NOTES_EVERY_MS);
    },
  };
}
