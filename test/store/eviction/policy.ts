/** An online policy: a cache of bounded size that does not know what is requested next. */
export interface Policy {
  readonly name: string;
  /** Requests a page, and stores it if it was not there. Returns whether it was. */
  request(page: number, bytes: number): boolean;
}
