import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { unitFile } from "../../../../cli/init/server-files.ts";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { READY, tellServiceManager } from "../../../../server/startup/service-manager.ts";
import { type HeldSocket, openSockets } from "../../../../server/supervisor/listening-sockets.ts";
import { systemClock } from "../../../../server/system-clock.ts";
import { inGate } from "../../../suite/depth.ts";
import { until } from "../../../suite/until.ts";
import { makeCertificate } from "../../connections/make-certificate.ts";
import { isAlive } from "../../supervisor/is-alive.ts";
import { MAIN } from "../running-server.ts";

const UNITS = "docs/examples/server";
const has = (tool: string) => spawnSync(tool, ["--version"]).error === undefined;
const hasAnalyze = has("systemd-analyze");
const UNITS_NOT_RUN = "the systemd units are SKIPPED, because this machine has no systemd-analyze";
if (!hasAnalyze) process.stdout.write(`${UNITS_NOT_RUN}\n`);
const hasNotify = has("systemd-notify") && has("python3");
const NOTIFY_NOT_RUN = "Type=notify is SKIPPED, because this machine has no systemd-notify, or no python3";
if (!hasNotify) process.stdout.write(`${NOTIFY_NOT_RUN}\n`);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each([
  ["docs/examples/server/tidemark.service", readFileSync(join(UNITS, "tidemark.service"), "utf8")],
  ["docs/examples/server/without-socket.service", readFileSync(join(UNITS, "without-socket.service"), "utf8")],
  ["the unit of init --server", unitFile({ folder: "/opt/site", node: "/usr/bin/node", host: "www.example.com" })],
])("%s", (_, unit) => {
  test("lets systemd wait at a stop for a main process that it has not started, as after an upgrade", () => {
    // By KillMode=mixed it does not: with that line, the test of the Debian package has its answers cut.
    expect(unit).not.toMatch(/^KillMode=/m);
  });

  test("goes on when the kernel ends a worker because memory ran out (systemd.service(5))", () => {
    expect(unit).toMatch(/^OOMPolicy=continue$/m);
  });
});

test("a server that cannot tell systemd its state, because the command is missing, says so and serves", async () => {
  const warned = Promise.withResolvers<string>();
  tellServiceManager({ NOTIFY_SOCKET: join(folder, "notify"), PATH: folder }, READY, warned.resolve);
  expect(await warned.promise).toMatch(/^systemd cannot be told the state of this service: .*ENOENT/);
});

describe.skipIf(!hasAnalyze)(hasAnalyze ? "docs/examples/server/tidemark.service" : UNITS_NOT_RUN, () => {
  /** Reads no units of this machine, whose mistakes it would tell as well. */
  const analyze = (...args: readonly string[]) => {
    const env = { ...process.env, SYSTEMD_UNIT_PATH: join(folder, "units") };
    const { status, stdout, stderr } = spawnSync("systemd-analyze", [...args], { encoding: "utf8", env });
    return { status, said: stdout + stderr };
  };
  /** The units, with programs that this machine has, and the one of systemd that each service requires. */
  const units = (change: (text: string) => string = (text) => text) => {
    const copies = join(folder, "units");
    cpSync(UNITS, copies, { recursive: true });
    const service = join(copies, "tidemark.service");
    writeFileSync(service, change(readFileSync(service, "utf8").replace("/usr/bin/node", process.execPath)));
    const dropIns = join(copies, "tidemark.service.d");
    mkdirSync(dropIns, { recursive: true });
    const tls = readFileSync(join(UNITS, "tls.conf"), "utf8").replace("/usr/bin/node", process.execPath);
    writeFileSync(join(dropIns, "tls.conf"), change(tls));
    writeFileSync(join(copies, "sysinit.target"), "[Unit]\n"); // an empty file would mask it
    return [service, join(copies, "tidemark.socket"), join(copies, "tidemark-https.socket")] as const;
  };

  test("is valid with its socket, and a misspelt setting or unit would show", () => {
    expect(analyze("verify", ...units())).toEqual({ status: 0, said: "" });
    expect(analyze("verify", ...units((text) => text.replace("ProtectClock", "ProtectClocks"))).said).toContain(
      "'ProtectClocks'",
    );
    expect(analyze("verify", ...units((text) => text.replace("LoadCredential", "LoadCredentials"))).said).toContain(
      "'LoadCredentials'",
    );
    expect(analyze("verify", ...units((text) => text.replace("=tidemark.socket", "=tidemarks.socket"))).said).toContain(
      "tidemarks.socket not found",
    );
  });

  test("is valid without a socket unit as well", () => {
    units();
    const alone = join(folder, "units", "without-socket.service");
    writeFileSync(alone, readFileSync(alone, "utf8").replace("/usr/bin/node", process.execPath));
    expect(analyze("verify", alone)).toEqual({ status: 0, said: "" });
  });

  test("is exposed to at most 1.5 of 10, as systemd counts", () => {
    const exposure = (...change: [] | [(text: string) => string]) =>
      analyze("security", "--offline=true", "--threshold=15", units(...change)[0]);
    expect(exposure().status).toBe(0);
    expect(exposure((text) => text.replace("CapabilityBoundingSet=\n", "")).status).not.toBe(0);
  });
});

