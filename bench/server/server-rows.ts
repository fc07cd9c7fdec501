import type { RowKind } from "../contenders/contender.ts";
import type { DebianProgram } from "../debian-programs.ts";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import { AB, measureWithAb } from "../load/ab.ts";
import { HEY, measureWithHey } from "../load/hey.ts";
import type { Load } from "../load/load.ts";
import { measureWithSiege, SIEGE } from "../load/siege.ts";
import { measureFilesWithWrk, measureMissesWithWrk, measureWithWrk, WRK } from "../load/wrk.ts";
import type { SlowOrigin } from "../stampede/slow-origin.ts";
import { measureStampede } from "../stampede/stampede.ts";
import {
  assertFilesStored,
  assertMissesAndHits,
  assertNeverStored,
  assertStored,
  type VerifiedServer,
} from "./right-answers.ts";
import { missPrefix, type StaticOrigin } from "./static-origin.ts";

/** How much load a row gets. */
export interface Amounts {
  /** How long a turn of a row takes that is bound by time. */
  readonly seconds: number;
  /** The requests of all other rows are divided by this. */
  readonly divisor: number;
  /** The requests of a turn in which each comes on a connection of its own, before the division. */
  readonly newConnections: number;
  readonly files: number;
  readonly stampede: number;
}

/** What the project aims at, against ordinary nginx. */
export interface Goal {
  readonly leastRequests?: number;
  readonly mostCpu?: number;
  readonly mostOriginRequests?: number;
}

/** One form of load, for all servers. */
export interface ServerRow {
  readonly name: string;
  readonly kind: RowKind;
  readonly bodyBytes: number;
  /** The program that sends the load; `null` if it comes with the project. */
  readonly client: DebianProgram | null;
  /** How many cores the client can use. */
  readonly clientCores: number;
  readonly goal: Goal;
  /** Fails unless the server answers as the row expects, and leaves it with the pages stored that the row wants stored. */
  verify(server: VerifiedServer): Promise<void>;
  /** `turn` is another number at each call. */
  load(site: URL, turn: number): Promise<Load>;
  /** How many of the requests have to reach the origin, from 0 to 1; `null` if the row counts them without an expectation. */
  readonly missShare: number | null;
}

/** The origins that the rows have: a row of a stampede needs one that takes its time. */
export interface Origins {
  readonly static: StaticOrigin;
  readonly slow: SlowOrigin;
}

const FILE_BYTES = 100_000;
const ALL_CORES = Number.POSITIVE_INFINITY;
/** The sizes of the pages in the rows. */
export const PAGE_SIZES = [0, 1000, 1700, 10_000, 50_000, 100_000] as const;
type PageSize = (typeof PAGE_SIZES)[number];

export function serverRows(origins: Origins, amounts: Amounts): readonly ServerRow[] {
  const counted = (requests: number) => Math.max(1, Math.ceil(requests / amounts.divisor));
  const timed = { connections: 50, seconds: amounts.seconds };
  const likeNginx: Goal = { leastRequests: 1, mostCpu: 0.7 };
  const wrkRow = (bytes: PageSize, goal: Goal): ServerRow => ({
    ...hitsOf(bytes),
    name: `wrk -c 50, ${inKilobytes(bytes)}`,
    client: WRK,
    clientCores: 1,
    goal,
    load: (site) => measureWithWrk(pageUrl(site, bytes), timed),
  });
  const ab = { client: AB, clientCores: 1 } as const;
  const ab500 = { connections: 500, requests: Math.max(500, counted(5000)), keepAlive: true };
  return [
    {
      ...hitsOf(1000),
      name: "hey -n 10000 -c 10, 1 KB",
      client: HEY,
      clientCores: ALL_CORES,
      goal: likeNginx,
      load: (site) => measureWithHey(pageUrl(site, 1000), { connections: 10, requests: counted(10_000) }),
    },
    {
      ...hitsOf(1700),
      ...ab,
      name: "ab -kc 500 -n 5000, 1.7 KB, cached",
      goal: likeNginx,
      load: (site) => measureWithAb(pageUrl(site, 1700), ab500),
    },
    {
      ...ab,
      name: "ab -kc 500 -n 5000, 1.7 KB, uncached",
      kind: "uncached",
      bodyBytes: 1700,
      missShare: 1,
      goal: {},
      verify: (server) => assertNeverStored(server, "/uncached/1700.html", pageOfBytes(1700)),
      load: (site) => measureWithAb(new URL("/uncached/1700.html", site), ab500),
    },
    {
      ...hitsOf(50_000),
      name: "siege -c 50, 50 KB",
      client: SIEGE,
      clientCores: ALL_CORES,
      goal: {},
      load: (site) =>
        measureWithSiege(pageUrl(site, 50_000), { connections: 50, requests: counted(amounts.newConnections) }),
    },
    wrkRow(0, {}),
    wrkRow(1000, { leastRequests: 1.4, mostCpu: 0.7 }),
    wrkRow(10_000, {}),
    wrkRow(100_000, { leastRequests: 0.95 }),
    {
      ...hitsOf(FILE_BYTES),
      name: `wrk -c 50, ${amounts.files.toLocaleString("en")} files of 100 KB`,
      client: WRK,
      clientCores: 1,
      goal: { leastRequests: 0.6 },
      verify: async (server) => {
        await origins.static.writeFiles(amounts.files, FILE_BYTES);
        await assertFilesStored(server, amounts.files, FILE_BYTES);
      },
      load: (site) => measureFilesWithWrk(site, amounts.files, timed),
    },
    {
      name: "wrk -c 50, 4 of 5 are misses, 1 KB",
      kind: "misses",
      bodyBytes: 1000,
      client: WRK,
      clientCores: 1,
      missShare: 0.8,
      goal: { leastRequests: 1 },
      verify: (server) => assertMissesAndHits(server, pagePath(1000), pageOfBytes(1000)),
      load: (site, turn) => measureMissesWithWrk(pageUrl(site, 1000), missPrefix(`${turn}`.padStart(4, "0")), timed),
    },
    {
      ...hitsOf(1000),
      ...ab,
      name: `ab -c 50 -n ${amounts.newConnections}, new connections, 1 KB`,
      goal: { leastRequests: 0.55 },
      load: (site) =>
        measureWithAb(pageUrl(site, 1000), {
          connections: 50,
          requests: counted(amounts.newConnections),
          keepAlive: false,
        }),
    },
    {
      name: `stampede of ${amounts.stampede.toLocaleString("en")}, 1 KB`,
      kind: "stampede",
      bodyBytes: 1000,
      client: null,
      clientCores: 1,
      missShare: null,
      goal: { mostOriginRequests: 1 },
      verify: (server) => assertStored(server, "/verified", pageOfBytes(1000)),
      load: (site, turn) => measureStampede(new URL(`/stampede/${turn}`, site), amounts.stampede),
    },
  ];
}

function hitsOf(bytes: PageSize): Pick<ServerRow, "kind" | "bodyBytes" | "missShare" | "verify"> {
  return {
    kind: "hits",
    bodyBytes: bytes,
    missShare: 0,
    verify: (server) => assertStored(server, pagePath(bytes), pageOfBytes(bytes)),
  };
}

function pagePath(bytes: PageSize): string {
  return `/pages/${bytes}.html`;
}

function pageUrl(site: URL, bytes: PageSize): URL {
  return new URL(pagePath(bytes), site);
}

function inKilobytes(bytes: number): string {
  return `${bytes / 1000} KB`;
}
