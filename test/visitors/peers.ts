/**
 * How other caches do in the same cases, as Debian packages them and with only the origin's address configured: `node
 * test/visitors/peers.ts`. Cases that need site rules, which only Tidemark has, are left out.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "../dev/dev-process.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime-engine.ts";
import { HOST } from "../engine/scenario.ts";
import type { Case } from "./case.ts";
import { areas } from "./index.ts";
import { type Meet, testimony, truth, xCacheWithoutTrick } from "./meet.ts";
import { Witness } from "./witness.ts";

interface Peer {
  readonly name: string;
  readonly command: (port: number, origin: URL, folder: string) => Promise<readonly [string, ...string[]]>;
  /** Whether an answer came from store. */
  readonly isHit: (fields: ClientAnswer["fields"]) => boolean;
}

const peers: readonly Peer[] = [
  {
    name: "nginx",
    command: async (port, origin, folder) => {
      const path = join(folder, "nginx.conf");
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      await writeFile(
        path,
        `daemon off; user root; worker_processes 1; pid ${folder}/pid; error_log /dev/null; events {}
        http { access_log off; ${temporary.join(" ")} proxy_cache_path ${folder}/cache keys_zone=pages:10m;
          server { listen 127.0.0.1:${port}; add_header X-Cache $upstream_cache_status always;
            location / { proxy_pass ${origin.origin}; proxy_cache pages; } } }`,
      );
      return ["nginx", "-c", path, "-e", "/dev/null"];
    },
    isHit: (fields) => fields["x-cache"] === "HIT",
  },
  {
    name: "varnish",
    command: async (port, origin, folder) => [
      "varnishd",
      ...[
        "-F",
        "-a",
        `127.0.0.1:${port}`,
        "-b",
        `127.0.0.1:${origin.port}`,
        "-n",
        join(folder, "work"),
        "-s",
        "malloc,64m",
      ],
    ],
    isHit: (fields) => /^\d+ \d+$/.test(fields["x-varnish"] ?? ""),
  },
];

const agent = new Agent({ keepAlive: false });

/** A peer that is started anew, with nothing stored, for each meeting. */
function meetAt(peer: Peer, witness: Witness, origin: URL): Meet {
  return async (_, answering) => {
    const folder = await mkdtemp(join(tmpdir(), `${peer.name}-`));
    await chmod(folder, 0o755); // a worker that runs as another user has its files there
    const port = await freePorts(1);
    const [command, ...args] = await peer.command(port, origin, folder);
    const process = spawn(command, args, { stdio: "ignore" });
    const ended = once(process, "exit");
    await listening(port, process);
    witness.answering = answering;
    witness.asked = 0;
    return {
      send: async (request) => {
        const answer = await exchange(new URL(`http://127.0.0.1:${port}`), agent, { host: HOST, ...request }).catch(
          hungUp,
        );
        const { "x-varnish": _, ...fields } = answer.fields;
        return { ...answer, fields: { ...fields, "x-cache": peer.isHit(answer.fields) ? "HIT" : "MISS" } };
      },
      asked: () => witness.asked,
      stop: async () => {
        process.kill();
        await ended;
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  };
}

function hungUp(): ClientAnswer {
  return { status: 0, fields: {}, body: "", cutOff: true };
}

/** Resolves once a server accepts connections. */
async function listening(port: number, process: ChildProcess): Promise<void> {
  for (;;) {
    if (process.exitCode !== null) throw new Error(`${process.spawnfile} does not start`);
    const socket = connect(port, "127.0.0.1");
    const isThere = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 10)); // a server does not announce that it listens
  }
}

/**
 * The case as far as it concerns harm to the second visitor. What the first visitor gets is no harm to others; only
 * Tidemark promises more.
 */
function harm(each: Case): Case {
  return each.witness === "first" ? { ...each, witness: "second" } : each;
}

const witness = new Witness();
const origin = new URL(await witness.start());
const rows: string[][] = [];
const fallen: string[] = [];
for (const [area, cases] of Object.entries(areas)) {
  const comparable = cases.filter(({ site }) => site === undefined).map(harm);
  const cells: string[] = [];
  for (const peer of peers) {
    const meet = meetAt(peer, witness, origin);
    let right = 0;
    let hits = 0;
    for (const each of comparable) {
      const [told, wanted] = [await testimony(each, meet), await truth(each, meet)];
      if (JSON.stringify(told) === JSON.stringify(wanted)) right++;
      else fallen.push(`- ${peer.name}: ${each.name}`);
      if ((await xCacheWithoutTrick(each, meet)) === "HIT") hits++;
    }
    cells.push(`${right} (${hits} hits)`);
  }
  rows.push([area, String(comparable.length), ...cells]);
}
await witness.stop();
agent.destroy();
console.log(["| bullet | cases |", ...peers.map(({ name }) => ` ${name} |`)].join(""));
console.log(`| --- | ---: |${" ---: |".repeat(peers.length)}`);
for (const row of rows) console.log(`| ${row.join(" | ")} |`);
console.log(`\n${fallen.join("\n")}`);
