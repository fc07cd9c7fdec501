import { setTimeout as wait } from "node:timers/promises";
import { Pool } from "undici";
import { BenchFailure } from "../frame/bench-failure.ts";
import { pathOf, versionIn } from "./product-origin.ts";

const CONNECTIONS = 32;

export interface ProductPage {
  readonly version: number;
  readonly isHit: boolean;
}

/** The visitors of a cache, on keep-alive connections. */
export class ProductReader {
  readonly name: string;
  readonly #pool: Pool;

  constructor(name: string, url: string) {
    this.name = name;
    this.#pool = new Pool(url, { connections: CONNECTIONS, allowH2: false });
  }

  async read(product: number): Promise<ProductPage> {
    const { statusCode, headers, body } = await this.#pool.request({ method: "GET", path: pathOf(product) });
    const text = await body.text();
    if (statusCode !== 200) throw new BenchFailure(`${this.name} answered ${pathOf(product)} with ${statusCode}.`);
    return { version: versionIn(text), isHit: headers["x-cache"] === "HIT" };
  }

  /** Requests the products from `from` up to, but not including, `to`, so that the cache stores them. */
  async fill(from: number, to: number): Promise<void> {
    await this.#each(from, to, (product) => this.read(product));
  }

  /** Fails unless the cache holds all of them. */
  async assertHits(from: number, to: number): Promise<void> {
    await this.#each(from, to, (product) => this.#assertHit(product));
  }

  /** Fails unless the cache holds the page of a product. Tries several times, because pages are stored in the background. */
  async #assertHit(product: number): Promise<void> {
    for (let tries = 0; tries < 50; tries++) {
      const { isHit } = await this.read(product);
      if (isHit) return;
      await wait(10);
    }
    throw new BenchFailure(`${this.name} does not store ${pathOf(product)}.`);
  }

  async #each(from: number, to: number, work: (product: number) => Promise<unknown>): Promise<void> {
    let next = from;
    const workOn = async () => {
      while (next < to) await work(next++);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, workOn));
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
