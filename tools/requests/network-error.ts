import { THROUGH_PROXY } from "#tidemark/internal";

const UNKNOWN_ISSUER =
  "the issuer of its certificate is unknown; name the issuer's certificate in NODE_EXTRA_CA_CERTS to trust it";

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name could not be looked up",
  UND_ERR_CONNECT_TIMEOUT: "the connection took too long",
  UND_ERR_SOCKET: "the connection was closed",
  ECONNRESET: "the connection was closed",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed; name it in NODE_EXTRA_CA_CERTS to trust it",
  SELF_SIGNED_CERT_IN_CHAIN: "its root certificate is not trusted; name it in NODE_EXTRA_CA_CERTS to trust it",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
  CERT_HAS_EXPIRED: "its certificate has expired",
};

/** OpenSSL's reason in a message of its own, which Node's `http` gives the code EPROTO and undici a code for each reason. */
const REASON = /:SSL routines:[^:]*:([^:]+):/;
/** Its reasons for bytes that are no TLS. */
const NO_TLS = /^(wrong version number|packet length too long)$/;

/** Why a request had no answer; `null` for an unusual error. */
export function networkErrorText(error: Error): string | null {
  const text = ofTls(error.message) ?? TEXTS[(error as NodeJS.ErrnoException).code ?? ""];
  if (text === undefined) return null;
  return error.message.endsWith(THROUGH_PROXY) ? `${text}, ${THROUGH_PROXY}` : text;
}

function ofTls(message: string): string | undefined {
  const reason = REASON.exec(message)?.[1];
  if (reason === undefined) return undefined;
  return NO_TLS.test(reason) ? "the port does not speak https, perhaps http" : `TLS failed: ${reason}`;
}
