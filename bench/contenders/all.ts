import { bareNode } from "./bare-node.ts";
import { caddyFiles, caddyProxy } from "./caddy.ts";
import { constantNode } from "./constant-node.ts";
import type { Contender } from "./contender.ts";
import { lockedNginx, ordinaryNginx, tunedNginx } from "./nginx.ts";
import { tidemark } from "./tidemark.ts";
import { varnish } from "./varnish.ts";

/** All servers in the order of the tables. */
export function allContenders(tidemarkCommand: string): readonly Contender[] {
  return [
    ordinaryNginx,
    tunedNginx,
    lockedNginx,
    tidemark(tidemarkCommand),
    varnish,
    caddyFiles,
    caddyProxy,
    constantNode,
    bareNode,
  ];
}
