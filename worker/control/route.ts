import type { IsolateStats } from "../../wire/stats.ts";
import type { CountTree } from "../metrics/count-tree.ts";
import type { ReadLedger } from "../metrics/reports.ts";
import type { TokenScope } from "../ports/access.ts";
import type { Bodies } from "../ports/bodies.ts";
import type { PurgeAudit } from "../ports/purge-log.ts";
import type { AccessPorts } from "./access/access.ts";
import type { ExplainPage } from "./pretended-request.ts";
import type { FetchPage } from "./purging/refresh.ts";
import type { KnownKeys } from "./purging/unseen-items.ts";
import type { DoorPorts } from "./vendor-apis/doors.ts";

/** The ports that the control plane calls. */
export interface ControlPorts extends DoorPorts, AccessPorts, KnownKeys {
  readonly audit: PurgeAudit;
  /** Reads the site's ledger; `null` where isolates report to none. */
  readonly readLedger: ReadLedger | null;
  /** The counts of an isolate that has counted nothing. */
  readonly nothing: () => CountTree;
  /** The counters of this isolate. */
  readonly stats: () => IsolateStats;
  /** Whether this isolate knows the origin to be down. */
  readonly originIsDown: () => boolean;
  /** The owner's settings as they are in force, without secrets. */
  readonly settings: object;
}

/** The context of one request to the control plane. */
export interface ControlCall {
  /** The address at the other end of the connection; `null` where the platform does not tell it. */
  readonly peerAddress: string | null;
  readonly bodies: Bodies;
  /** Fetches a page through the corridor, in the background of this request. */
  readonly refresh: FetchPage;
  /** Says what the corridor would do with a request. */
  readonly explain: ExplainPage;
}

/** A call that a route answers: its caller has the scope of the route. */
export interface RoutedCall extends ControlCall {
  readonly request: Request;
  /** The last part of `/_tidemark/purges/SEQ`; elsewhere it is empty. */
  readonly seq: string;
  /** The name of the caller's token, or of the token behind its session; empty on a route without a scope. */
  readonly by: string;
  /** The caller's token; empty for a session, and on a route without a scope. */
  readonly token: string;
}

/** A row of the control plane's table. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE" | "PURGE";
  /** Below `/_tidemark/`. */
  readonly path: string;
  /** What the caller must be allowed to do; `null` if anyone may call. */
  readonly scope: TokenScope | null;
  readonly answer: (call: RoutedCall, ports: ControlPorts) => Response | Promise<Response>;
}
