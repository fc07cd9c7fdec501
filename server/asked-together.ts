/** Asks about many things at once: what is asked while an answer is under way waits for the next one. */
export class AskedTogether<Question, Answer> {
  readonly #ask: (questions: readonly Question[]) => Promise<Answer>;
  #underWay: Promise<unknown> = Promise.resolve();
  #next: { readonly questions: Set<Question>; readonly answer: Promise<Answer> } | null = null;

  constructor(ask: (questions: readonly Question[]) => Promise<Answer>) {
    this.#ask = ask;
  }

  /** Resolves to the answer to all that is asked together. It was asked for after this call. */
  ask(question: Question): Promise<Answer> {
    this.#next ??= this.#begin();
    this.#next.questions.add(question);
    return this.#next.answer;
  }

  #begin() {
    const questions = new Set<Question>();
    const answer = this.#underWay.then(() => {
      this.#next = null;
      return this.#ask([...questions]);
    });
    this.#underWay = answer.catch(() => undefined);
    return { questions, answer };
  }
}
