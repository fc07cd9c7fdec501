import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isInLastThird } from "../acme/renewal.ts";
import { messageOf } from "../message-of.ts";
import { ServerError } from "../startup/server-error.ts";
import { stateOfFile } from "../startup/watched-files.ts";
import { nodeTls } from "./node-tls.ts";

/** A certificate with its key: plain data, because it is copied between processes. */
export interface Certificate {
  /** The names and addresses that it is for, in lower case; a wildcard is like `*.example.com`. */
  readonly names: readonly string[];
  /** The certificate and those between it and its root, as PEM. */
  readonly chain: string;
  readonly key: string;
  /** The kind of its key, like `ec`. */
  readonly kind: string;
  /** Milliseconds since the epoch. In files of the owner, `validUntil` is the earliest end in the chain. */
  readonly validFrom: number;
  readonly validUntil: number;
  /** The file that it was read from. */
  readonly file: string;
}

/** Where the certificates of a server lie. */
export interface CertificateFiles {
  readonly pairs: readonly { readonly certificate: string; readonly key: string }[];
  /** A folder with several of them; `null` for none. */
  readonly folder: string | null;
}

/**
 * Reads and checks all certificates. Throws a `ServerError` that names the file if one of them cannot be used. `read` gets
 * the files and folders as they were before they were read, also then.
 */
export function readCertificates(
  { pairs, folder }: CertificateFiles,
  read: Map<string, string> = new Map(),
): Certificate[] {
  const note = (path: string) => read.set(resolve(path), read.get(resolve(path)) ?? stateOfFile(path));
  const all = [...pairs, ...(folder === null ? [] : pairsIn(folder, note))];
  const checked = all.map(({ certificate, key }) => {
    note(certificate);
    note(key);
    const read = readCertificate(certificate, key);
    return [resolve(certificate), { ...read, validUntil: endOf(read.chain) }] as const;
  });
  return [...new Map(checked).values()]; // the folder may hold one of the pairs
}

const SOON_DAYS = 14;
const DAY_MS = 86_400_000;

/** What the owner should know of certificates that can be used: a line each. `now` is in epoch milliseconds. */
export function certificateWarnings(certificates: readonly Certificate[], now: number): string[] {
  return certificates.flatMap(({ file, names, chain, validFrom, validUntil }) => {
    const of = `the certificate ${file} (${names.join(", ") || "no names"})`;
    const sent = certificatesIn(chain);
    const [own] = sent;
    const ofChain = own && validUntil < Date.parse(own.validTo) ? `the chain of ${of}` : of;
    const warnings: string[] = [];
    const stray = sent.findIndex((each, index) => index > 0 && !sent[index - 1]!.checkIssued(each));
    if (stray > 0) {
      warnings.push(`${of} has a chain that clients refuse: its number ${stray + 1} did not issue the one before it.`);
    }
    // One without an address to fetch its issuer is of a private root, which may have issued it itself.
    if (sent.length === 1 && own!.infoAccess?.includes("CA Issuers")) {
      warnings.push(`${of} stands alone in its file, so many clients refuse it. Name the file with the whole chain.`);
    }
    const days = Math.floor((validUntil - now) / DAY_MS);
    if (names.length === 0) warnings.push(`${of} names no host in its subjectAltName, so browsers refuse it.`);
    if (validFrom > now) warnings.push(`${of} is not valid before ${new Date(validFrom).toISOString()}.`);
    if (validUntil <= now) warnings.push(`${ofChain} expired at ${new Date(validUntil).toISOString()}.`);
    else if (days < SOON_DAYS && isInLastThird({ validFrom, validUntil }, now))
      warnings.push(`${ofChain} expires in ${days} days. Renew it, then send SIGHUP.`);
    return warnings;
  });
}

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----/gs;

/** The certificates in a PEM file, in their order. RFC 7468. */
function certificatesIn(text: string): X509Certificate[] {
  const blocks = [...text.matchAll(PEM_BLOCK)].filter(([, label]) =>
    /^(?:(?:X509|TRUSTED) )?CERTIFICATE$/.test(label!),
  );
  return blocks.map(([block]) => new X509Certificate(block));
}

/** When the first one in a chain expires, in epoch milliseconds. A root does not count: clients have their own. */
function endOf(chain: string): number {
  const sent = certificatesIn(chain).filter((each, index) => index === 0 || !each.checkIssued(each));
  return Math.min(...sent.map(({ validTo }) => Date.parse(validTo)));
}

