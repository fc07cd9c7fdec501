import { randomUUID } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { nodeBody } from "../../../server/bodies/node-body.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import { MachineFetches } from "../../../server/cache-lock/machine-fetches.ts";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { DiskTier } from "../../../server/disk/disk-tier.ts";
import type { Janitor } from "../../../server/disk/eviction/janitor.ts";
import type { FileKind } from "../../../server/disk/file-format.ts";
import { plainAnswer } from "../../../server/http1/web-answer.ts";
import { startNodeIsolate } from "../../../server/program/node-isolate.ts";
import type { Child } from "../../../worker/flow/request-context.ts";
import type { LearningIsolate } from "../../../worker/learning-isolate.ts";
import type { Answer, Turn } from "../../../worker/ports/answer.ts";
import type { OriginAnswer, OriginRequest } from "../../../worker/ports/origin.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { compileSite } from "../../../worker/site/site.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import type { SharedTier } from "../../../worker/store/tiered-store.ts";
import { HOST, TOKEN } from "../../engine/scenario.ts";
import { SharedLog } from "../compression/compressing-isolate.ts";
import { openDisk, temporaryFolder } from "../disk/disk-under-test.ts";

/** A request at the origin, which the test answers when it likes. */
export class Asked {
  readonly request: OriginRequest;
  readonly answered: Promise<OriginAnswer>;
  readonly #resolve: (answer: OriginAnswer) => void;

  constructor(request: OriginRequest) {
    this.request = request;
    const { promise, resolve } = Promise.withResolvers<OriginAnswer>();
    this.answered = promise;
    this.#resolve = resolve;
  }

  field(name: string): string | undefined {
    return this.request.fields.find(([each]) => each.toLowerCase() === name)?.[1];
  }

  answer(body: string, fields: Readonly<Record<string, string>> = PAGE, status = 200): void {
    const sent = this.begin({ ...fields, "content-length": String(Buffer.byteLength(body)) }, status);
    sent.push(Buffer.from(body));
    sent.end();
  }

  notModified(fields: Readonly<Record<string, string>>): void {
    const given = new Fields(Object.entries(fields));
    this.#resolve({ kind: "answered", response: { status: 304, statusText: "", fields: given, body: null } });
  }

  /** Answers with a head, and with a body that is on its way. */
  begin(fields: Readonly<Record<string, string>>, status = 200): PushedBody {
    const length = fields["content-length"];
    const idle = () => undefined;
    const body = new PushedBody(length === undefined ? null : Number(length), {
      ...{ begin: idle, pause: idle, resume: idle, cancel: idle },
    });
    const given = new Fields(Object.entries(fields));
    this.#resolve({ kind: "answered", response: { status, statusText: "", fields: given, body } });
    return body;
  }

  fail(): void {
    this.#resolve({ kind: "failed", because: "unreachable", cause: new Error("connection refused") });
  }
}

/** A page that may be stored. */
export const PAGE = { "cache-control": "max-age=60", "content-type": "text/plain" };

export interface WorkerOptions extends Partial<SiteInput> {
  /** For its locks. Default: a folder of this machine. */
  readonly places?: readonly string[];
  /** Default: the only one. */
  readonly site?: string;
  /** What it finds on the disk, it learns when this has resolved. Default: at once. */
  readonly afterLook?: Promise<unknown>;
  /** Its disk has a page when this has resolved. Default: as soon as it is written. */
  readonly afterWrite?: Promise<unknown>;
}

export interface Received {
  readonly status: number;
  readonly text: string;
  readonly xCache: string | null;
}

/** Workers with one folder, one log and one origin. The time moves only when told. */
export class MachineUnderTest {
  readonly log = new SharedLog();
  readonly clock = this.log.clock;
  readonly asked: Asked[] = [];
  readonly said: string[] = [];
  readonly pages: string;
  readonly locks: string;
  readonly #janitor: Janitor;

  private constructor(root: string, janitor: Janitor) {
    this.pages = join(root, "pages");
    this.locks = join(root, "locks");
    this.#janitor = janitor;
  }

  static async start(): Promise<MachineUnderTest> {
    const root = temporaryFolder();
    const { janitor } = openDisk(join(root, "pages"));
    await janitor.scan();
    return new MachineUnderTest(root, janitor);
  }

  /** One with two workers. */
  static async withTwo(): Promise<{ machine: MachineUnderTest; one: WorkerOfMachine; other: WorkerOfMachine }> {
    const machine = await MachineUnderTest.start();
    return { machine, one: await machine.worker(), other: await machine.worker() };
  }

  /** How many whole files of a kind the disk has. */
  filesOf(kind: FileKind): number {
    const names = CacheFolder.at(this.pages).folders.flatMap((folder) => readdirSync(folder));
    return names.filter((name) => name.endsWith(`.${kind}`)).length;
  }

  /** Deletes all files of a kind, as if others had needed their room. */
  remove(kind: FileKind): void {
    for (const folder of CacheFolder.at(this.pages).folders) {
      for (const name of readdirSync(folder)) if (name.endsWith(`.${kind}`)) rmSync(join(folder, name));
    }
  }

  get paths(): readonly string[] {
    return this.asked.map(({ request }) => request.pathAndQuery);
  }

  /** What a worker shares that serves no site. */
  async fetches(): Promise<MachineFetches> {
    const fetches = await MachineFetches.start({ places: [this.locks], clock: this.clock, say: () => undefined });
    onTestFinished(() => fetches.close());
    return fetches;
  }

