import { Dice } from "./dice.ts";
import { heal, strike } from "./faults.ts";
import type { Stage } from "./stage.ts";
import { Story } from "./story.ts";

/** Times within the lease, beyond it, beyond the settling of a purge, and seldom beyond a page's freshness. */
const MOVES_MS = [1, 1, 60, 300, 300, 300, 700, 700, 1000, 1251, 1251, 1500, 3000, 3000, 61_000, 601_000];
/** Longer than a purge takes to settle. */
const SETTLING_MS = 2000;

/** Several stories that run side by side, step by step. They share the CDN, its time and its faults. */
export class Round {
  readonly stories: readonly Story[];
  readonly #stage: Stage;
  readonly #dice: Dice;

  constructor(stage: Stage, number: number, seeds: readonly number[]) {
    this.#stage = stage;
    this.#dice = new Dice(number);
    this.stories = seeds.map((seed) => new Story(stage, seed));
  }

  async play(steps: number): Promise<void> {
    const stage = this.#stage;
    for (let step = 0; step < steps; step++) {
      await strike(stage, this.#dice);
      await stage.advance(this.#dice.pick(MOVES_MS));
      await this.#all((story) => story.step());
    }
    await heal(stage);
    await this.#all((story) => story.hurry());
    await stage.advance(SETTLING_MS);
    await this.#all((story) => story.end());
    for (const story of this.stories) story.close();
  }

  async #all(act: (story: Story) => void): Promise<void> {
    for (const story of this.stories) act(story);
    await this.#stage.rest(() => this.stories.every(({ isQuiet }) => isQuiet));
    await this.#stage.listen();
  }
}
