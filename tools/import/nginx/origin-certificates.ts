import type { Difference, Source } from "../imported-site.ts";
import { handlerOf } from "./handlers.ts";
import { inForce } from "./in-force.ts";
import type { Location } from "./locations.ts";

/** What differs at an https origin: which certificates count there. Each line is told once. */
export function certificateDifferences(locations: readonly Location[], origin: string): readonly Difference[] {
  const { hostname } = new URL(origin);
  const names = locations
    .flatMap(({ answeredBy }) => inForce(answeredBy, "proxy_ssl_name"))
    .filter(({ args }) => args[0] !== "$proxy_host" && args[0]?.toLowerCase() !== hostname);
  const shown = locations.flatMap(({ answeredBy }) => inForce(answeredBy, "proxy_ssl_certificate"));
  const unverified = locations.flatMap((location) => {
    const handler = handlerOf(location);
    const isVerified = inForce(location.answeredBy, "proxy_ssl_verify")[0]?.args[0] === "on";
    return handler.kind === "upstream" && !isVerified ? [handler.pass.source] : [];
  });
  const difference = (kind: Difference["kind"], source: Source, why: string): Difference => {
    return { kind, source, why, aspects: ["answer"], affects: { routes: null } };
  };
  return [
    ...unverified
      .slice(0, 1)
      .map((source) =>
        difference(
          "changed",
          source,
          "The edge verifies the origin's certificate, which nginx does only with proxy_ssl_verify on. For an authority of your own, set NODE_EXTRA_CA_CERTS for tidemark serve.",
        ),
      ),
    ...[...new Set(names)].map(({ source }) =>
      difference(
        "changed",
        source,
        "The edge asks for the certificate of the name in the origin's address, and verifies it by that name: if it is for this one, give the origin's address with it in --origin.",
      ),
    ),
    ...[...new Set(shown)].map(({ source }) =>
      difference("dropped", source, "The edge shows the origin no certificate: the origin must not ask for one."),
    ),
  ];
}
