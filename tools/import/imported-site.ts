import { OwnerError, type RouteInput, type SiteInput } from "../../internal.ts";

/** A line of the file that is imported. */
export interface Source {
  /** `conf.d/shop.conf:12`. */
  readonly place: string;
  /** The directive, as it stands there. */
  readonly text: string;
}

/** In what a visitor, or the origin, can notice a difference. */
export type Aspect =
  /** Whether the origin is asked, and so whether an answer is stored or used. */
  | "stored"
  /** Status or body of the answer. */
  | "answer"
  /** A field of the answer. */
  | "response-field"
  /** A field of the request to the origin. */
  | "origin-field"
  /** The path or query that the origin is asked for. */
  | "origin-url";

/** The requests on which a difference can show. Each condition that is given has to hold. */
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
  /** The origin answers with one of these statuses, or not at all for 0. */
  readonly statuses?: readonly number[];
  /** The request is for one of these paths. */
  readonly paths?: readonly string[];
  /** The request's host is none of the site's, or one of its other names. */
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
  /** Why it differs, and what to do instead, in sentences. */
  readonly why: string;
  /** Empty if no answer differs by it. */
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

/** A location of the file, and what became of it. */
export interface LocationOutcome {
  readonly source: Source;
  /** Whether the file has a cache there. */
  readonly isCached: boolean;
  /** Whether the site stores there. */
  readonly stores: boolean;
  /** The words of the file for which it does not, though the file does. */
  readonly because: readonly string[];
}

/** What an import found. */
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

/** What a config names in the place of a socket. No machine has this name (RFC 2606), so it is never asked by mistake. */
const NO_ADDRESS = "http://unix-socket.invalid";

/** `unix:/run/app.sock`, of characters that a shell leaves alone; `null` for anything else. */
export function readSocket(text: string): string | null {
  const path = /^unix:(?:\/\/)?(\/[\w./@%+-]+)$/.exec(text)?.[1];
  return path === undefined ? null : `unix:${path}`;
}

/** The origin as a config names it: a socket is named to `tidemark serve` alone, which takes it by `--origin`. */
export function configOrigin({ origin }: ImportedSite): string {
  return readSocket(origin.value) === null ? origin.value : NO_ADDRESS;
}

/** The imported site as `defineSite` takes it. */
export function siteOf(imported: ImportedSite): SiteInput {
  const { hosts, settings, routes } = imported;
  return {
    origin: configOrigin(imported),
    ...(hosts !== null && { hosts: hosts.value }),
    ...Object.assign({}, ...settings.map(({ value }) => value)),
    routes: routes.map(({ value }) => value),
  };
}

/** The import cannot go on. The message begins with the place, where there is one. */
export class ImportError extends OwnerError {
  override readonly name = "ImportError";
}
