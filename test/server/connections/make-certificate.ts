import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/** A certificate that has signed itself, and its key, both as PEM. */
export interface MadeCertificate {
  readonly chain: string;
  readonly key: string;
}

export interface CertificateWishes {
  readonly kind?: "ec" | "rsa";
  readonly validFrom?: Date;
  readonly validUntil?: Date;
  /** The key that it is for, as PEM. Default: a new one. */
  readonly key?: string;
  /** Who has signed it. Default: itself. */
  readonly issuer?: { readonly name: string; readonly key: string };
  /** Where its issuer's certificate may be fetched. Default: it does not say. */
  readonly issuerAt?: string;
  /** The identifier of the key of its authority. Default: it names none. */
  readonly authorityKey?: Buffer;
}

/** Makes a certificate for these names, by DER as RFC 5280 §4.1 has it. Default: for the years 2020 to 2099. */
export function makeCertificate(names: readonly string[], wishes: CertificateWishes = {}): MadeCertificate {
  const { kind = "ec", validFrom = new Date("2020-01-01"), validUntil = new Date("2099-01-01") } = wishes;
  const { publicKey, privateKey } = keysOf(wishes);
  const algorithm = kind === "ec" ? sequence(oid(ECDSA_WITH_SHA256)) : sequence(oid(RSA_WITH_SHA256), der(0x05));
  const name = commonName(names[0] ?? "nobody");
  const { issuer = null } = wishes;
  const alternatives = sequence(...names.map(alternativeName));
  const extensions = [
    sequence(oid(SUBJECT_ALT_NAME), der(0x04, alternatives)),
    sequence(
      oid(BASIC_CONSTRAINTS),
      der(0x01, Buffer.from([0xff])),
      der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
    ),
  ].slice(names.length === 0 ? 1 : 0);
  if (wishes.authorityKey) {
    extensions.push(sequence(oid(AUTHORITY_KEY), der(0x04, sequence(der(0x80, wishes.authorityKey)))));
  }
  if (wishes.issuerAt) {
    const at = sequence(oid(CA_ISSUERS), der(0x86, Buffer.from(wishes.issuerAt)));
    extensions.push(sequence(oid(AUTHORITY_ACCESS), der(0x04, sequence(at))));
  }
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    issuer ? commonName(issuer.name) : name,
    sequence(time(validFrom), time(validUntil)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, issuer?.key ?? privateKey)]));
  const lines = sequence(body, algorithm, signature)
    .toString("base64")
    .match(/.{1,64}/g)!
    .join("\n");
  return {
    chain: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

/** A host, or an IPv4 address. */
function alternativeName(name: string): Buffer {
  return isIPv4(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name));
}

function commonName(text: string): Buffer {
  return sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(text)))));
}

function keysOf({ kind = "ec", key }: CertificateWishes) {
  if (key !== undefined) return { publicKey: createPublicKey(key), privateKey: createPrivateKey(key) };
  return kind === "ec"
    ? generateKeyPairSync("ec", { namedCurve: "P-256" })
    : generateKeyPairSync("rsa", { modulusLength: 2048 });
}

const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const RSA_WITH_SHA256 = "2a864886f70d01010b";
const COMMON_NAME = "550403";
const SUBJECT_ALT_NAME = "551d11";
const BASIC_CONSTRAINTS = "551d13";
const AUTHORITY_KEY = "551d23";
const AUTHORITY_ACCESS = "2b06010505070101";
const CA_ISSUERS = "2b06010505073002";

function der(tag: number, content: Buffer = Buffer.alloc(0)): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function oid(bytes: string): Buffer {
  return der(0x06, Buffer.from(bytes, "hex"));
}

/** A GeneralizedTime. */
function time(at: Date): Buffer {
  return der(0x18, Buffer.from(at.toISOString().replace(/\.\d+|[-:T]/g, "")));
}
