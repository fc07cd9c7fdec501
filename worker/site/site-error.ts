import { shownValue } from "../../wire/text/shown-value.ts";

/** All mistakes in a site's rules. Each line gives the place, the value and the correction. */
export class SiteError extends Error {
  override readonly name = "SiteError";
  /** Each mistake: where it is, like `routes[0].ttl`, and what is wrong there. */
  readonly errors: readonly { readonly path: string; readonly message: string }[];

  constructor(errors: readonly { readonly path: string; readonly message: string }[]) {
    super(`the site's rules are not valid:\n${errors.map(({ path, message }) => `  ${path}: ${message}`).join("\n")}`);
    this.errors = errors;
  }
}

/** What is wrong with a value, and the value, cut where it is long. */
export function withValue(message: string, value: unknown): string {
  const shown = value === undefined ? "nothing" : shownValue(value).slice(0, 80);
  return `${message}; found ${shown}`;
}
