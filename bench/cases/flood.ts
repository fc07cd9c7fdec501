import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Crowd, LAST_ANSWERS_MS, PRACTICE_MS, paced } from "../flood/crowd.ts";
import type { Asking } from "../flood/crowd-thread.ts";
import { PageOrigin } from "../flood/page-origin.ts";
import { type Case, chosenBy, count, words } from "../frame/case.ts";
import type { Latencies } from "../frame/latency-histogram.ts";
import { isInstalled, NGINX, VARNISH, VARNISH_MODULES } from "../frame/programs.ts";
import { printTable } from "../frame/table.ts";
import { nginx, nginxOptions } from "../peers/nginx.ts";
import { type Peer, RunningPeer, type Site } from "../peers/peer.ts";
import { commandOption, tidemark } from "../peers/tidemark.ts";
import { varnish } from "../peers/varnish.ts";
import { memoryBytesOfTree } from "../processes/process-tree.ts";
import type { Place } from "../processes/server-process.ts";

/** Earlier visitors, and visitors who arrive during the flood. */
const [KNOWN, NEW] = [150, 50];
/** The time in which each visitor opens one page. Three of ten pages are not stored. */
const MEAN_PAUSE_MS = 6000;
const HOT_PAGES = 20;
/** The age that a session must have before the flood begins. */
const SETTLED_MS = 605_000;
const WARM_UP_MS = 10_000;
const CROWD = new URL("../flood/crowd-thread.ts", import.meta.url);
const CONSTANT_SERVER = fileURLToPath(new URL("../flood/constant-server.ts", import.meta.url));
/** Beside the people, who ask for too little to tell how fast hits are: one of the popular pages, so often a second. */
const READER = { addresses: 100, timesASecond: 200, pages: HOT_PAGES, isIdle: false };
const FLOODING = { timesASecond: 1000, pages: null, isIdle: true };
const FLOODS = [
  { name: "no flood", addresses: 0, isElsewhere: false },
  // The clients of a flood share the machine, so they alone make hits slower, also at the lowest priority. This row tells
  // by how much.
  { name: "10,000 addresses, at another server", addresses: 10_000, isElsewhere: true },
  { name: "one address", addresses: 1, isElsewhere: false },
  { name: "10,000 addresses", addresses: 10_000, isElsewhere: false },
];

/** All clients are behind one proxy, which sends their addresses. */
const REAL_IP = "set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;";
const UNLIMITED_NGINX = nginx("nginx without a limit", { http: REAL_IP });

/** For a server that asks no origin. */
const NOBODY = new URL("http://origin.invalid");

/** nginx with an `http` block of its own. */
function nginxAs(name: string, http: (site: Site, place: Place) => string): Peer {
  return {
    ...UNLIMITED_NGINX,
    name,
    commandLine: async (site, place) => [
      "nginx",
      ...(await nginxOptions(place.folder, { workers: 1, http: http(site, place) })),
    ],
  };
}

/** The cheapest server to flood: it refuses every request. */
const REFUSING_NGINX = nginxAs(
  "nginx that refuses",
  (_, { port }) => `server { listen 127.0.0.1:${port}; return 503; }`,
);

/** nginx with all its limits: on misses behind the cache, and on clients' rates before it. */
const LIMITED_NGINX = nginxAs(
  "nginx: limit_req, limit_conn, cache lock",
  ({ origin }, { port, folder }) => `${REAL_IP} proxy_cache_path ${folder}/cache levels=1:2 keys_zone=pages:64m;
      limit_req_zone $binary_remote_addr zone=clients:10m rate=2r/s; limit_conn_zone $scheme zone=origin:1m;
      server { listen unix:${folder}/misses; location / { limit_conn origin 10; proxy_pass ${origin.origin}; } }
      server { listen 127.0.0.1:${port}; location / {
        limit_req zone=clients burst=20 nodelay; proxy_pass http://unix:${folder}/misses:;
        proxy_cache pages; proxy_cache_lock on; proxy_cache_use_stale error timeout http_503;
        proxy_ignore_headers Set-Cookie; add_header X-Cache $upstream_cache_status always; } }`,
);

/** Varnish with its throttle module: by address, only for misses. */
const THROTTLED_VARNISH: Peer = {
  ...varnish("Varnish: vsthrottle", {
    vcl: `import vsthrottle;
      sub vcl_recv { if (req.url != "/login") { unset req.http.Cookie; } }
      sub vcl_miss {
        if (vsthrottle.is_denied(req.http.X-Forwarded-For, 20, 10s)) { return (synth(429, "Too Many Requests")); }
      }`,
  }),
  needs: VARNISH_MODULES,
};

