import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { SmallDisk } from "../../test/suite/small-disk.ts";
import { kill } from "../processes/process-tree.ts";
import { WalkLoad } from "./walk-load.ts";
import type { WalkOrigin } from "./walk-origin.ts";
import { WalkedServer } from "./walked-server.ts";

/** What the operator does, and what is seen then, in a few words. */
export interface WalkStep {
  readonly name: string;
  take(server: WalkedServer, origin: WalkOrigin): Promise<string>;
}

const RELOADS = 5;
const UPGRADES = 3;
const SLOW_CLIENTS = 30;
const NEW_PAGES = 20;
/** Who come first: as many paths without an answer show all workers that the origin is down. */
const OTHERS = 3;
const CANNOT = "cannot";

const ms = (time: number) => (time < 10 ? `${time.toFixed(1)} ms` : `${Math.round(time)} ms`);

/** The steps in their order: each finds the server as the last one has left it. */
export const WALK: readonly WalkStep[] = [
  {
    name: "start: until the first answer",
    take: async (server) => {
      server.killAll();
      await gone(server);
      return ms(await server.run());
    },
  },
  { name: "TLS, and HTTP/2 in it", take: tlsOf },
  {
    name: "second visit of a page",
    take: async (server) => {
      await server.ask("/page");
      return (await server.ask("/page")).xCache;
    },
  },
  {
    name: "a reload with a mistake in the config",
    take: async (server) => {
      await server.program.configure(server.place, false);
      const said = await server.says(/emerg|not an address|origin/i, () => server.reload());
      const { status } = await server.ask("/page");
      await server.program.configure(server.place, true);
      return `${status === 200 ? "goes on" : `answers ${status}`}: ${said.replace(/^.*?(?=unknown|origin)/, "").slice(0, 60)}`;
    },
  },
  {
    name: "a purge of one page: until nobody gets the old one",
    take: async (server) => {
      if (!server.program.purge) return CANNOT;
      const before = await server.ask("/page");
      const startedAt = performance.now();
      await server.program.purge(new URL("/page", server.url));
      const time = performance.now() - startedAt;
      const after = await server.ask("/page");
      return before.body === after.body ? "the old page came again" : ms(time);
    },
  },
  {
    name: `${RELOADS} reloads under load`,
    take: (server) => underLoad(server, RELOADS, async () => server.reload()),
  },
  {
    name: `${UPGRADES} upgrades under load`,
    take: (server) => underLoad(server, UPGRADES, () => server.upgrade()),
  },
  {
    name: "a worker is killed under load",
    take: (server) => underLoad(server, 1, async () => kill(server.workers.at(-1)!)),
  },
  {
    name: "all is killed and started: time, pages kept",
    take: async (server) => {
      await server.ask("/kept");
      await server.ask("/kept");
      await wait(3_000); // Both write files behind the answer.
      server.killAll();
      await gone(server);
      const time = await server.run();
      await wait(1_000); // Both look through their files first.
      return `${ms(time)}, ${(await server.ask("/kept")).xCache}`;
    },
  },
  { name: "the disk is full", take: fullDisk },
  {
    name: "the origin refuses: an old page, a new one",
    take: (server, origin) => withoutOrigin(server, origin, "refuses"),
  },
  {
    name: `the origin hangs: an old page, a new one, after ${OTHERS} others`,
    take: (server, origin) => withoutOrigin(server, origin, "hangs"),
  },
  { name: `${SLOW_CLIENTS} clients send a body slowly: of them at the origin`, take: slowClients },
];

async function gone(server: WalkedServer): Promise<void> {
  while (
    await server.ask("/page").then(
      () => true,
      () => false,
    )
  )
    await wait(10);
}

async function tlsOf({ place }: WalkedServer): Promise<string> {
  const session = connectHttp2(`https://127.0.0.1:${place.tlsPort}`, { rejectUnauthorized: false });
  await once(session, "connect");
  const socket = session.socket as TLSSocket;
  const seen = `${socket.getProtocol()}, ${socket.alpnProtocol}`;
  session.destroy();
  return seen;
}

async function underLoad(server: WalkedServer, times: number, act: () => Promise<void>): Promise<string> {
  await server.ask("/page");
  const load = new WalkLoad(server);
  for (let each = 0; each < times; each++) {
    await wait(500);
    await act();
  }
  await wait(1_000);
  return load.end();
}

async function fullDisk({ program }: WalkedServer, origin: WalkOrigin): Promise<string> {
  const disk = new SmallDisk(`/tmp/tidemark-walk-disk-${process.pid}`, "48m", "777");
  if (!disk.isMounted) return "not tried: this user may not mount a disk";
  try {
    await using server = await WalkedServer.start(program, origin.url, disk.path);
    await server.ask("/page");
    disk.fill();
    const visits = [];
    for (let each = 0; each < 2 * NEW_PAGES; each++) {
      visits.push(await server.ask(`/full/${each % NEW_PAGES}`).catch(() => null));
    }
    const answered = visits.filter((each) => each?.status === 200).length;
    const hits = visits.filter((each) => each?.xCache === "HIT").length;
    return `of ${visits.length} visits of ${NEW_PAGES} pages, ${answered} answered, ${hits} hits`;
  } finally {
    disk.unmount();
  }
}

async function withoutOrigin(server: WalkedServer, origin: WalkOrigin, mood: "refuses" | "hangs"): Promise<string> {
  const path = `/short/${mood}`;
  await server.ask(path);
  await wait(2_500); // It is fresh for a second, and nginx counts whole ones.
  await origin.turn(mood);
  try {
    await Promise.all([...Array(OTHERS).keys()].map((each) => server.ask(`/${mood}/${each}`)));
    const old = await server.ask(path);
    const young = await server.ask(`/${mood}/new`);
    return `${old.xCache} in ${ms(old.ms)}, ${young.status} in ${ms(young.ms)}`;
  } finally {
    await origin.turn("answers");
    await wait(1_500); // Until it has been found out that it is back.
  }
}

async function slowClients(server: WalkedServer, origin: WalkOrigin): Promise<string> {
  const clients: Socket[] = [];
  for (let each = 0; each < SLOW_CLIENTS; each++) {
    const socket = connect(server.place.port, "127.0.0.1").on("error", () => undefined);
    socket.write("POST /slow HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\na");
    clients.push(socket);
  }
  await wait(1_000);
  const held = origin.underWay;
  for (const client of clients) client.destroy();
  return `${held} of ${SLOW_CLIENTS}`;
}
