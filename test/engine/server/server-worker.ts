import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { nodeBodies, nodeBodiesHeldIn } from "../../../server/bodies/node-bodies.ts";
import { NodeCompression } from "../../../server/compression/node-compression.ts";
import { Listener } from "../../../server/connections/listener.ts";
import type { DiskTier } from "../../../server/disk/disk-tier.ts";
import type { LogCalls } from "../../../server/log/log-messages.ts";
import { OriginTalks } from "../../../server/origin/origin-talks.ts";
import type { UndiciOrigin } from "../../../server/origin/undici-origin.ts";
import { startNodeIsolate } from "../../../server/program/node-isolate.ts";
import type { ProcessLine } from "../../../server/supervisor/process-line.ts";
import type { IncomingRequest } from "../../../worker/flow/request-context.ts";
import type { Tokens } from "../../../worker/ports/access.ts";
import type { Clock } from "../../../worker/ports/clock.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import type { CompressionSettings } from "../../../worker/site/compression-settings.ts";
import type { Site } from "../../../worker/site/site.ts";
import { ADDRESS_FIELD, CLIENT_ADDRESS, COUNTRY_FIELD } from "../beginning.ts";
import { chances } from "../chances.ts";
import { type CallsUnderway, QuietTier } from "../memory/quiet-tier.ts";

/** What the workers of a machine have in common, and the tier of this one. */
export interface ServerWorkerParts {
  readonly site: Site;
  readonly compression: CompressionSettings | null;
  readonly clock: Clock;
  readonly origin: UndiciOrigin;
  /** By which it hears of the origin from the other workers, and they from it. */
  readonly line: ProcessLine;
  readonly log: LogCalls;
  readonly tokens: Tokens;
  readonly tier: DiskTier;
  /** The calls of all tiers. */
  readonly calls: CallsUnderway;
  readonly warn: (line: string) => void;
  /** Called when a request has arrived. */
  readonly arrived: () => void;
}

/** One worker of `tidemark serve`, in this process: an isolate behind a listener of its own. */
export class ServerWorker {
  readonly #parts: ServerWorkerParts;
  readonly #listener: Listener;
  #isolate;

  private constructor(parts: ServerWorkerParts) {
    this.#parts = parts;
    this.#isolate = this.#start();
    this.#listener = new Listener({
      isolate: {
        fetch: (incoming) => {
          parts.arrived();
          return this.#isolate.fetch(asTold(incoming));
        },
      },
      bodies: nodeBodies,
      warn: parts.warn,
      usesFastAnswers: true,
    });
  }

  /** With the address at which it listens. */
  static async start(parts: ServerWorkerParts): Promise<{ readonly worker: ServerWorker; readonly edge: URL }> {
    const worker = new ServerWorker(parts);
    const { port } = (await worker.#listener.listen({ host: "127.0.0.1", port: 0 })) as AddressInfo;
    return { worker, edge: new URL(`http://127.0.0.1:${port}`) };
  }

  /** Another isolate takes over. The memory of the last one is lost. */
  restart(): void {
    this.#isolate = this.#start();
  }

  /** Resolves when the work behind the answers has ended, and all files are written. */
  async finishWork(): Promise<void> {
    await this.#listener.work.idle();
    await this.#parts.tier.settled();
  }

  async stop(): Promise<void> {
    await this.#listener.close(0);
    await this.#parts.tier.settled();
  }

  #start() {
    const { site, compression: settings, clock, origin, line, log, tokens, tier, calls } = this.#parts;
    const { memoryBytes } = site.limits;
    return startNodeIsolate(site, {
      compression: settings ? new NodeCompression({ settings, memoryBytes, files: tier.compression }) : undefined,
      clock,
      random: chances(1),
      sharedTier: new QuietTier(tier, calls),
      ...{ origin, log, tokens },
      originTalk: new OriginTalks(line, "secret").of("the origin"),
      bodies: nodeBodiesHeldIn({ memoryBytes: 8 * 1024 ** 2, fileBytes: 0, mostFiles: null, folder: null }),
      isolate: randomUUID(),
      write: () => undefined,
    });
  }
}

/** A request whose fields tell the client's country and address, as the other platforms have them told. */
function asTold(incoming: IncomingRequest): IncomingRequest {
  const { method, headers } = incoming.request;
  const country = headers.get(COUNTRY_FIELD);
  const address = headers.get(ADDRESS_FIELD);
  const clientAddress = address ?? CLIENT_ADDRESS;
  const told = { ...incoming, country, clientAddress, peerAddress: clientAddress };
  if (country === null && address === null) return told;
  const without = new Fields([...headers].filter(([name]) => name !== COUNTRY_FIELD && name !== ADDRESS_FIELD));
  return { ...told, request: { method, headers: without, body: null, bodyUsed: false } };
}
