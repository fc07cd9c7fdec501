import { ReleaseError } from "../release-error.ts";

/** The unit of docs/server.md that the package's unit is made of. */
export const UNIT_IN_DOCS = "docs/examples/server/without-socket.service";

/**
 * What differs in the package: the place of the files, the folder, options from a variable, and a user that stays, so that
 * what the server has written belongs to somebody while it is stopped. `DynamicUser=yes` implies nothing that the unit does
 * not name itself.
 */
const CHANGES: readonly (readonly [from: string, to: string])[] = [
  ["# /etc/systemd/system/tidemark.service, without a socket unit: the server opens its ports itself.\n", ""],
  [
    "/usr/bin/node /opt/tidemark/current/node_modules/tidemark/dist/package/cli.mjs",
    "/usr/lib/tidemark/bin/node /usr/lib/tidemark/lib/cli.mjs",
  ],
  ["--cache /var/cache/tidemark", "--cache /var/lib/tidemark"],
  // The owner's options, from the file of `EnvironmentFile`: none without the variable (systemd.service(5)).
  ["--access-log /var/log/tidemark/access.log\n", "--access-log /var/log/tidemark/access.log $TIDEMARK_OPTIONS\n"],
  [
    "# A user that exists while the service runs, and folders that belong to it.\nDynamicUser=yes\n",
    "# Folders that belong to its user.\nUser=tidemark\n",
  ],
  ["CacheDirectory=tidemark\nCacheDirectoryMode=0700\n", "StateDirectory=tidemark\nStateDirectoryMode=0700\n"],
];

/** The package's unit. Throws a `ReleaseError` if the unit of the docs has changed where they differ. */
export function unitOfPackage(inDocs: string): string {
  return CHANGES.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new ReleaseError(`${UNIT_IN_DOCS} must have once: ${from}`);
    return text.replace(from, () => to);
  }, inDocs);
}