/** It is no cache, but shows how much a flood slows down any server on Node. */
const BARE_NODE: Peer = {
  name: "bare Node that answers constants",
  needs: null,
  speaksTls: false,
  isHit: null,
  commandLine: async (_, { port }) => [process.execPath, CONSTANT_SERVER, `${port}`],
};

function limitedTidemark(command: string): Peer {
  const peer = tidemark(command);
  return {
    ...peer,
    async commandLine(site, place) {
      const settings = `{ trustedProxies: ["127.0.0.1"], origin: { url: "${site.origin.origin}", concurrency: 10 } }`;
      await writeFile(join(place.folder, "tidemark.config.ts"), `export default ${settings};\n`);
      return peer.commandLine(site, place);
    },
  };
}

export const flood: Case<{ readonly seconds: number; readonly peers?: string; readonly tidemark: string }> = {
  name: "flood",
  description: "A site that makes 50 pages a second, under people who browse and a flood that asks for 1,000.",
  options: [
    count("--seconds", "how long each row is measured", 60),
    words("--peers", "only rows with one of these words in their names"),
    commandOption(),
  ],
  needs: [NGINX],
  uses: [VARNISH, VARNISH_MODULES],
  async measure({ seconds, peers, tidemark: command }) {
    // Tidemark comes last, because the sessions that it has seen must be ten minutes old.
    const all = [UNLIMITED_NGINX, LIMITED_NGINX, THROTTLED_VARNISH, BARE_NODE, limitedTidemark(command)];
    const chosen = chosenBy(
      peers,
      all.filter(({ needs }) => needs === null || isInstalled(needs)),
    );
    const isTidemark = ({ name }: Pick<Peer, "name">) => name === tidemark(command).name;
    console.log(lengthOf(chosen.length, chosen.some(isTidemark), seconds));
    await using running = new AsyncDisposableStack();
    const sites = [];
    for (const peer of chosen) {
      const origin = running.use(await PageOrigin.start());
      const server = running.use(await RunningPeer.start(peer, { origin: origin.url, workers: 1 }));
      sites.push({ peer, origin, server, cookies: await prepare(server.url), preparedAt: performance.now() });
    }
    const elsewhere = running.use(await RunningPeer.start(REFUSING_NGINX, { origin: NOBODY }));
    const rows = [];
    for (const { peer, origin, server, cookies, preparedAt } of sites) {
      if (isTidemark(peer)) await wait(Math.max(0, SETTLED_MS - (performance.now() - preparedAt)));
      for (const { name, addresses, isElsewhere } of FLOODS) {
        origin.forget();
        const crowds = { known: new Crowd(), fresh: new Crowd() };
        const flooded = isElsewhere ? elsewhere.url : server.url;
        const got = await play(server.url, cookies, { flooded, addresses, seconds, practice: elsewhere.url }, crowds);
        const megabytes = memoryBytesOfTree(server.server.pid) / 1e6;
        const row = { peer: peer.name, flood: name, ...crowds, ...got, mostAtOrigin: origin.mostAtOnce, megabytes };
        rows.push(row);
        console.error(
          cellsOf(row)
            .map((cell, column) => `${COLUMNS[column]} ${cell}`.trim())
            .join(", "),
        );
      }
    }
    console.log();
    printTable(COLUMNS, rows.map(cellsOf));
    const failures = rows.flatMap(({ peer, flood: name, mostAtOrigin }) =>
      isTidemark({ name: peer }) && mostAtOrigin > 10 ? [`${name}: the origin had ${mostAtOrigin} requests.`] : [],
    );
    return { results: { rows }, failures };
  },
};

interface Row {
  readonly peer: string;
  readonly flood: string;
  readonly known: Crowd;
  readonly fresh: Crowd;
  readonly hits: Latencies;
  readonly flooding: number;
  readonly mostAtOrigin: number;
  readonly megabytes: number;
}

const COLUMNS = [
  "",
  "known people got",
  "p99",
  "new people got",
  "p99",
  "hits, p99",
  "the flood got",
  "at the origin",
  "memory",
];

