import type { Contestant, Load } from "../frame/turns.ts";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import { HEY_FIELDS, loadByAb, loadByHey } from "../load/short-runs.ts";
import { type LoadSettings, loadFiles, loadMisses, loadPage } from "../load/wrk.ts";
import type { RunningPeer } from "../peers/peer.ts";
import { assertFilesStored, assertMissesAndHits, assertNeverStored, assertStored } from "./right-answers.ts";
import { SLOW_BYTES, type SlowOrigin } from "./slow-origin.ts";
import { missPrefix, type StaticOrigin } from "./static-origin.ts";

/** One form of load, for all servers. */
export interface Form extends Pick<Contestant, "missShare"> {
  readonly name: string;
  readonly origin: keyof Origins;
  readonly overTls: boolean;
  /** The memory that its pages need in a server. */
  readonly storeMegabytes: number;
  /** Why it cannot be measured here; `null` if it can. */
  readonly leftOut: string | null;
  /** Fails unless the server answers as the form expects. Afterwards the server has stored the form's pages. */
  verify(server: RunningPeer): Promise<void>;
  /** `turn` is another number at each call. */
  load(site: URL, turn: number): Promise<Load>;
}

/** An origin that knows how many requests have come in. */
export interface CountingOrigin {
  readonly url: URL;
  requests(): Promise<number>;
}

/** The origins of the forms: a fast one and a slow one. */
export interface Origins {
  readonly static: StaticOrigin;
  readonly slow: SlowOrigin;
}

export interface Amounts {
  /** How long a turn takes. */
  readonly seconds: number;
  readonly files: number;
  /** Where hey is, or why it is not there. */
  readonly hey: { readonly program: string } | { readonly leftOut: string };
}

const FILE_BYTES = 100_000;
/** The sizes of the pages in the forms. */
export const PAGE_SIZES = [0, 1000, 1700, 10_000, 50_000, 100_000] as const;
type PageSize = (typeof PAGE_SIZES)[number];

export function formsOf(origins: Origins, { seconds, files, hey }: Amounts): readonly Form[] {
  const at50 = { connections: 50, seconds };
  const at20 = { connections: 20, seconds };
  const wrk = (settings: LoadSettings) => (page: URL) => loadPage(page, settings);
  return [
    hits("wrk -c50, no body", 0, wrk(at50)),
    hits("wrk -c50, 1 KB", 1000, wrk(at50)),
    hits("wrk -c50, 10 KB", 10_000, wrk(at50)),
    hits("wrk -c50, 100 KB", 100_000, wrk(at50)),
    {
      ...hits("hey -n 10000 -c 10, 1 KB", 1000, (page) =>
        loadByHey("program" in hey ? hey.program : "", page, seconds),
      ),
      verify: (server) => assertStored(server, pagePath(1000), pageOfBytes(1000), HEY_FIELDS),
      leftOut: "leftOut" in hey ? hey.leftOut : null,
    },
    hits("ab -k -c 500 -n 5000, 1.7 KB", 1700, (page) => loadByAb(page, seconds)),
    hits("wrk -c50, 50 KB, a connection each", 50_000, wrk({ ...at50, newConnections: true })),
    {
      ...hits(`wrk -c20, ${files.toLocaleString("en")} files of 100 KB`, 100_000, wrk(at20)),
      storeMegabytes: 256 + Math.ceil((files * FILE_BYTES * 1.1) / 1e6),
      verify: async (server) => {
        await origins.static.writeFiles(files, FILE_BYTES);
        await assertFilesStored(server, files, FILE_BYTES);
      },
      load: (site) => loadFiles(site, files, at20),
    },
    {
      ...hits("wrk -c50, 1 KB, 4 of 5 are misses", 1000, wrk(at50)),
      missShare: 0.8,
      verify: (server) => assertMissesAndHits(server, pagePath(1000), pageOfBytes(1000)),
      load: (site, turn) => loadMisses(pageUrl(site, 1000), missPrefix(`${turn}`.padStart(4, "0")), at50),
    },
    {
      ...hits("ab -k -c 500 -n 5000, 1 KB, never stored, from an origin that takes 40 ms", 1000, wrk(at50)),
      origin: "slow",
      missShare: 1,
      verify: (server) => assertNeverStored(server, "/", pageOfBytes(SLOW_BYTES)),
      load: (site) => loadByAb(new URL("/", site), seconds),
    },
    { ...hits("wrk -c50, 1 KB, TLS 1.3", 1000, wrk(at50)), overTls: true },
  ];
}

function hits(name: string, bytes: PageSize, load: (page: URL) => Promise<Load>): Form {
  return {
    name,
    origin: "static",
    overTls: false,
    storeMegabytes: 256,
    leftOut: null,
    missShare: 0,
    verify: (server) => assertStored(server, pagePath(bytes), pageOfBytes(bytes)),
    load: (site) => load(pageUrl(site, bytes)),
  };
}

function pagePath(bytes: PageSize): string {
  return `/pages/${bytes}.html`;
}

function pageUrl(site: URL, bytes: PageSize): URL {
  return new URL(pagePath(bytes), site);
}
