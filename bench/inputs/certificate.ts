import { execFileSync } from "node:child_process";

/** Writes a certificate for 127.0.0.1 with a P-256 key. Returns its serial number. */
export function makeCertificate(certificate: string, key: string): string {
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...names, "-keyout", key, "-out", certificate, "-days", "30"], {
    stdio: "ignore",
  });
  const printed = execFileSync("openssl", ["x509", "-noout", "-serial", "-in", certificate], { encoding: "utf8" });
  return printed.trim().replace("serial=", "");
}
