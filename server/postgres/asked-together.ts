/** Asks about many things at once: what is asked while an answer is under way waits for the next one. */
export class AskedTogether<Answer> {
  readonly #ask: (keys: readonly number[]) => Promise<ReadonlyMap<number, Answer>>;
  #underWay: Promise<unknown> = Promise.resolve();
  #next: { readonly keys: Set<number>; readonly answers: Promise<ReadonlyMap<number, Answer>> } | null = null;

  constructor(ask: (keys: readonly number[]) => Promise<ReadonlyMap<number, Answer>>) {
    this.#ask = ask;
  }

  async about(key: number): Promise<Answer | null> {
    this.#next ??= this.#begin();
    this.#next.keys.add(key);
    return (await this.#next.answers).get(key) ?? null;
  }

  #begin() {
    const keys = new Set<number>();
    const answers = this.#underWay.then(() => {
      this.#next = null;
      return this.#ask([...keys]);
    });
    this.#underWay = answers.catch(() => undefined);
    return { keys, answers };
  }
}
