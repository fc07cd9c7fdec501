import { randomBytes } from "node:crypto";
import { tokenWeakness } from "../../worker/control/access/tokens.ts";
import { type OriginAddress, readOriginAddress } from "../origin/origin-address.ts";
import { ServerError } from "./server-error.ts";

/** The server that is asked in place of the origin, and the token with which it is asked. */
export interface ParentSettings {
  readonly address: OriginAddress;
  readonly token: string;
}

export interface ParentOptions {
  /** As its owner names it; `null` for none. */
  readonly parent: string | null;
  /** Its token with the scope `parent`; `null` if none is set. */
  readonly parentToken: string | null;
  /** The log that machines share; `null` for a log of its own. */
  readonly log: string | null;
  readonly hasSeveralSites: boolean;
}

/** This server in `CDN-Loop`. Nobody else can have it, and it ends with the server. */
export const NODE = randomBytes(6).toString("hex");

/** The parent, with everything that it needs. Throws a `ServerError` if that cannot work. */
export function readParentSettings({
  parent,
  parentToken,
  log,
  hasSeveralSites,
}: ParentOptions): ParentSettings | null {
  if (parent === null) return null;
  const address = readOriginAddress(parent);
  if (address === null || !isBare(address.url)) {
    // It may hold a password, which the message does not repeat.
    if (address !== null && hasCredentials(address.url)) {
      throw new ServerError(
        "the parent's address has a user or password, but the parent needs a token: set TIDEMARK_PARENT_TOKEN instead.",
      );
    }
    throw new ServerError(`the parent ${JSON.stringify(parent)} is not like https://shield.example.com`);
  }
  if (hasSeveralSites) throw new ServerError("--parent works with one site, not with --sites.");
  if (log === null) {
    throw new ServerError(
      "--parent needs --log, because a parent and its children share one purge log: --log postgres://user@host/database",
    );
  }
  if (parentToken === null) {
    throw new ServerError(
      "--parent needs TIDEMARK_PARENT_TOKEN in the environment: a token that has the scope parent in the parent's TIDEMARK_TOKENS.",
    );
  }
  const weakness = tokenWeakness(parentToken);
  if (weakness !== null) throw new ServerError(`TIDEMARK_PARENT_TOKEN ${weakness}`);
  return { address, token: parentToken };
}

/** Whether nothing follows the host, and nothing stands before it. */
function isBare(url: string): boolean {
  const { href, origin } = new URL(url);
  return href === `${origin}/`;
}

function hasCredentials(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== "" || password !== "";
}

export function isReadableOnTheWay({ url, socketPath }: OriginAddress): boolean {
  const { protocol, hostname } = new URL(url);
  return socketPath === null && protocol === "http:" && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}
