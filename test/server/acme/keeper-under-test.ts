import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AcmeFolder } from "../../../server/acme/acme-folder.ts";
import type { Authority, CertificateWish, OrderOutcome } from "../../../server/acme/authority.ts";
import { CertificateKeeper } from "../../../server/acme/certificate-keeper.ts";
import type { RenewalInfo } from "../../../server/acme/renewal-info.ts";
import type { Certificate } from "../../../server/connections/certificates.ts";
import { ManualClock } from "../../engine/memory/manual-clock.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { makeCertificate } from "../connections/make-certificate.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const STARTED_AT = Date.parse("2026-03-01T00:00:00Z");

const MOST_RELOADS = 100;

export interface PlacedOrder extends Omit<CertificateWish, "key"> {
  /** Since the start of the scene. Milliseconds. */
  readonly atMs: number;
}

/** An authority that gives what it is asked for, for 45 days, until a test says otherwise. */
export class FakeAuthority implements Authority {
  readonly orders: PlacedOrder[] = [];
  readonly asked: string[] = [];
  info: RenewalInfo | null = null;
  /** `null`: it issues. */
  refuses: (wish: CertificateWish) => Omit<OrderOutcome & { kind: "refused" }, "kind"> | null = () => null;
  /** `rest`: what comes after the certificate in its chain. */
  issued: { readonly name?: string; readonly validUntil?: number; readonly rest?: string } = {};
  underWay = 0;
  mostUnderWay = 0;
  /** Orders end when the server stops, and not before. */
  hangs = false;
  #stopped = Promise.withResolvers<OrderOutcome>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async order(wish: CertificateWish): Promise<OrderOutcome> {
    const { name, type, replaces } = wish;
    this.orders.push({ name, type, replaces, atMs: this.#now() - STARTED_AT });
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay);
    if (this.hangs) {
      const outcome = await this.#stopped.promise;
      this.#stopped = Promise.withResolvers();
      return outcome;
    }
    await Promise.resolve();
    this.underWay--;
    const refusal = this.refuses(wish);
    if (refusal !== null) return { kind: "refused", ...refusal };
    const { chain } = makeCertificate([this.issued.name ?? name], {
      key: wish.key,
      validFrom: new Date(this.#now()),
      validUntil: new Date(this.issued.validUntil ?? this.#now() + 45 * DAY),
      authorityKey: Buffer.from("authority"),
    });
    return { kind: "issued", chain: chain + (this.issued.rest ?? "") };
  }

  async renewalInfo(id: string): Promise<RenewalInfo | null> {
    this.asked.push(id);
    return this.info;
  }

  stop(): void {
    this.#stopped.resolve({
      kind: "refused",
      because: "the server stops",
      retryAfterMs: null,
      concerns: "all",
    });
  }
}

/** A keeper with its folder, on virtual time, whose names begin with one. */
export class KeeperScene {
  readonly clock = new ManualClock(STARTED_AT);
  readonly authority = new FakeAuthority(() => this.clock.now());
  readonly said: string[] = [];
  readonly root = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-"));
  readonly folder = new AcmeFolder(this.root, "https://authority.test/dir/list");
  names: readonly string[] = ["www.example.com"];
  reloads = 0;
  reloadWorks = true;
  /** The names whose certificates a reload does not take into use. */
  leftOut: readonly string[] = [];
  /** How far the keeper's clock is ahead. Milliseconds. */
  aheadMs = 0;
  inUse: readonly Certificate[] = [];
  /** `null`: there is none, or it was killed. */
  keeper: CertificateKeeper | null = null;

  /** Starts the keeper, or another one in its place, as a new process would. */
  async start(): Promise<void> {
    this.keeper?.stop();
    const keeper = new CertificateKeeper({
      folder: this.folder,
      authority: this.authority,
      challenged: { answer: async () => undefined, forget: () => undefined },
      types: ["http-01", "tls-alpn-01"],
      names: () => this.names,
      inUse: () => this.inUse,
      reload: async () => {
        if (++this.reloads > MOST_RELOADS) throw new Error("one reload follows the other without end");
        if (!this.reloadWorks) return false;
        const read = this.names.filter((name) => !this.leftOut.includes(name));
        this.inUse = this.folder.certificatesOf(read).certificates;
        keeper.look();
        return true;
      },
      say: (line) => void this.said.push(line),
      clock: { now: () => this.clock.now() + this.aheadMs, wait: (ms) => this.clock.wait(ms) },
      random: () => 0,
    });
    this.keeper = keeper;
    keeper.start();
    await this.pass(0);
  }

  /** Time passes, in milliseconds, and what is due is done. */
  async pass(ms: number): Promise<void> {
    await new Promise(setImmediate);
    await this.clock.advance(ms);
    await new Promise(setImmediate);
  }

  kept(name = "www.example.com"): string {
    return readFileSync(join(this.folder.path, `${name}.pem`), "utf8");
  }

  end(): void {
    this.keeper?.stop();
    rmSync(this.root, { recursive: true });
  }
}
