import { once } from "node:events";
import { chmodSync, existsSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net, { type AddressInfo, createServer, type Server } from "node:net";
import { constants, platform } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type HeldSocket,
  ListenError,
  openSockets,
  overlap,
  whyNotOpened,
} from "../../../server/supervisor/listening-sockets.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { freePort } from "../../suite/free-ports.ts";

/** The call that binds a socket. If it cannot, the name of the socket shows that. */
const binding = net as unknown as { _createServerHandle: (...args: unknown[]) => unknown };
const bind = binding._createServerHandle;

let worker: Server;
let port: number;
let scheduler: Scheduler;

/** A worker of an earlier supervisor has the port. */
beforeEach(async () => {
  worker = createServer().listen(0, "127.0.0.1");
  await once(worker, "listening");
  port = (worker.address() as AddressInfo).port;
  scheduler = new Scheduler(1, 0);
});
afterEach(() => {
  binding._createServerHandle = bind;
  syncBuiltinESMExports();
  worker.close();
});

/** Calls back whenever the port cannot be had. */
function onceInUse(then: (times: number) => void): void {
  let times = 0;
  binding._createServerHandle = (...args) => {
    const handle = bind(...args) as { getsockname(into: object): number };
    if (handle.getsockname({}) !== 0) then(++times);
    return handle;
  };
  syncBuiltinESMExports();
}

async function open(isLastOneEnding: () => boolean): Promise<HeldSocket[]> {
  const opened = openSockets([{ host: "127.0.0.1", port }], scheduler, isLastOneEnding);
  opened.catch(() => undefined); // it is for the caller
  await scheduler.advance(20_000);
  return opened;
}

test("every address is every IPv4 address where the machine has no IPv6", async () => {
  binding._createServerHandle = (...args) => (args[2] === 6 ? -constants.errno.EAFNOSUPPORT : bind(...args));
  syncBuiltinESMExports();
  const [socket, ...others] = await openSockets([{ host: "::", port: 0 }], scheduler, () => false);
  expect([socket!.address, others]).toEqual([expect.stringMatching(/^0\.0\.0\.0:\d+$/), []]);
  socket!.close();
});

describe.skipIf(platform() !== "linux")(
  "two addresses with one port overlap where the system lets only one listen:",
  () => {
    const spellings = ["0:0:0:0:0:0:0:0", "0::1", "::FFFF:7f00:1"];
    const hosts = ["::", "0.0.0.0", "::1", "127.0.0.1", "127.0.0.2", "localhost", ...spellings];
    const pairs = hosts.flatMap((one, at) => hosts.slice(at).map((other) => [one, other] as const));

    test.each(pairs)("%s and %s", async (...pair) => {
      const free = await freePort();
      const addresses = pair.map((host) => ({ host, port: free }));
      const sockets = await openSockets(addresses, scheduler, () => false);
      const errors = sockets.map(({ handle }) => (handle as unknown as { listen(backlog: number): number }).listen(1));
      for (const socket of sockets) socket.close();
      expect(await overlap(addresses)).toEqual(errors.some((error) => error !== 0) ? addresses : null);
    });

    test("and not those for which the system chooses ports", async () => {
      const any = { host: "127.0.0.1", port: 0 };
      expect(await overlap([any, any])).toBe(null);
    });
  },
);

test("a Unix socket may have the longest path that is named to those who chose a longer one", async () => {
  const folder = mkdtempSync("/tmp/tidemark-");
  const path = `${folder}/`.padEnd(99, "a");
  const [socket] = await openSockets([{ path }], scheduler, () => false);
  expect(lstatSync(path).isSocket()).toBe(true);
  socket!.close();
  rmSync(folder, { recursive: true });
});

test("a Unix socket is removed by the server that opened it, unless another one was opened in its place", async () => {
  const folder = mkdtempSync("/tmp/tidemark-");
  const path = `${folder}/edge.sock`;
  const open = async () => (await openSockets([{ path }], scheduler, () => false))[0]!;
  const first = await open();
  rmSync(path); // by a script that cleans up, say
  const second = await open();
  first.close();
  expect(lstatSync(path).isSocket()).toBe(true);
  second.close();
  expect(existsSync(path)).toBe(false);
  rmSync(folder, { recursive: true });
});

describe("a Unix socket is refused in words", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = mkdtempSync("/tmp/tidemark-");
    path = `${folder}/edge.sock`;
    const [socket] = await openSockets([{ path }], scheduler, () => false);
    socket!.leave(); // as one whose process has died
    chmodSync(folder, 0o755);
  });
  afterEach(() => {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
  });

  async function asOtherUser<Result>(action: () => Promise<Result>): Promise<Result> {
    const isRoot = process.getuid!() === 0; // root may do everything
    if (isRoot) process.seteuid!(65_534);
    try {
      return await action();
    } finally {
      if (isRoot) process.seteuid!(0);
    }
  }

  const refusal = async () => {
    const refused = await asOtherUser(() => openSockets([{ path }], scheduler, () => false).catch((error) => error));
    expect(refused).toBeInstanceOf(ListenError);
    return (refused as ListenError).message;
  };
  const ofOther = () =>
    `Cannot listen on ${path}: this user may not use the socket that is there; delete it if nobody listens on it, or ` +
    "choose another address with --listen.";

  test("if this user may not delete one that is left", async () => {
    chmodSync(folder, 0o555);
    expect(await refusal()).toBe(`Cannot listen on ${path}: this user may not write in its folder.`);
  });

  test.skipIf(process.getuid!() !== 0)("if only its owner may delete one that is left", async () => {
    chmodSync(folder, 0o1777);
    expect(await refusal()).toBe(ofOther());
  });

  test("if this user may not connect to one that is there, which the server's own user perhaps may", async () => {
    chmodSync(path, 0);
    expect(await refusal()).toBe(ofOther());
    expect(await asOtherUser(() => whyNotOpened([{ path }]))).toEqual([ofOther()]);
  });

  test("if this user may not enter its folder", async () => {
    chmodSync(folder, 0);
    expect(await refusal()).toBe(`Cannot listen on ${path}: this user may not write in its folder.`);
  });
});

test("a socket is had although the last process that had it ended just after the first attempt", async () => {
  onceInUse(() => worker.close());
  const [socket] = await open(() => worker.listening);
  expect(socket!.address).toBe(`127.0.0.1:${port}`);
  socket!.close();
});

test("a socket is had although the last process that had it let go of its lock before", async () => {
  let holdsLock = true;
  onceInUse((times) => {
    holdsLock = false;
    if (times === 2) worker.close();
  });
  const [socket] = await open(() => holdsLock);
  socket!.close();
});

test.each([false, true])(
  "a socket that nobody leaves is refused, also if they seem to be ending: %s",
  async (seems) => {
    await expect(open(() => seems)).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: another process is listening there.`,
    );
  },
);
