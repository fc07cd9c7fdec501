import { Turns } from "../package/turns.ts";

export interface TogetherOptions<Question> {
  /** Each answer takes a turn. Default: one at a time. */
  readonly turns?: Turns;
  /** The most that is asked at once, by `sizeOf`; a question that is larger is asked alone. Default: everything. */
  readonly most?: number;
  /** Default: 1 for each. */
  readonly sizeOf?: (question: Question) => number;
}

interface Batch<Question, Answer> {
  readonly questions: Set<Question>;
  readonly answer: Promise<Answer>;
  size: number;
}

/** Asks about many things at once: what is asked while an answer is under way waits for the next one. */
export class AskedTogether<Question, Answer> {
  readonly #ask: (questions: readonly Question[]) => Promise<Answer>;
  readonly #turns: Turns;
  readonly #most: number;
  readonly #sizeOf: (question: Question) => number;
  #next: Batch<Question, Answer> | null = null;

  constructor(
    ask: (questions: readonly Question[]) => Promise<Answer>,
    { turns = new Turns(1), most = Number.POSITIVE_INFINITY, sizeOf = () => 1 }: TogetherOptions<Question> = {},
  ) {
    this.#ask = ask;
    this.#turns = turns;
    this.#most = most;
    this.#sizeOf = sizeOf;
  }

  /** Resolves to the answer to all that is asked together. It was asked for after this call. */
  ask(question: Question): Promise<Answer> {
    const size = this.#sizeOf(question);
    if (this.#next === null || this.#next.size + size > this.#most) this.#next = this.#begin();
    const batch = this.#next;
    batch.size += size;
    batch.questions.add(question);
    return batch.answer;
  }

  #begin(): Batch<Question, Answer> {
    const questions = new Set<Question>();
    const answer = this.#turns.take(async () => {
      await null; // what is asked at the same time is asked together
      if (this.#next === batch) this.#next = null;
      return this.#ask([...questions]);
    });
    const batch: Batch<Question, Answer> = { questions, answer, size: 0 };
    return batch;
  }
}
