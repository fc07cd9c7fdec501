import { systemClock } from "../system-clock.ts";
import { AcmeAuthority } from "./acme-authority.ts";
import type { Challenged } from "./authority.ts";
import { CertificateKeeper } from "./certificate-keeper.ts";
import type { AcmeOptions, PreparedAcme } from "./prepared-acme.ts";

export interface KeptParts {
  readonly options: AcmeOptions;
  /** By the current settings. */
  readonly prepared: () => PreparedAcme;
  readonly challenged: Challenged;
  readonly reload: () => Promise<boolean>;
  readonly say: (line: string) => void;
}

/** The certificates of a server that owns its folder: from its start until it hands over. */
export class KeptCertificates {
  readonly #parts: KeptParts;
  #keeper: CertificateKeeper | null = null;

  constructor(parts: KeptParts) {
    this.#parts = parts;
  }

  begin(): void {
    const { options, prepared, challenged, reload, say } = this.#parts;
    const { folder, types } = prepared();
    const authority = new AcmeAuthority({ ...options, accountKey: () => folder.accountKey(), clock: systemClock });
    const settings = { names: () => prepared().names, inUse: () => prepared().certificates };
    const parts = { folder, authority, challenged, types, ...settings, reload, say };
    this.#keeper = new CertificateKeeper({ ...parts, clock: systemClock, random: Math.random });
    this.#keeper.start();
  }

  end(): void {
    this.#keeper?.stop();
    this.#keeper = null;
  }

  /** The settings have changed. */
  look(): void {
    this.#keeper?.look();
  }

  /** The owner has asked for a reload. */
  tryAgain(): void {
    this.#keeper?.tryAgain();
  }
}
