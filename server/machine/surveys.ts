/**
 * Lets one survey run at a time. A caller who asks while one runs gets the next one, together with all others who wait:
 * it must show what they did before they asked.
 */
export class Surveys<Found> {
  readonly #survey: () => Promise<Found>;
  #running: Promise<unknown> | null = null;
  #next: Promise<Found> | null = null;

  constructor(survey: () => Promise<Found>) {
    this.#survey = survey;
  }

  ask(): Promise<Found> {
    if (this.#running === null) return this.#begin();
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      return this.#begin();
    });
    return this.#next;
  }

  #begin(): Promise<Found> {
    const found = this.#survey();
    const over = () => {
      if (this.#running === running) this.#running = null;
    };
    const running = found.then(over, over);
    this.#running = running;
    return found;
  }
}
