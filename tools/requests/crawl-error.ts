/** A crawl that cannot begin. The message says everything that its caller needs. */
export class CrawlError extends Error {
  override readonly name = "CrawlError";
  /** Whether the call is wrong, the site forbids it, or nothing answers there. */
  readonly kind: "usage" | "refused" | "unreachable";

  constructor(kind: CrawlError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}
