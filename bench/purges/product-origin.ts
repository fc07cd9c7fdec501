import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const BODY_BYTES = 2048;

/** A shop with a page for each product. The page has its own tag, and the product's version in its body. */
export class ProductOrigin implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #versions: Map<number, number>;

  private constructor(server: Server, versions: Map<number, number>) {
    this.#server = server;
    this.#versions = versions;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<ProductOrigin> {
    const versions = new Map<number, number>();
    const server = createServer((request, response) => {
      const product = Number(request.url?.slice(PATH.length));
      response.setHeader("Content-Type", "text/plain");
      response.setHeader("Cache-Control", "public, max-age=86400");
      response.setHeader("Cache-Tag", tagOf(product));
      response.end(`${versions.get(product) ?? 1} is the version. `.padEnd(BODY_BYTES, "tide "));
    });
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new ProductOrigin(server, versions);
  }

  /** Changes the page of a product: it gets a new version. */
  change(product: number): void {
    this.#versions.set(product, (this.#versions.get(product) ?? 1) + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
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
