import { Agent } from "node:http";
import { Option } from "commander";
import { exchange } from "../../local/cdn/exchange.ts";
import { startCdn } from "../../local/index.ts";
import { HOST } from "../../test/engine/scenario.ts";
import type { Meeting } from "../../test/visitors/meetings/meet.ts";
import { KINDS } from "../../test/visitors/sessions/kinds.ts";
import { hitRatio, measure, mixOf, type Tallies, type Tally } from "../../test/visitors/sessions/measure.ts";
import { answerOf } from "../../test/visitors/sessions/site.ts";
import { Witness } from "../../test/visitors/witness.ts";
import { type Case, count, type Outcome } from "../frame/case.ts";
import { isInstalled, NGINX, VARNISH } from "../frame/programs.ts";
import { printTable } from "../frame/table.ts";
import { nginx } from "../peers/nginx.ts";
import { type Peer, RunningPeer } from "../peers/peer.ts";
import { varnish } from "../peers/varnish.ts";

/**
 * The settings that a proxied site needs, and those that guides to `proxy_cache` add. Neither changes what is stored.
 */
const USUAL_NGINX = [
  "proxy_http_version 1.1;",
  'proxy_set_header Connection "";',
  "proxy_set_header Host $host;",
  "proxy_set_header X-Real-IP $remote_addr;",
  "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
  "proxy_set_header X-Forwarded-Proto $scheme;",
  "proxy_cache_lock on;",
  "proxy_cache_use_stale error timeout updating;",
];

/** From Varnish's own examples: the cookies of analytics and the parameters of campaigns are removed. */
const USUAL_VCL = `
  sub vcl_recv {
    if (req.url ~ "(\\?|&)(utm_[a-z]+|gclid|fbclid)=") {
      set req.url = regsuball(req.url, "(utm_[a-z]+|gclid|fbclid)=[-_A-Za-z0-9+.%]+&?", "");
      set req.url = regsub(req.url, "[?&]+$", "");
    }
    if (req.http.Cookie) {
      set req.http.Cookie = regsuball(req.http.Cookie, "(^|;\\s*)(_ga[_A-Z0-9a-z]*|_gid|_gat|_fbp|__utm[a-z]+)=[^;]*", "");
      set req.http.Cookie = regsub(req.http.Cookie, "^;\\s*", "");
      if (req.http.Cookie ~ "^\\s*$") { unset req.http.Cookie; }
    }
  }`;

const PEERS: readonly Peer[] = [
  nginx("nginx", { location: USUAL_NGINX }),
  varnish("Varnish"),
  varnish("Varnish, usual VCL", { vcl: USUAL_VCL }),
];

interface SessionsOptions {
  readonly sessions: number;
  readonly seed: number;
  readonly alone?: true;
}

/** A cache that the mix is sent to. */
interface Cache {
  readonly name: string;
  /** Starts it with nothing stored, and sends it the mix. */
  readonly measure: (steps: ReturnType<typeof mixOf>) => Promise<Tallies>;
}

export const sessions: Case<SessionsOptions> = {
  name: "sessions",
  description:
    "Hit ratios of a mix of sessions, and whether visitors got each other's answers, beside nginx and Varnish.",
  options: [
    count("--sessions", "how many sessions of each kind", 100),
    count("--seed", "the seed of all random choices", 1),
    new Option("--alone", "each kind alone with an empty cache, instead of all mixed"),
  ],
  needs: [],
  uses: [NGINX, VARNISH],
  measure: measureSessions,
};

async function measureSessions(settings: SessionsOptions): Promise<Outcome> {
  const witness = new Witness();
  const origin = new URL(await witness.start());
  witness.answering = answerOf;
  const installed = PEERS.filter(({ needs }) => isInstalled(needs!));
  const caches: Cache[] = [
    { name: "Tidemark", measure: (steps) => atTidemark(witness, origin, steps) },
    ...installed.map((peer) => ({
      name: peer.name,
      measure: (steps: ReturnType<typeof mixOf>) => atPeer(peer, witness, origin, steps),
    })),
  ];
  const mixes = settings.alone ? KINDS.map((kind) => mixOf({ ...settings, kinds: [kind] })) : [mixOf(settings)];
  const results: { name: string; tallies: [kind: string, tally: Tally][] }[] = [];
  try {
    for (const { name, measure } of caches) {
      const tallies: [string, Tally][] = [];
      for (const mix of mixes) tallies.push(...(await measure(mix)));
      results.push({ name, tallies });
      console.error(`${name}: done`);
    }
  } finally {
    await witness.stop();
  }
  const rows = KINDS.map(({ name, price }) => ({
    kind: name,
    price,
    tallies: results.map(({ tallies }) => tallies.find(([kind]) => kind === name)![1]),
  }));
  console.log();
  printTable(
    ["hits %", "requests", ...results.map(({ name }) => name)],
    rows.map(({ kind, tallies }) => [kind, String(tallies[0]!.requests), ...tallies.map(cellOf)]),
  );
  console.log(`
A hit is a request for which the origin was not asked. "+": requests that the cache sent to the origin beyond those. "!": how often visitors
got an answer made for another visitor's field, cookie or token. "p": how often visitors whose field the site reads got the
answer for requests without it.`);
  for (const { name } of PEERS.filter((peer) => !installed.includes(peer))) {
    console.log(`${name}: SKIPPED, because it is not installed.`);
  }
  const failures: string[] = [];
  if (results[0]!.tallies.some(([, { foreign }]) => foreign > 0)) {
    failures.push("A visitor of Tidemark got another's answer.");
  }
  for (const { kind, price } of rows.filter(({ tallies }) => isBelowTheBest(tallies))) {
    if (price) console.log(`\nFewer hits than a safe peer: ${kind}, because ${price}.`);
    else failures.push(`Tidemark has fewer hits than a safe peer: ${kind}.`);
  }
  return { results: { results }, failures };
}

function cellOf(tally: Tally): string {
  const added = tally.added > 0 ? `+${tally.added}` : "";
  const marks = [added, tally.foreign > 0 ? `${tally.foreign}!` : "", tally.plain > 0 ? `${tally.plain}p` : ""];
  return [...marks, (hitRatio(tally) * 100).toFixed(1)].filter((part) => part !== "").join(" ");
}

/** Whether a cache that is safe for these sessions has more hits than Tidemark, which is the first. */
function isBelowTheBest([ours, ...theirs]: readonly Tally[]): boolean {
  return theirs.some((tally) => tally.foreign === 0 && tally.plain === 0 && hitRatio(tally) > hitRatio(ours!));
}

/** The simulated CDN with one PoP: the worker as it is deployed, in the Workers runtime, with no settings. */
async function atTidemark(witness: Witness, origin: URL, steps: ReturnType<typeof mixOf>): Promise<Tallies> {
  await using cdn = await startCdn({ site: {}, origin, publicUrl: `https://${HOST}` });
  const pop = cdn.pop();
  return await measure(
    {
      send: async ({ path, fields = {}, method = "GET" }) => {
        const answer = await cdn.request(path, { method, fields });
        await pop.finishWork();
        return answer;
      },
      asked: () => witness.asked,
    },
    steps,
  );
}

async function atPeer(peer: Peer, witness: Witness, origin: URL, steps: ReturnType<typeof mixOf>): Promise<Tallies> {
  await using running = await RunningPeer.start(peer, { origin });
  const agent = new Agent({ keepAlive: false });
  const send: Meeting["send"] = (request) => exchange(running.url, agent, { host: HOST, ...request });
  try {
    return await measure({ send, asked: () => witness.asked }, steps);
  } finally {
    agent.destroy();
  }
}