test.each([
  "docs/server.md",
  "docs/operations.md",
  "docs/examples/server/tidemark.service",
  "docs/examples/server/logrotate",
  "cli/init/server-files.ts",
])("%s signals the main process by an option that systemctl had before systemd 252", (file) => {
  const options = readFileSync(file, "utf8").match(/--kill-\w+=\w+/g);
  expect(new Set(options)).toEqual(new Set(["--kill-who=main"]));
});

describe("sockets of systemd", { timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let socket: HeldSocket;
  let running: { readonly child: ChildProcess; printed(): string } | null = null;

  beforeAll(async () => {
    await origin.comeUp();
    origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: "page" });
  });
  afterAll(() => origin.goDown());
  afterEach(() => {
    socket.close();
    running?.child.kill(); // that of a test which has failed
  });

  /** The server as systemd starts it: with the socket as descriptor 3, and its own id in LISTEN_PID. */
  function start(pid = "$$", environment: Readonly<Record<string, string>> = {}, ...args: readonly string[]) {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const command = `LISTEN_PID=${pid} LISTEN_FDS=1 exec "$0" "$@"`;
    const serve = [MAIN, "serve", "--origin", origin.url, "--workers", "1", "--cache", join(folder, "cache")];
    const { fd } = socket.handle as unknown as { fd: number };
    const child = spawn("sh", ["-c", command, process.execPath, ...serve, ...args], {
      cwd: folder, // without settings
      env: {
        ...{ PATH, NODE_COMPILE_CACHE, NO_COLOR: "1", TIDEMARK_HOSTS: "*", LISTEN_FDNAMES: "tidemark.socket" },
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe", fd],
    });
    let printed = "";
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        child.emit("printed");
      });
    }
    running = { child, printed: () => printed };
    return running;
  }
  async function prints(text: RegExp): Promise<RegExpExecArray> {
    const { child, printed } = running!;
    const closed = once(child, "close").then(() => {
      throw new Error(`the server ended: ${printed()}`);
    });
    closed.catch(() => undefined);
    while (!text.test(printed())) await Promise.race([once(child, "printed"), closed]);
    return text.exec(printed())!;
  }
  async function stop(pid = running!.child.pid!): Promise<void> {
    const closed = once(running!.child, "close");
    process.kill(pid, "SIGTERM");
    await closed;
  }
  async function ask(): Promise<string> {
    const [, host, port] = /^(.*):(\d+)$/.exec(socket.address) ?? [];
    const where = host === undefined ? { socketPath: socket.address } : { host, port: Number(port) };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    get({ ...where, path: "/page", agent: false }, (response) => {
      response.setEncoding("utf8").on("data", resolve);
    }).on("error", reject);
    return promise;
  }

  describe.each([
    { kind: "TCP", tags: ["deep"], address: () => ({ host: "127.0.0.1", port: 0 }) },
    { kind: "Unix", tags: [], address: () => ({ path: join(folder, "edge.sock") }) },
  ])("($kind)", ({ tags, address }) =>
    test("are used, outlive the server, and hold connections while it is started again", { tags }, async () => {
      [socket] = (await openSockets([address()], systemClock, () => false)) as [HeldSocket];
      start();
      // The kernel knows a Unix socket by the name under which it was bound.
      expect(
        (await prints(/listening on (.*) with 1 workers \(tidemark \d+\.\d+\.\d+\)/))[1]!.replace(/\.new$/, ""),
      ).toBe(socket.address);
      expect(await ask()).toBe("page");
      await stop();
      const waiting = ask(); // connected, and accepted by nobody yet
      start();
      expect(await waiting).toBe("page");
      await prints(/serves/);
      process.kill(running!.child.pid!, "SIGUSR2");
      const [, pid] = await prints(/process (\d+) has taken over/);
      expect(await ask()).toBe("page");
      await stop(Number(pid));
    }),
  );

  test("speak TLS by their name, as that of the example", { tags: ["deep"] }, async () => {
    [socket] = (await openSockets([{ host: "127.0.0.1", port: 0 }], systemClock, () => false)) as [HeldSocket];
    const { chain, key } = makeCertificate(["localhost"]);
    // As systemd hands over credentials: readable for their user alone, in a folder that nobody writes to.
    const credentials = join(folder, "credentials");
    mkdirSync(credentials);
    for (const [name, text] of [
      ["www.crt", chain],
      ["www.key", key],
    ] as const) {
      writeFileSync(join(credentials, name), text, { mode: 0o400 });
    }
    const [, name] = /^FileDescriptorName=(.*)$/m.exec(readFileSync(join(UNITS, "tidemark-https.socket"), "utf8"))!;
    const [, place] = /--tls-folder (\S+)/.exec(readFileSync(join(UNITS, "tls.conf"), "utf8"))!;
    const expanded = place!.replace(/\$\{CREDENTIALS_DIRECTORY\}/, credentials); // %d is unknown to systemd before 250
    start("$$", { LISTEN_FDNAMES: name! }, "--tls-folder", expanded);
    await prints(/serves https:/);
    const [, port] = /:(\d+)$/.exec(socket.address)!;
    const sent = httpsRequest({
      host: "127.0.0.1",
      port,
      path: "/page",
      rejectUnauthorized: false,
      agent: false,
    }).end();
    const [response] = await once(sent, "response");
    expect((await once(response.setEncoding("utf8"), "data"))[0]).toBe("page");
    await stop();
  });

  test("that are for another process are not used, and that is said", { tags: ["deep"] }, async () => {
    [socket] = (await openSockets([{ host: "127.0.0.1", port: 0 }], systemClock, () => false)) as [HeldSocket];
    start("1", {}, "--listen", "127.0.0.1:0");
    await prints(
      /systemd passed its sockets to process 1, but this is process \d+: let the unit start node itself, not npx/,
    );
    expect((await prints(/listening on (.*) with/))[1]).not.toBe(socket.address);
    await stop();
  });

  test("with TLS cannot be Unix sockets", async () => {
    [socket] = (await openSockets([{ path: join(folder, "tls.sock") }], systemClock, () => false)) as [HeldSocket];
    const { child, printed } = start("$$", { LISTEN_FDNAMES: "https" });
    expect(await once(child, "close")).toEqual([2, null]);
    expect(printed()).toMatch(
      /TLS is not supported on unix sockets, and systemd names its socket .*tls\.sock.* "https"/,
    );
  });

  test.each(
    inGate(1, [
      ["that are ordered", ["--acme", "you@example.com"]],
      ["in files", ["--tls-folder", "."]],
    ]),
  )("without TLS among them are refused for certificates %s", async (_, options) => {
    [socket] = (await openSockets([{ path: join(folder, "plain.sock") }], systemClock, () => false)) as [HeldSocket];
    const { child, printed } = start("$$", {}, ...options, "--hosts", "www.example.com");
    expect(await once(child, "close")).toEqual([2, null]);
    expect(printed()).toContain("there is no address with TLS. Name one: --listen-tls '*:443'");
  });

  test.skipIf(!hasNotify)(
    hasNotify ? "systemd is told when the server answers, after an upgrade by whom, and when it stops" : NOTIFY_NOT_RUN,
    { tags: ["deep"] },
    async () => {
      [socket] = (await openSockets([{ host: "127.0.0.1", port: 0 }], systemClock, () => false)) as [HeldSocket];
      const path = join(folder, "notify");
      const receive = `import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(${JSON.stringify(path)})
print("bound", flush=True)
while True: print(s.recv(4096).decode(), flush=True)`;
      const manager = spawn("python3", ["-c", receive], { stdio: ["ignore", "pipe", "inherit"] });
      let told = "";
      manager.stdout.setEncoding("utf8").on("data", (text: string) => {
        told += text;
        manager.emit("told");
      });
      const isTold = async (text: string) => {
        while (!told.includes(text)) await once(manager, "told");
      };
      await isTold("bound");
      start("$$", { NOTIFY_SOCKET: path });
      await isTold(`MAINPID=${running!.child.pid}`);
      expect(told).toContain("READY=1");
      await prints(/serves/);
      process.kill(running!.child.pid!, "SIGUSR2");
      const [, pid] = await prints(/process (\d+) has taken over/);
      await isTold(`MAINPID=${pid}`);
      await stop(Number(pid));
      await isTold("STOPPING=1");
      manager.kill();
      await once(manager, "close");
    },
  );

  test("systemd knows the main process after an upgrade before the old one ends, however slow its command is", {
    tags: ["deep"],
  }, async () => {
    [socket] = (await openSockets([{ host: "127.0.0.1", port: 0 }], systemClock, () => false)) as [HeldSocket];
    const place = (name: string) => join(folder, "slow", name);
    mkdirSync(place("."));
    const command = `#!/bin/sh
while [ -e ${place("hold")} ]; do sleep 0.02; done
[ ! -e ${place("slow")} ] || sleep 1.2
kill -0 $PPID || set -- "$@" "(too late)"
echo "$@" >> ${place("told")}
`;
    writeFileSync(place("systemd-notify"), command, { mode: 0o755 });
    const told = () => (existsSync(place("told")) ? readFileSync(place("told"), "utf8") : "");
    start("$$", { NOTIFY_SOCKET: place("nobody"), PATH: `${place(".")}:${process.env.PATH}` });
    const first = running!.child;
    await until(() => told().includes(`MAINPID=${first.pid}`));
    await prints(/serves/);
    for (const name of ["hold", "slow"]) writeFileSync(place(name), "");
    onTestFinished(() => rmSync(place("hold"), { force: true }));
    process.kill(first.pid!, "SIGUSR2");
    const [, second] = await prints(/process (\d+) has taken over/);
    // This begins only when the first server has nothing left to do.
    process.kill(Number(second), "SIGUSR2");
    const [, third] = await prints(/process \d+ has taken over.*process (\d+) has taken over/s);
    const [wasAlive, toldBefore] = [isAlive(first.pid!), told()];
    rmSync(place("hold"));
    await stop(Number(third));
    expect([wasAlive, first.exitCode]).toEqual([true, 0]);
    expect(toldBefore).not.toContain(`MAINPID=${second}`);
    expect(told()).toMatch(new RegExp(`^MAINPID=${second}$`, "m"));
  });
});
