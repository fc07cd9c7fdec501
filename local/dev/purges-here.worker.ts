import {
  EVERYTHING_PURGE_KEY,
  type Platform,
  pathPurgeKey,
  prefixPurgeKey,
  readPurgeKey,
} from "tidemark/worker/internal";
import { isOwnHost } from "./served-hosts.ts";

/**
 * The same platform, where the purge of a host on the Internet reaches every host: a backend purges the public address of a
 * page also in development, where the browser has the page from this machine. The platform's log must be plain functions.
 */
export function purgingHere(platform: Platform): Platform {
  const { log } = platform;
  return {
    ...platform,
    log: {
      ...log,
      append: (purge) => log.append({ ...purge, purgeKeys: [...new Set(purge.purgeKeys.flatMap(withEveryHost))] }),
    },
  };
}

function withEveryHost(key: string): string[] {
  const item = readPurgeKey(key);
  if (item === null || !("host" in item) || item.host === null || isOwnHost(item.host)) return [key];
  switch (item.kind) {
    case "url":
      return [key, pathPurgeKey(item.pathAndQuery)];
    case "prefix":
      return [key, prefixPurgeKey(item.prefix)];
    case "host":
      return [key, EVERYTHING_PURGE_KEY];
    case "group":
      return [key];
  }
}
