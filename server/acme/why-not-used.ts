import { createPrivateKey, X509Certificate } from "node:crypto";
import { nodeTls } from "../connections/node-tls.ts";
import { messageOf } from "../message-of.ts";

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
  if (!certificate.checkPrivateKey(createPrivateKey(key)))
    return "the authority issued the certificate for another key";
  try {
    nodeTls().createSecureContext({ cert: chain, key, minVersion: "TLSv1.2" });
    return null;
  } catch (cause) {
    return `the authority issued a chain that cannot be used: ${messageOf(cause)}`;
  }
}