  async worker(options: WorkerOptions = {}): Promise<WorkerOfMachine> {
    const { places = [this.locks], site: name = "", afterLook, afterWrite, ...given } = options;
    const tier = new DiskTier({
      folder: CacheFolder.open(this.pages),
      janitor: this.#janitor.connect(),
      now: () => this.clock.now(),
      monotonicNow: () => this.clock.now(),
      say: (line) => this.said.push(line),
    }).ofSite(name);
    const say = (line: string) => void this.said.push(line);
    const fetches = await MachineFetches.start({ places, clock: this.clock, say });
    onTestFinished(() => fetches.close());
    const url = "http://origin.internal";
    const isolate = startNodeIsolate(compileSite({ origin: url, hosts: [HOST], ...given }, {}), {
      clock: this.clock,
      random: Math.random,
      sharedTier: afterLook || afterWrite ? heldBack(tier, afterLook, afterWrite) : tier,
      fetchesElsewhere: fetches.ofSite(name, (key) => tier.hasEntry(key)),
      origin: {
        url,
        fetch: (request) => {
          const asked = new Asked(request);
          this.asked.push(asked);
          return asked.answered;
        },
      },
      log: this.log.calls,
      tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
      isolate: randomUUID(),
      write: say,
    });
    return new WorkerOfMachine(isolate);
  }

  /** A worker asks for a page that no worker has, and the origin's answer is stored. */
  async stores(worker: WorkerOfMachine, path: string, body: string, fields: Readonly<Record<string, string>>) {
    const asked = this.asked.length + 1;
    const asking = worker.ask(path);
    (await this.hasAsked(asked)).answer(body, fields);
    await asking;
    await worker.settled();
  }

  /** Resolves when the origin has been asked so often in all. */
  async hasAsked(count: number): Promise<Asked> {
    await until(() => this.asked.length >= count);
    return this.asked[count - 1]!;
  }
}

export class WorkerOfMachine {
  /** What its log says of requests that waited for the origin. */
  readonly turns: Turn[] = [];
  readonly #isolate: LearningIsolate;
  readonly #behind = new Set<Promise<unknown>>();

  constructor(isolate: LearningIsolate) {
    this.#isolate = isolate;
  }

  async ask(...request: Parameters<WorkerOfMachine["begin"]>): Promise<Received> {
    const { status, fields: got, body } = await this.begin(...request);
    return { status, text: body === null ? "" : await textOf(body), xCache: got.get("x-cache") };
  }

  /** Asks, and leaves the body of the answer unread. */
  async begin(
    path: string,
    fields: Readonly<Record<string, string>> = {},
    method = "GET",
    sent: string | null = null,
    child: Child | null = null,
  ): Promise<Answer> {
    const answer = await this.#isolate.fetch({
      request: {
        method,
        headers: new Fields(Object.entries(fields)),
        body: sent === null ? null : bodyOf(sent),
        bodyUsed: false,
        noteTurn: (turn) => void this.turns.push(turn),
      },
      url: `http://${HOST}${path}`,
      background: { run: (work) => this.#runs(work) },
      clientAddress: null,
      child,
    });
    return plainAnswer(answer);
  }

  many(count: number, path: string, fields: Readonly<Record<string, string>> = {}): Promise<Received[]> {
    return Promise.all(Array.from({ length: count }, () => this.ask(path, fields)));
  }

  /** How far it has read the log. */
  get position(): Stamp | null {
    return this.#isolate.position;
  }

  async purge(urls: readonly string[]): Promise<void> {
    const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const { status } = await this.ask("/_tidemark/purge", fields, "POST", JSON.stringify({ urls }));
    if (status !== 200) throw new Error(`the purge was refused: ${status}`);
  }

  /** Waits until nothing is left behind the answers. */
  async settled(): Promise<void> {
    while (this.#behind.size > 0) await Promise.allSettled(this.#behind);
  }

  #runs(work: Promise<unknown>): void {
    const counted = work.catch(() => undefined).finally(() => this.#behind.delete(counted));
    this.#behind.add(counted);
  }
}

function heldBack(tier: DiskTier, afterLook?: Promise<unknown>, afterWrite?: Promise<unknown>): SharedTier {
  return {
    get: async (key) => {
      const found = await tier.get(key);
      await afterLook;
      return found;
    },
    put: async (stored) => {
      await afterWrite;
      await tier.put(stored);
    },
    delete: (key) => tier.delete(key),
    getBody: (bodyKey, part) => tier.getBody(bodyKey, part),
    putBody: (bodyKey, body) => tier.putBody(bodyKey, body),
  };
}

/** Resolves once this is so. Time does not pass meanwhile. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** In as many turns in a row no file is read or written, and no socket connects. */
const QUIET_TURNS = 200;

/**
 * Lets everything that needs no time happen: messages between sockets of this process, and calls to the file system, each of
 * which may take as long as the disk likes.
 */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < QUIET_TURNS; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (process.getActiveResourcesInfo().some(isUnderWay)) turn = 0;
  }
}

/** A call to the file system in one of Node's threads, or a socket that connects. */
function isUnderWay(resource: string): boolean {
  return resource.startsWith("FSReq") || resource === "PipeConnectWrap";
}

function bodyOf(text: string): PushedBody {
  const idle = () => undefined;
  const body = new PushedBody(text.length, { begin: idle, pause: idle, resume: idle, cancel: idle });
  body.push(Buffer.from(text));
  body.end();
  return body;
}

async function textOf(body: object): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  const reader = nodeBodies.read(nodeBody(body as never));
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) chunks.push(piece);
  return Buffer.concat(chunks).toString();
}
