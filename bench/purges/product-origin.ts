import type { IncomingMessage, ServerResponse } from "node:http";
import { LocalOrigin } from "../processes/local-origin.ts";

const BODY_BYTES = 2048;

/** A shop with a page for each product. The page has its own tag, and the product's version in its body. */
export class ProductOrigin extends LocalOrigin {
  readonly #versions = new Map<number, number>();

  /** Changes the page of a product: it gets a new version. */
  change(product: number): void {
    this.#versions.set(product, (this.#versions.get(product) ?? 1) + 1);
  }

  protected override answer({ url }: IncomingMessage, response: ServerResponse): void {
    const product = Number(url?.slice(PATH.length));
    response.setHeader("Content-Type", "text/plain");
    response.setHeader("Cache-Control", "public, max-age=86400");
    response.setHeader("Cache-Tag", tagOf(product));
    response.end(`${this.#versions.get(product) ?? 1} is the version. `.padEnd(BODY_BYTES, "tide "));
  }
}

const PATH = "/product/";

export function pathOf(product: number): string {
  return PATH + product;
}

export function tagOf(product: number): string {
  return `product-${product}`;
}

/** The version that a page shows. */
export function versionIn(body: string): number {
  return Number.parseInt(body, 10);
}