function cellsOf({ peer, flood: name, known, fresh, hits, flooding, mostAtOrigin, megabytes }: Row): string[] {
  return [
    `${peer}; ${name}`,
    ...[part(known), p99(known.misses.toJSON()), part(fresh), p99(fresh.misses.toJSON()), p99(hits)],
    ...[`${flooding}`, `${mostAtOrigin}`, `${megabytes.toFixed(0)} MB`],
  ];
}

/** How long the rows of so many peers take, in words. */
function lengthOf(peers: number, isTidemarkLast: boolean, seconds: number): string {
  const rows = peers * FLOODS.length;
  const rowMs = 2 * PRACTICE_MS + WARM_UP_MS + seconds * 1000 + LAST_ANSWERS_MS;
  const waitMs = isTidemarkLast ? Math.max(0, SETTLED_MS - (rows - FLOODS.length) * rowMs) : 0;
  const pause = waitMs > 0 ? `, and ${minutes(waitMs)} until sessions at Tidemark are old enough` : "";
  return `${rows} rows of ${rowMs / 1000} s${pause}: about ${minutes(rows * rowMs + waitMs)}.`;
}

/** What floods which server, while somebody reads at the one that is measured. */
interface Flood {
  readonly flooded: URL;
  readonly addresses: number;
  readonly seconds: number;
  /** The server on which clients practise. */
  readonly practice: URL;
}

/** Stores the popular pages, and logs in the known visitors. Returns their cookies. */
async function prepare(edge: URL): Promise<string[]> {
  const crowd = new Crowd();
  const cookies: string[] = [];
  for (let page = 0; page < HOT_PAGES; page++) await crowd.ask(new URL(`/hot/${page}`, edge), addressOf(page));
  for (let person = 0; person < KNOWN; person++)
    cookies.push(await crowd.ask(new URL("/login", edge), addressOf(person)));
  return cookies;
}

let [unique, rounds] = [0, 0];

/** Resolves to what the reader and the flood got. Each time other people are new: what they asked for before counts. */
async function play(
  edge: URL,
  cookies: readonly string[],
  { flooded, addresses, seconds, practice }: Flood,
  { known, fresh }: { readonly known: Crowd; readonly fresh: Crowd },
): Promise<{ hits: Latencies; flooding: number }> {
  const aside = { seconds, warmUpMs: WARM_UP_MS, practice: practice.href };
  const reader = await Aside.ready({ ...READER, ...aside, edge: edge.href });
  const flood = addresses > 0 ? await Aside.ready({ ...FLOODING, ...aside, edge: flooded.href, addresses }) : null;
  const signal = AbortSignal.timeout(WARM_UP_MS + seconds * 1000);
  const round = ++rounds;
  const open = (person: number) => {
    const isHit = Math.random() < 0.7;
    const page = isHit ? `/hot/${Math.floor(Math.random() * HOT_PAGES)}` : `/page/${unique++}`;
    const crowd = person < KNOWN ? known : fresh;
    const address = addressOf(person, person < KNOWN ? 0 : round);
    void crowd.ask(new URL(page, edge), address, { cookie: cookies[person] ?? "", isHit });
  };
  const everybody = KNOWN + NEW;
  const people = paced((everybody * 1000) / MEAN_PAUSE_MS, signal, () => open(Math.floor(Math.random() * everybody)));
  const [hits, flooding] = await Promise.all([reader.ask(), flood?.ask(), people]);
  return { hits, flooding: flooding?.count ?? 0 };
}

/** Clients in a thread, so that nobody's time is measured while others are served. */
class Aside {
  readonly #thread: Worker;

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  static async ready(asking: Asking): Promise<Aside> {
    const thread = new Worker(CROWD, { workerData: asking });
    await once(thread, "message");
    return new Aside(thread);
  }

  /** Resolves to what they got once all have their answers or have given up. */
  async ask(): Promise<Latencies> {
    this.#thread.postMessage("go");
    const [got] = (await once(this.#thread, "message")) as [Latencies];
    return got;
  }
}

function addressOf(person: number, round = 0): string {
  return `198.51.${100 + round}.${person}`;
}

function part(crowd: Crowd): string {
  return `${(100 * crowd.partServed).toFixed(1)} % of ${crowd.asked}`;
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} minutes`;
}

function p99({ p99Ms }: Latencies): string {
  return Number.isNaN(p99Ms) ? "-" : `${p99Ms.toFixed(p99Ms < 10 ? 1 : 0)} ms`;
}
