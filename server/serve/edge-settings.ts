import type { TokenSettings } from "../../worker/control/tokens.ts";
import type { SiteOverrides } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { HttpsRedirect } from "../front/https-redirect.ts";
import type { TlsSettings } from "../front/tls-server.ts";
import type { AccessLogFormat } from "../listener/access-log.ts";
import type { OriginAddress } from "../origin/origin-address.ts";

/** The settings of every worker of one server: plain data, because it is copied between processes. */
export interface EdgeSettings {
  readonly site: SiteInput;
  readonly overrides: SiteOverrides;
  readonly origin: OriginAddress;
  readonly tokens: TokenSettings;
  /** For one worker. */
  readonly memoryBytes: number;
  /** The disk tier, which all workers share; `null` for none. */
  readonly disk: { readonly folder: string; readonly maxBytes: number } | null;
  /** Whether hits are answered inside Node's parser. */
  readonly usesFastHits: boolean;
  /** For addresses with TLS; `null` if there are none. */
  readonly tls: TlsSettings | null;
  /** How clients are sent to https; `null` if they are not. */
  readonly toHttps: HttpsRedirect | null;
  readonly strictTransportSecurity: string | null;
  readonly accessLog: { readonly path: string; readonly format: AccessLogFormat } | null;
}