/** The files of certificates and keys that tools leave in a folder. `note` is called for each path that counts. */
function pairsIn(folder: string, note: (path: string) => void): { certificate: string; key: string }[] {
  const refuse = (because: string): never => {
    throw new ServerError(`the certificates in ${folder} cannot be read: ${because}.`);
  };
  note(folder);
  const names = tryTo(
    () => readdirSync(folder).sort(),
    (cause) => refuse(wordsOf(cause)),
  );
  // Not `existsSync`: a file that this user may not read exists all the same, and its site must not silently go without
  // it.
  const found = (path: string) => {
    if (/\.(?:crt|pem|key)$/.test(path)) note(path);
    const stats = tryTo(
      () => statSync(path, { throwIfNoEntry: false }),
      (cause) => {
        note(path);
        return refuse(`${path}: ${wordsOf(cause)}`);
      },
    );
    if (!stats?.isFile()) note(path); // a folder, or a link that may lead to one; other files are not read
    return stats;
  };
  // Of certbot's files even a link to nothing says that there should be a certificate.
  const isThere = (path: string) =>
    found(path) !== undefined || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  const isOfCertbot = ["fullchain.pem", "privkey.pem"].every((name) => names.includes(name));
  const pairs = names.flatMap((name) => {
    const path = join(folder, name);
    const inFolder = pairOfCertbot(path);
    if (found(path)?.isDirectory()) return Object.values(inFolder).some(isThere) ? [inFolder] : [];
    const [, stem] = /^(.+)\.(?:crt|pem)$/.exec(name) ?? [];
    if (stem === undefined) return [];
    const key = join(folder, `${stem}.key`);
    if (found(key)) return [{ certificate: path, key }];
    if (isOfCertbot && name === "fullchain.pem") return [pairOfCertbot(folder)];
    if (isOfCertbot && name === "cert.pem") return []; // the first certificate of fullchain.pem
    // Without this certificate, its site would be shown that of another one.
    const text = tryTo(
      () => readFileSync(path),
      (cause) => refuse(`${path}: ${wordsOf(cause)}`),
    );
    if (namesHosts(text)) refuse(`${path} has no ${stem}.key beside it`);
    return [];
  });
  if (pairs.length === 0) {
    refuse(
      "it has no NAME.crt or NAME.pem with NAME.key, and neither fullchain.pem and privkey.pem nor folders with them",
    );
  }
  return pairs;
}

/** The layout of certbot, in a folder of /etc/letsencrypt/live. */
function pairOfCertbot(folder: string): { certificate: string; key: string } {
  return { certificate: join(folder, "fullchain.pem"), key: join(folder, "privkey.pem") };
}

/** Whether this is a certificate that names hosts: not one of an authority, or something else. */
function namesHosts(text: Buffer): boolean {
  try {
    return namesIn(new X509Certificate(text)).length > 0;
  } catch {
    return false;
  }
}

/** Reads and checks one. Its key may be in the same file. Throws a `ServerError` that names the file if it cannot be used. */
export function readCertificate(file: string, keyFile: string): Certificate {
  const refuse = (which: string, because: string): never => {
    throw new ServerError(`the ${which} cannot be used: ${because}.`);
  };
  const read = (which: string, path: string) =>
    tryTo(
      () => readFileSync(path, "utf8"),
      (cause) => refuse(`${which} ${path}`, wordsOf(cause)),
    );
  const chain = read("certificate", file);
  const key = read("key", keyFile);
  const certificate = tryTo(
    () => new X509Certificate(chain),
    () => refuse(`certificate ${file}`, "it is not a certificate in PEM"),
  );
  if (/-----B|-$/.test(chain.replace(PEM_BLOCK, ""))) {
    refuse(`certificate ${file}`, "its last block of PEM has no end, as if it was not yet written");
  }
  if (/ENCRYPTED/.test(key)) refuse(`key ${keyFile}`, "it is encrypted; store it without a passphrase");
  const privateKey: KeyObject = tryTo(
    () => createPrivateKey(key),
    () => refuse(`key ${keyFile}`, "it is not a private key in PEM"),
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    const isChain = chain.split("BEGIN CERTIFICATE").length > 2;
    const order = isChain ? " or the first certificate in the file is not the site's own" : "";
    refuse(`certificate ${file}`, `the key ${keyFile} belongs to another certificate${order}`);
  }
  tryTo(
    () => nodeTls().createSecureContext({ cert: chain, key, minVersion: "TLSv1.2" }),
    (cause) => refuse(`certificate ${file}`, messageOf(cause)),
  );
  return {
    names: namesIn(certificate),
    chain,
    key,
    kind: privateKey.asymmetricKeyType!,
    validFrom: Date.parse(certificate.validFrom),
    validUntil: Date.parse(certificate.validTo),
    file,
  };
}

/** RFC 6125 §6.4. Node writes a name with odd characters in quotes; such a name is no host. */
function namesIn({ subjectAltName }: X509Certificate): string[] {
  const entries = subjectAltName?.split(", ") ?? [];
  return entries.flatMap((entry) => /^(?:DNS|IP Address):([^"]+)$/.exec(entry)?.[1]?.toLowerCase() ?? []);
}

function tryTo<Result>(action: () => Result, failed: (cause: unknown) => never): Result {
  try {
    return action();
  } catch (cause) {
    return failed(cause);
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES:
    "this user may not read it; give the user or its group the right to read the file and to enter the folders above it",
  ELOOP: "it is a link that leads to itself",
  EISDIR: "it is a folder",
  ENOTDIR: "it is not a folder",
};

function wordsOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  return WORDS[code ?? ""] ?? message;
}
