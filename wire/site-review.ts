/** The review of a site before its deployment. Plain data. */
export interface SiteReview {
  /** Why the rules are not valid. Only if this is empty, the rest is meaningful. */
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  readonly originUrl: string;
  /** The service binding instead of an origin; `null` for an address. */
  readonly originService: string | null;
  /** Whether the public hosts are named. Without them a deployed edge answers 503. */
  readonly namesHosts: boolean;
  /** The public hosts; `null` for any. */
  readonly hosts: readonly string[] | null;
  readonly shadowed: readonly ShadowedRoute[];
  readonly slow: readonly SlowExpression[];
  /** The defences that the rules weaken, a line for each. */
  readonly weakened: readonly string[];
}

/** A route that no request reaches, because an earlier one matches all of its paths. */
export interface ShadowedRoute {
  readonly match: string;
  /** Its index in `routes`, and that of the earlier route. */
  readonly index: number;
  readonly by: { readonly match: string; readonly index: number };
}

/** What is wrong with such a route, and what to do. */
export function neverMatches({ match, by }: ShadowedRoute): string {
  return (
    `${match} never matches, because routes[${by.index}], ${by.match}, comes first and matches all of it. ` +
    "Move it before that route, or remove it."
  );
}

/** A regular expression that may take exponential time. */
export interface SlowExpression {
  /** Where the site has it, like `routes[1].match`. */
  readonly place: string;
  readonly expression: string;
}

/** What is wrong with such an expression, and what to do. */
export function mayHang({ expression }: SlowExpression): string {
  return (
    `${expression} may take exponential time: one request could keep a worker busy until it is killed. ` +
    "Write it without nested quantifiers."
  );
}
