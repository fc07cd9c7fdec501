import type { Answer } from "../../worker/ports/answer.ts";
import { canonicalUrl } from "../../worker/rules/key/canonical-url.ts";
import { withoutPort } from "../../worker/rules/key/unknown-host.ts";
import { ownAnswer } from "../http1/own-answer.ts";
import { isHealthCheck } from "./health-check.ts";

/** Where clients are sent that ask without TLS. */
export interface HttpsRedirect {
  readonly status: 301 | 308;
  /** The port of the listener with TLS. */
  readonly port: number;
  /** The site's public hosts, as keys have them; `null` for any. */
  readonly hosts: readonly string[] | null;
  /** The public host, if it is always the same one; else `null`. */
  readonly publicHost: string | null;
}

const DEFAULT_PORT = 443;

/**
 * Whether a request comes from a program that does not follow redirects: a probe, or one that purges as Varnish's clients
 * do, from the same machine and without TLS.
 */
export function followsNoRedirect(method: string, url: string): boolean {
  return method === "PURGE" || method === "BAN" || isHealthCheck(method, url);
}

/**
 * The answer that sends a client to the same page over TLS; `null` if the host is none of the site's, or if the URL is
 * not valid, which the edge refuses itself. RFC 9110 §15.4.2, §15.4.9.
 */
export function redirectToHttps(url: string, redirect: HttpsRedirect): Answer | null {
  const asked = canonicalUrl(url);
  const host = asked.kind === "url" ? publicHostOf(asked.host, redirect) : null;
  if (asked.kind === "refused" || host === null) return null;
  const location = `https://${host}${asked.path}${asked.search}`;
  const answer = ownAnswer(redirect.status, "redirect", `this site is at ${location}`);
  answer.fields.append("location", location);
  return answer;
}

/**
 * The host of the site with TLS; `null` if the host is none of the site's, whatever its port. If the port is not the
 * default, the site's hosts say whether clients see it: they do not if something in front, such as a container, maps port
 * 443 to it.
 */
export function publicHostOf(asked: string, { port, hosts, publicHost }: HttpsRedirect): string | null {
  if (publicHost !== null) return publicHost;
  const name = withoutPort(asked);
  const withPort = port === DEFAULT_PORT ? name : `${name}:${port}`;
  if (hosts === null) return withPort;
  return [withPort, name].find((host) => hosts.includes(host)) ?? null;
}
