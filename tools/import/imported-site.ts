import { addressInConfig, OwnerError, type RouteInput, type SiteInput } from "#tidemark/internal";

/** A line of the file that is imported. */
export interface Source {
  /** `conf.d/shop.conf:12`. */
  readonly place: string;
  /** The directive, as written in the file. */
  readonly text: string;
}

/** Where a visitor, or the origin, can notice a difference. */
export type Aspect =
  /** Whether the origin is asked, and so whether an answer is stored or used. */
  | "stored"
  /** Status or body of the answer. */
  | "answer"
  /** A field of the answer. */
  | "response-field"
  /** A field of the request to the origin. */
  | "origin-field"
  /** The path or query of the request to the origin. */
  | "origin-url";

/** The requests on which a difference can show. All given conditions must hold. */
export interface Affected {
  /** The `match` of the routes; `null` for all requests. */
  readonly routes: readonly string[] | null;
  /** The method is one of these. */
  readonly methods?: readonly string[];
  /** The request has one of these cookies, or any cookie for `"*"`. */
  readonly cookies?: readonly string[];
  /** The request has one of these fields, in lower case; a trailing `*` stands for any ending. */
  readonly requestFields?: readonly string[];
  /** The query has one of these parameters; a trailing `*` stands for any ending. */
  readonly parameters?: readonly string[];
  /** The origin's answer has one of these fields, in lower case. */
  readonly answerFields?: readonly string[];
  /** The origin's answer has one of these fields, in lower case, with a value like this. */
  readonly answerValues?: Readonly<Record<string, RegExp>>;
  /** The origin answers with one of these statuses, or not at all for 0. */
  readonly statuses?: readonly number[];
  /** The request is for one of these paths. */
  readonly paths?: readonly string[];
  /** The request's host is not one of the site's, or is one of its other names. */
  readonly host?: "foreign" | "alias";
}

/** A difference between the imported file and the site. */
export interface Difference {
  /**
   * `safer`: the site does not do something that can show one visitor's page to another, or lets anybody reach the
   * origin. `changed`: carried over, but not exactly. `dropped`: not carried over. `access`: not carried over, and it
   * kept visitors out.
   */
  readonly kind: "safer" | "changed" | "dropped" | "access";
  /** `null` for a rule of the edge itself that no line of the file names. */
  readonly source: Source | null;
  /** Why the site differs, and what to do instead, in sentences. */
  readonly why: string;
  /** Empty if it changes no answer. */
  readonly aspects: readonly Aspect[];
  readonly affects: Affected;
  /** The field that differs, in lower case, for the aspects of a field. */
  readonly field?: string;
}

/** A setting of the site, with the lines that it came from. */
export interface Sourced<T> {
  readonly value: T;
  readonly from: readonly Source[];
}

/** A location of the file, and its result. */
export interface LocationOutcome {
  readonly source: Source;
  /** Whether the file has a cache there. */
  readonly isCached: boolean;
  /** Whether the site stores there. */
  readonly stores: boolean;
  /** If the file stores there and the site does not: the parts of the file that are the reason. */
  readonly because: readonly string[];
}

/** The result of an import. */
export interface ImportedSite {
  /** The files that were read, as they were named. */
  readonly files: readonly string[];
  /** An address, or a Unix socket: `unix:/run/app.sock`. */
  readonly origin: Sourced<string>;
  readonly hosts: Sourced<readonly string[]> | null;
  /** The settings of the whole site, beside origin, hosts and routes. */
  readonly settings: readonly Sourced<Omit<Partial<SiteInput>, "origin" | "hosts" | "routes">>[];
  readonly routes: readonly Sourced<RouteInput>[];
  readonly differences: readonly Difference[];
  readonly locations: readonly LocationOutcome[];
}

/** The imported site as `defineSite` takes it. */
export function siteOf(imported: ImportedSite): SiteInput {
  const { origin, hosts, settings, routes } = imported;
  return {
    origin: addressInConfig(origin.value),
    ...(hosts !== null && { hosts: hosts.value }),
    ...Object.assign({}, ...settings.map(({ value }) => value)),
    routes: routes.map(({ value }) => value),
  };
}

/** The import cannot continue. The message begins with the place, if there is one. */
export class ImportError extends OwnerError {
  override readonly name = "ImportError";
}
