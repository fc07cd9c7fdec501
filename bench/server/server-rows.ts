import type { Contestant, Load } from "../frame/turns.ts";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import { type LoadSettings, loadFiles, loadMisses, loadPage } from "../load/wrk.ts";
import type { RequestKind, RunningPeer } from "../peers/peer.ts";
import { assertFilesStored, assertMissesAndHits, assertNeverStored, assertStored } from "./right-answers.ts";
import type { SlowOrigin } from "./slow-origin.ts";
import { loadStampede } from "./stampede.ts";
import { missPrefix, type StaticOrigin } from "./static-origin.ts";

/** How much load a row gets. */
export interface Amounts {
  /** How long a turn takes. */
  readonly seconds: number;
  /** The connections of the rows that have many. */
  readonly connections: number;
  readonly files: number;
  /** The requests of a stampede. */
  readonly stampede: number;
}

/** One form of load, for all servers. */
export interface ServerRow extends Pick<Contestant, "missShare"> {
  readonly name: string;
  readonly kind: RequestKind;
  readonly bodyBytes: number;
  /** Fails unless the server answers as the row expects, and leaves it with the pages stored that the row wants stored. */
  verify(server: RunningPeer): Promise<void>;
  /** `turn` is another number at each call. */
  load(site: URL, turn: number): Promise<Load>;
}

/** An origin that knows how many requests have come in. */
export interface CountingOrigin {
  requests(): Promise<number>;
}

/** The origins that the rows have: a row of a stampede needs one that takes its time. */
export interface Origins {
  readonly static: StaticOrigin;
  readonly slow: SlowOrigin;
}

const FILE_BYTES = 100_000;
/** The sizes of the pages in the rows. */
export const PAGE_SIZES = [0, 1000, 1700, 10_000, 50_000, 100_000] as const;
type PageSize = (typeof PAGE_SIZES)[number];

export function serverRows(origins: Origins, { seconds, connections, files, stampede }: Amounts): readonly ServerRow[] {
  const at50 = { connections: 50, seconds };
  const atMany = { connections, seconds };
  const eachItsOwn = { ...at50, newConnections: true };
  return [
    hits("hits, no body", 0, at50),
    hits("hits, 1 KB", 1000, at50),
    hits("hits, 10 KB", 10_000, at50),
    hits("hits, 100 KB", 100_000, at50),
    hits("hits, 1 KB, 10 connections", 1000, { ...at50, connections: 10 }),
    hits(`hits, 1.7 KB, ${connections} connections`, 1700, atMany),
    hits("hits, 1 KB, a connection each", 1000, eachItsOwn),
    hits("hits, 50 KB, a connection each", 50_000, eachItsOwn),
    {
      ...hits(`hits, ${files.toLocaleString("en")} files of 100 KB`, 100_000, at50),
      verify: async (server) => {
        await origins.static.writeFiles(files, FILE_BYTES);
        await assertFilesStored(server, files, FILE_BYTES);
      },
      load: (site) => loadFiles(site, files, at50),
    },
    {
      name: "misses in 4 of 5, 1 KB",
      kind: "misses",
      bodyBytes: 1000,
      missShare: 0.8,
      verify: (server) => assertMissesAndHits(server, pagePath(1000), pageOfBytes(1000)),
      load: (site, turn) => loadMisses(pageUrl(site, 1000), missPrefix(`${turn}`.padStart(4, "0")), at50),
    },
    {
      name: `uncached, 1.7 KB, ${connections} connections`,
      kind: "uncached",
      bodyBytes: 1700,
      missShare: 1,
      verify: (server) => assertNeverStored(server, "/uncached/1700.html", pageOfBytes(1700)),
      load: (site) => loadPage(new URL("/uncached/1700.html", site), atMany),
    },
    {
      name: `stampede of ${stampede.toLocaleString("en")}, 1 KB`,
      kind: "stampede",
      bodyBytes: 1000,
      missShare: null,
      verify: (server) => assertStored(server, "/verified", pageOfBytes(1000)),
      load: (site, turn) => loadStampede(new URL(`/stampede/${turn}`, site), stampede),
    },
  ];
}

function hits(name: string, bytes: PageSize, settings: LoadSettings): ServerRow {
  return {
    name,
    kind: "hits",
    bodyBytes: bytes,
    missShare: 0,
    verify: (server) => assertStored(server, pagePath(bytes), pageOfBytes(bytes)),
    load: (site) => loadPage(pageUrl(site, bytes), settings),
  };
}

function pagePath(bytes: PageSize): string {
  return `/pages/${bytes}.html`;
}

function pageUrl(site: URL, bytes: PageSize): URL {
  return new URL(pagePath(bytes), site);
}
