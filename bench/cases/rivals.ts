import { join } from "node:path";
import { BenchFailure } from "../frame/bench-failure.ts";
import { type Case, chosenBy, count, words } from "../frame/case.ts";
import { AB, GO, NGINX, WRK } from "../frame/programs.ts";
import { type Contestant, type Lane, laneOf, messageOf, printTurns, summarize, takeTurns } from "../frame/turns.ts";
import { makeCertificate } from "../inputs/certificate.ts";
import { type CertificateFiles, type Peer, RunningPeer } from "../peers/peer.ts";
import { commandOption, tidemark } from "../peers/tidemark.ts";
import { keepFolders } from "../processes/server-process.ts";
import { bareNode } from "../rivals/bare-node.ts";
import { caddy } from "../rivals/caddy.ts";
import { envoy } from "../rivals/envoy.ts";
import { type CountingOrigin, type Form, formsOf, type Origins, PAGE_SIZES } from "../rivals/forms.ts";
import { haproxy } from "../rivals/haproxy.ts";
import { getHey } from "../rivals/hey.ts";
import { type Entrant, type FormResult, figuresOf, REFERENCES, TIDEMARK } from "../rivals/measured.ts";
import { nginx } from "../rivals/nginx.ts";
import { pingora } from "../rivals/pingora.ts";
import type { Rival } from "../rivals/rival.ts";
import { SlowOrigin } from "../rivals/slow-origin.ts";
import { squid } from "../rivals/squid.ts";
import { StaticOrigin } from "../rivals/static-origin.ts";
import { vinyl } from "../rivals/vinyl.ts";

const RIVALS: readonly Rival[] = [nginx, haproxy, vinyl, squid, envoy, caddy, pingora, bareNode];
const WARM_UP_SECONDS = 2;

interface RivalsOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly workers: number;
  readonly files: number;
  readonly forms?: string;
  readonly servers?: string;
  readonly tidemark: string;
}

export const rivals: Case<RivalsOptions> = {
  name: "rivals",
  description: "`tidemark serve` beside today's caches, which it installs, each in its plain and its best setting.",
  options: [
    count("--rounds", "how many turns each server has in a form of load", 5),
    count("--seconds", "how long a turn takes", 3),
    count("--workers", "how many processes or threads each server may answer with", 2),
    count("--files", "how many files of 100 KB there are", 12_500),
    words("--forms", "only the forms whose name has one of these, separated by commas"),
    words("--servers", "only the servers whose name has one of these, separated by commas"),
    commandOption(),
  ],
  needs: [NGINX, WRK, AB], // the installed nginx is the origin
  uses: [GO],
  async measure(options) {
    using _kept = keepFolders();
    const servers = chosenBy<Pick<Rival, "name">>(options.servers, [{ name: TIDEMARK }, ...RIVALS]);
    const rivals = RIVALS.filter((rival) => servers.includes(rival)); // Tidemark is always measured
    const hey = await getHey().then(({ run: [program] }) => ({ program }), leftOut);
    await using pages = await StaticOrigin.start(PAGE_SIZES);
    await using slow = await SlowOrigin.start();
    const origins = { static: pages, slow };
    const tls = { certificate: join(pages.folder, "tls.crt"), key: join(pages.folder, "tls.key") };
    makeCertificate(tls.certificate, tls.key);
    const chosen = chosenBy(options.forms, formsOf(origins, { ...options, hey }));
    const { peers, entrants } = await gather(rivals, options.tidemark);
    const forms: FormResult[] = [];
    for (const form of chosen) {
      const lanes = form.leftOut === null ? await measureForm(form, peers, origins, tls, options) : [];
      const results = summarize(lanes, REFERENCES);
      if (form.leftOut === null) printTurns(form.name, results);
      else console.log(`\n${form.name}: LEFT OUT, because its client could not be installed: ${form.leftOut}`);
      forms.push({ form: form.name, leftOut: form.leftOut, servers: results.map(figuresOf) });
    }
    const failures = forms.flatMap(({ form, servers }) =>
      servers.flatMap(({ name, failure }) => (name === TIDEMARK && failure !== null ? [`${form}: ${failure}`] : [])),
    );
    return { results: { entrants, forms }, failures };
  },
};

/** Installs these rivals, and says which are available. */
async function gather(chosen: readonly Rival[], command: string): Promise<{ peers: Peer[]; entrants: Entrant[] }> {
  const peers: Peer[] = [{ ...tidemark(command), name: TIDEMARK }];
  const entrants: Entrant[] = [];
  for (const { name, get, settings } of chosen) {
    const program = await get().catch(messageOf);
    if (typeof program === "string") {
      console.log(`${name}: LEFT OUT, because it could not be installed: ${program}`);
      entrants.push({ name, version: null, leftOut: program });
      continue;
    }
    console.log(`${name} ${program.version}`);
    entrants.push({ name, version: program.version, leftOut: null });
    for (const [setting, peer] of Object.entries(settings)) {
      peers.push({ ...peer(program.run), name: `${name}, ${setting}`, needs: null });
    }
  }
  return { peers, entrants };
}

function leftOut(cause: unknown): { readonly leftOut: string } {
  return { leftOut: messageOf(cause) };
}

/** Starts all servers in front of an origin, checks their answers, and measures them in turn. */
async function measureForm(
  form: Form,
  peers: readonly Peer[],
  origins: Origins,
  certificate: CertificateFiles,
  { rounds, workers }: RivalsOptions,
): Promise<readonly Lane[]> {
  const origin: CountingOrigin = origins[form.origin];
  const tls = form.overTls ? certificate : null;
  await using stack = new AsyncDisposableStack();
  const lanes: Lane[] = [];
  for (const peer of peers) {
    const started =
      tls === null || peer.speaksTls
        ? await startVerified(peer, form, {
            origin: origin.url,
            workers,
            tls,
            storeMegabytes: form.storeMegabytes,
          }).catch(messageOf)
        : "It speaks no TLS.";
    if (typeof started !== "string") stack.use(started);
    lanes.push(
      typeof started === "string"
        ? { name: peer.name, contestant: null, turns: [], failure: started }
        : laneOf(contestantOf(started, form, origin)),
    );
  }
  await takeTurns(lanes, { rounds, warmUpSeconds: WARM_UP_SECONDS });
  return lanes;
}

async function startVerified(peer: Peer, form: Form, site: Parameters<Peer["commandLine"]>[0]): Promise<RunningPeer> {
  const running = await RunningPeer.start(peer, site);
  try {
    await form.verify(running);
    return running;
  } catch (cause) {
    await running[Symbol.asyncDispose]();
    throw cause;
  }
}

function contestantOf({ peer, server, url }: RunningPeer, form: Form, origin: CountingOrigin): Contestant {
  return {
    name: peer.name,
    pid: () => server.pid,
    load: async (turn) => {
      const load = await form.load(url, turn);
      if (server.hasEnded) throw new BenchFailure(`It ended under load: ${server.lastOutput}`);
      return load;
    },
    originRequests: () => origin.requests(),
    missShare: peer.storesApart ? null : form.missShare,
  };
}
