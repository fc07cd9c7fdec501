import type { TokenSettings } from "../../worker/control/access/tokens.ts";
import type { SiteOverrides } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { RoomForBodies } from "../bodies/held-bodies.ts";
import type { AccessLogFormat } from "../connections/access-log.ts";
import type { HttpsRedirect } from "../connections/https-redirect.ts";
import type { TlsSettings } from "../connections/tls-server.ts";
import type { OriginAddress } from "../origin/origin-address.ts";
import type { ParentSettings } from "./parent-settings.ts";

/** The settings of one site. */
export interface SiteSettings {
  /** `ONLY_SITE`, or its name among several. */
  readonly name: string;
  readonly site: SiteInput;
  readonly overrides: SiteOverrides;
  /** The origin; `null` if a parent stands in for it, and the origin itself is never asked. */
  readonly origin: OriginAddress | null;
  /** The server that is asked in place of the origin, and the token with which it is asked; `null` for none. */
  readonly parent: ParentSettings | null;
  /** The name of this server in `CDN-Loop`. No other has it. */
  readonly node: string;
  readonly tokens: TokenSettings;
  /** How clients are sent to https; `null` if they are not. */
  readonly toHttps: HttpsRedirect | null;
}

/** The settings of every worker of one server: plain data, because it is copied between processes. */
export interface EdgeSettings {
  /** `ONLY_SITE` alone, or any number of others. */
  readonly sites: readonly SiteSettings[];
  readonly workers: number;
  /** For one worker, all sites together. */
  readonly memoryBytes: number;
  /** The disk tier, which all workers and sites share; `null` for none. */
  readonly disk: { readonly folder: string; readonly maxBytes: number } | null;
  /** For bodies on their way through one worker. */
  readonly roomForBodies: RoomForBodies;
  /** The connections that one worker takes at a time. */
  readonly maxConnections: number;
  /** The connections of one worker to all origins, and parents, together; `null` without a limit. */
  readonly maxOriginConnections: number | null;
  /** The files of pages that one worker has open for their readers; `null` without a limit. */
  readonly maxOpenPages: number | null;
  /** Whether plain requests are answered without Node's own objects. */
  readonly usesFastAnswers: boolean;
  /** For addresses with TLS; `null` if there are none. */
  readonly tls: TlsSettings | null;
  /** Whether an authority gives the certificates, so that its challenges are answered. */
  readonly usesAcme: boolean;
  /** Whether connections begin with a header of the PROXY protocol. */
  readonly usesProxyProtocol: boolean;
  readonly strictTransportSecurity: string | null;
  readonly accessLog: { readonly path: string; readonly format: AccessLogFormat } | null;
  /** With which the workers of this machine, and those after them, hash the sessions that origins set. */
  readonly sessionSecret?: string;
}
