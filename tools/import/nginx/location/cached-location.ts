import type { RouteInput } from "#tidemark/internal";
import type { Affected, Aspect, Difference, Source } from "../../imported-site.ts";
import type { Directive } from "../files/directives.ts";
import type { Family } from "../handlers.ts";
import { inForce, type Levels } from "../in-force.ts";
import type { Location } from "../locations.ts";

/** A route's settings besides its `match`. */
export type LocationRules = Omit<RouteInput, "match">;

/** The result for some of a location's directives. */
export interface LocationPart {
  readonly rules: LocationRules;
  /** The lines that the rules come from. */
  readonly from: readonly Source[];
  readonly differences: readonly Difference[];
}

/** A location whose answers nginx may store. */
export class CachedLocation {
  /** The blocks that answer. */
  readonly levels: Levels;
  /** Its own line. */
  readonly source: Source;
  /** Its routes. The list may grow during the import. */
  readonly #routes: readonly string[];
  readonly #family: Family;

  constructor({ answeredBy, directive }: Location, family: Family, routes: readonly string[]) {
    this.levels = answeredBy;
    this.source = directive.source;
    this.#family = family;
    this.#routes = routes;
  }

  /**
   * The directives that apply, of the module that answers here: `cache_key` is `proxy_cache_key`, `fastcgi_cache_key`
   * and so on.
   */
  read(name: string): readonly Directive[] {
    return inForce(this.levels, `${this.#family}_${name}`);
  }

  /** The fields of the origin that nginx ignores, in lower case. */
  get ignoredFields(): ReadonlySet<string> {
    return new Set(this.read("ignore_headers").flatMap(({ args }) => args.map((each) => each.toLowerCase())));
  }

  /** A difference that shows in the routes of this location, on requests that fit `affects`. */
  difference(
    kind: Difference["kind"],
    source: Source,
    why: string,
    aspects: readonly Aspect[],
    affects: Omit<Affected, "routes"> = {},
  ): Difference {
    return { kind, source, why, aspects, affects: { routes: this.#routes, ...affects } };
  }
}
