/**
 * How other caches do in the same cases, as Debian packages them and with only the origin's address configured: `node
 * test/visitors/meetings/peers.ts`. Cases that need site rules, which only Tidemark has, are left out.
 */
import { Agent } from "node:http";
import { versionOf } from "../../../bench/frame/programs.ts";
import { nginx } from "../../../bench/peers/nginx.ts";
import { type Peer, RunningPeer } from "../../../bench/peers/peer.ts";
import { varnish } from "../../../bench/peers/varnish.ts";
import type { ClientAnswer } from "../../engine/engine.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import type { ClientRequest } from "../../engine/scenario.ts";
import type { Case } from "../case.ts";
import { areas } from "../index.ts";
import { Witness } from "../witness.ts";
import { type Meet, testimony, truth, xCacheWithoutTrick } from "./meet.ts";

const peers: readonly Peer[] = [nginx(), varnish()];

/** How long a peer may take to answer. An answer that takes longer counts as none. */
const ANSWER_MS = 5000;
/** How long all cases of one peer may take. */
const PEER_MS = 300_000;

const agent = new Agent({ keepAlive: false });

/** A peer whose store is emptied for each meeting. */
function meetAt(peer: Peer, running: RunningPeer, witness: Witness): Meet {
  return async (_, answering) => {
    await running.empty();
    witness.answering = answering;
    witness.asked = 0;
    return {
      send: async (request) => {
        const answer = await answerInTime(running.url, request);
        const { "x-varnish": _, ...fields } = answer.fields;
        return {
          ...answer,
          fields: { ...fields, "x-cache": peer.isHit!((name) => answer.fields[name]) ? "HIT" : "MISS" },
        };
      },
      asked: () => witness.asked,
      stop: async () => undefined,
    };
  };
}

async function answerInTime(url: URL, request: ClientRequest): Promise<ClientAnswer> {
  const { promise: late, resolve } = Promise.withResolvers<ClientAnswer>();
  const timer = setTimeout(() => {
    unanswered++;
    resolve(NONE);
  }, ANSWER_MS);
  const answer = exchange(url, agent, request).catch(() => NONE);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

const NONE: ClientAnswer = { status: 0, fields: {}, body: "", cutOff: true };
let unanswered = 0;

/**
 * The case as far as it concerns harm to the second visitor. What the first visitor gets is no harm to others; only
 * Tidemark promises more.
 */
function harm(each: Case): Case {
  return each.witness === "first" ? { ...each, witness: "second" } : each;
}

const comparable = Object.entries(areas).map(([area, cases]) => ({
  area,
  cases: cases.filter(({ site }) => site === undefined).map(harm),
}));

/** A peer's cells of the table, one for each area. The names of the cases in which it fails go to `fallen`. */
async function cellsOf(peer: Peer, witness: Witness, origin: URL, fallen: string[]): Promise<string[]> {
  await using running = await RunningPeer.start(peer, { origin });
  const meet = meetAt(peer, running, witness);
  const startedAt = performance.now();
  const cells: string[] = [];
  for (const { cases } of comparable) {
    let right = 0;
    let hits = 0;
    for (const each of cases) {
      if (performance.now() - startedAt > PEER_MS) throw new Error(`${peer.name}: not done after ${PEER_MS} ms`);
      const [told, wanted] = [await testimony(each, meet), await truth(each, meet)];
      if (JSON.stringify(told) === JSON.stringify(wanted)) right++;
      else fallen.push(`- ${peer.name}: ${each.name}`);
      if ((await xCacheWithoutTrick(each, meet)) === "HIT") hits++;
    }
    cells.push(`${right} (${hits} hits)`);
  }
  return cells;
}

const witness = new Witness();
const origin = new URL(await witness.start());
const fallen: string[] = [];
const columns: string[][] = [];
try {
  for (const peer of peers) columns.push(await cellsOf(peer, witness, origin, fallen));
} finally {
  await witness.stop();
  agent.destroy();
}
console.log(["| bullet | cases |", ...peers.map((peer) => ` ${peer.name} ${versionOf(peer.needs!)} |`)].join(""));
console.log(`| --- | ---: |${" ---: |".repeat(peers.length)}`);
for (const [index, { area, cases }] of comparable.entries()) {
  console.log(`| ${area} | ${cases.length} | ${columns.map((cells) => cells[index]!).join(" | ")} |`);
}
console.log(`\n${fallen.join("\n")}`);
if (unanswered > 0) console.log(`\n${unanswered} requests had no answer within ${ANSWER_MS} ms.`);
