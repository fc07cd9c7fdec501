import { createPrivateKey, X509Certificate } from "node:crypto";

/** Why the issued certificate cannot replace the old one; `null` if it can. `chain` and `key`: PEM. */
export function whyNotUsed(chain: string, key: string, name: string): string | null {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(chain);
  } catch {
    return "the authority issued something that is not a certificate";
  }
  if (certificate.checkHost(name) === undefined) {
    return `the authority issued a certificate for other names: ${certificate.subjectAltName ?? "no names"}`;
  }
  return certificate.checkPrivateKey(createPrivateKey(key))
    ? null
    : "the authority issued the certificate for another key";
}
