import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { byDepth } from "../../suite/depth.ts";
import { freePorts } from "../../suite/free-ports.ts";
import { until } from "../../suite/until.ts";
import { makeCertificate } from "../connections/make-certificate.ts";

const MODULE = "github.com/letsencrypt/pebble/v2";
const VERSION = "v2.10.1";
const PROGRAMS = ["pebble", "pebble-challtestsrv"];
/** Kept between runs, because to build it takes longer than the tests. */
const BUILT = resolve(`node_modules/.cache/pebble-${VERSION}`);
/** Where Debian's package has an older version, which is enough for the gate and needs a minute less. */
const DEBIANS = "/usr/bin";

/** Words of Go without a network, or without a module proxy. */
const NO_NETWORK = /dial tcp|no such host|i\/o timeout|connection refused|proxyconnect|TLS handshake timeout/;

const isIn = (folder: string) => PROGRAMS.every((program) => existsSync(join(folder, program)));
const FOLDER = byDepth({ test: isIn(DEBIANS), gate: isIn(DEBIANS), all: false }) ? DEBIANS : BUILT;

/** Why Pebble cannot run here; `null` if it can. Builds it the first time. Rejects if that fails for another reason. */
export async function whyNoPebble(): Promise<string | null> {
  if (isIn(FOLDER)) return null;
  if (spawnSync("go", ["version"]).status !== 0) return "this machine has no Go to build Pebble";
  // Made elsewhere and moved when it is complete, so that an interrupted run leaves nothing that looks complete.
  const unfinished = `${BUILT}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const env = { ...process.env, GOBIN: unfinished, GOFLAGS: "-buildvcs=false" };
    await promisify(execFile)("go", ["install", ...PROGRAMS.map((name) => `${MODULE}/cmd/${name}@${VERSION}`)], {
      env,
    });
    if (!existsSync(BUILT)) renameSync(unfinished, BUILT);
    return null;
  } catch (cause) {
    const { stderr = "" } = cause as { readonly stderr?: string };
    if (NO_NETWORK.test(stderr)) return "the modules of Pebble cannot be fetched here";
    throw cause;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

export interface PebbleWishes {
  /** The names of which it gives no certificates. */
  readonly blocked?: readonly string[];
}

/**
 * The ACME server that Let's Encrypt tests clients with. It looks for challenges at two ports of this machine, whatever the
 * name, because its own DNS server says that all names lead here.
 */
export class Pebble {
  readonly folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  /** Where it looks for challenges. */
  readonly httpPort: number;
  readonly tlsPort: number;
  /** The file of the certificate that its own port has. */
  readonly authorityFile = join(this.folder, "localhost.crt");
  readonly #port: number;
  readonly #management: number;
  readonly #dns: number;
  readonly #children: ChildProcess[] = [];
  #printed = "";

  static async prepare(wishes: PebbleWishes = {}): Promise<Pebble> {
    return new Pebble(await freePorts(6), wishes);
  }

  private constructor(first: number, { blocked = [] }: PebbleWishes) {
    [this.httpPort, this.tlsPort, this.#port, this.#management, this.#dns] = [0, 1, 2, 3, 4].map(
      (at) => first + at,
    ) as [...[number, number, number, number, number]];
    const { chain, key } = makeCertificate(["localhost"]);
    writeFileSync(this.authorityFile, chain);
    writeFileSync(join(this.folder, "localhost.key"), key);
    const config = {
      listenAddress: `127.0.0.1:${this.#port}`,
      managementListenAddress: `127.0.0.1:${this.#management}`,
      certificate: this.authorityFile,
      privateKey: join(this.folder, "localhost.key"),
      httpPort: this.httpPort,
      tlsPort: this.tlsPort,
      domainBlocklist: blocked,
      keyAlgorithm: "ecdsa",
    };
    writeFileSync(join(this.folder, "pebble.json"), JSON.stringify({ pebble: config }));
  }

  get directory(): string {
    return `https://localhost:${this.#port}/dir`;
  }

  /** What it has said. */
  get printed(): string {
    return this.#printed;
  }

  async start(): Promise<void> {
    const nameServer = FOLDER === DEBIANS ? "-dns01" : "-dnsserver";
    const dns = [nameServer, `127.0.0.1:${this.#dns}`, "-management", `127.0.0.1:${this.#dns + 1}`];
    const nothingElse = ["-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", ""];
    if (FOLDER === BUILT) nothingElse.push("-doh", "");
    this.#run("pebble-challtestsrv", [...dns, ...nothingElse]);
    this.#run("pebble", ["-config", join(this.folder, "pebble.json"), "-dnsserver", `127.0.0.1:${this.#dns}`], {
      PEBBLE_VA_NOSLEEP: "1",
      PEBBLE_AUTHZREUSE: "0", // each order is validated
      PEBBLE_WFE_NONCEREJECT: "0", // it would draw them by lot: `acme-authority.test.ts` refuses a certain one
    });
    await until(() =>
      this.root().then(
        () => true,
        () => false,
      ),
    );
  }

  /** The certificate that its certificates go back to, as PEM. */
  async root(): Promise<string> {
    return this.#manage("GET", "/roots/0");
  }

  /** Has it say from now on when this certificate is to be renewed. `chain`: PEM. */
  async suggest(chain: string, start: Date, end: Date): Promise<void> {
    const ARIResponse = JSON.stringify({ suggestedWindow: { start, end } });
    const [Certificate] = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/.exec(chain)!;
    await this.#manage("POST", "/set-renewal-info/", JSON.stringify({ Certificate, ARIResponse }));
  }

  /** Ends it, with all that it knew. */
  async stop(): Promise<void> {
    for (const child of this.#children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "close");
    }
    this.#printed = "";
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true });
  }

  #run(program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): void {
    const child = spawn(join(FOLDER, program), args, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
      });
    }
    this.#children.push(child);
  }

  async #manage(method: string, path: string, body?: string): Promise<string> {
    const agent = new Agent({ rejectUnauthorized: false });
    const sent = request({
      host: "127.0.0.1",
      port: this.#management,
      path,
      method,
      agent,
      headers: { "user-agent": "test" },
    });
    sent.end(body);
    const [answer] = await once(sent, "response");
    let text = "";
    for await (const piece of answer) text += piece;
    agent.destroy();
    if (answer.statusCode !== 200) throw new Error(`Pebble answers ${path} by ${answer.statusCode}: ${text}`);
    return text;
  }
}
