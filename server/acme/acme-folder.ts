import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Certificate, readCertificate } from "../connections/certificates.ts";
import { makeFolders } from "../make-folders.ts";
import { messageOf } from "../message-of.ts";
import { putFile } from "../put-file.ts";
import { ServerError } from "../startup/server-error.ts";

const FOLDER_MODE = 0o700;

/**
 * The times that have to outlive the process, so that a server that restarts often does not ask an authority too often.
 * Epoch milliseconds.
 */
export interface AttemptsMade {
  /** When each name was last tried. */
  readonly lastAt: Readonly<Record<string, number>>;
  /** The authority wants no requests until then. */
  readonly notBeforeAt: number;
}

/** The certificates of some names, and a line for each file that cannot be used. */
export interface KeptCertificates {
  readonly certificates: readonly Certificate[];
  readonly problems: readonly string[];
}

/**
 * The files of one authority: the account's key, `account.key`; `NAME.pem` for each name, with the key, the certificate
 * and its chain; and `attempts.json`. Only this user may read them. Each file is replaced in one step, so it is whole
 * whenever the process ends.
 */
export class AcmeFolder {
  readonly path: string;
  /**
   * The certificates that were read, by name: they are looked up often, and checking one takes milliseconds. They stay in use
   * if their files cannot be used any more, but not if these are gone.
   */
  readonly #read = new Map<string, { readonly stamp: string; readonly certificate: Certificate }>();

  /** `directory`: the URL of the authority's directory. Each has a folder: their accounts and certificates have nothing in common. */
  constructor(folder: string, directory: string) {
    const { host, pathname } = new URL(directory);
    this.path = join(folder, `${host}${pathname}`.replace(/[^A-Za-z0-9.-]+/g, "_").replace(/_$/, ""));
  }

  /**
   * The PEM of the account's key, which is made the first time. Throws what the disk throws, and a `ServerError` if the file
   * holds no key.
   */
  accountKey(): string {
    const path = join(this.path, "account.key");
    if (existsSync(path)) return keyIn(path);
    const key = makeKey();
    this.#write("account.key", key);
    return key;
  }

  /** `null` if there is none, or none that can be used. */
  certificateOf(name: string): Certificate | null {
    return this.certificatesOf([name]).certificates[0] ?? null;
  }

  certificatesOf(names: readonly string[]): KeptCertificates {
    const certificates: Certificate[] = [];
    const problems: string[] = [];
    for (const name of names) {
      let certificate: Certificate | null;
      try {
        certificate = this.#readOnce(name);
      } catch (cause) {
        certificate = this.#read.get(name)?.certificate ?? null;
        const does = certificate === null ? "orders another one" : "goes on with the one that it has read before";
        problems.push(`${messageOf(cause)} The server ${does}.`);
      }
      if (certificate !== null) certificates.push(certificate);
    }
    return { certificates, problems };
  }

  /** `null` if it is not there. Throws a `ServerError` if it cannot be used. */
  #readOnce(name: string): Certificate | null {
    const file = join(this.path, `${name}.pem`);
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return null;
    const stamp = `${found.mtimeMs} ${found.ino} ${found.size}`;
    const known = this.#read.get(name);
    if (known?.stamp === stamp) return known.certificate;
    const certificate = readCertificate(file, file);
    this.#read.set(name, { stamp, certificate });
    return certificate;
  }

  /** Throws what the disk throws. */
  keep(name: string, key: string, chain: string): void {
    this.#write(`${name}.pem`, `${key.trimEnd()}\n${chain}`);
  }

  attempts(): AttemptsMade {
    try {
      const read = JSON.parse(readFileSync(join(this.path, "attempts.json"), "utf8")) as Partial<AttemptsMade>;
      const times = Object.entries({ ...read.lastAt }).filter(([, at]) => Number.isFinite(at));
      return { lastAt: Object.fromEntries(times), notBeforeAt: Number(read.notBeforeAt) || 0 };
    } catch {
      // There is none yet, or it is not valid: the authority itself refuses what is too often for it.
      return { lastAt: {}, notBeforeAt: 0 };
    }
  }

  /** Throws what the disk throws. */
  noteAttempts(attempts: AttemptsMade): void {
    this.#write("attempts.json", `${JSON.stringify(attempts)}\n`);
  }

  #write(file: string, text: string): void {
    makeFolders(this.path);
    chmodSync(this.path, FOLDER_MODE); // it may have been copied here
    putFile(join(this.path, file), text, { isDurable: true });
  }
}

function keyIn(path: string): string {
  const key = readFileSync(path, "utf8");
  try {
    createPrivateKey(key);
  } catch {
    const advice = "Restore it from a backup, or remove it, and the next attempt makes another account.";
    throw new ServerError(`${path} holds no private key. ${advice}`);
  }
  return key;
}

/**
 * A new key on P-256, as PEM. For TLS-ALPN-01, the keys of all certificates have to be of one kind: see
 * `makeTlsServer`.
 */
export function makeKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}
