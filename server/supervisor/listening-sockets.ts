import { lookup } from "node:dns/promises";
import { chmodSync, existsSync, lstatSync, renameSync, rmSync, unlinkSync } from "node:fs";
import * as net from "node:net";
import { isIP } from "node:net";
import { dirname } from "node:path";
import { getSystemErrorName } from "node:util";
import { OwnerError } from "../../package/owner-error.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import type { Scheme } from "../connections/arrival.ts";
import { plainAddress } from "../connections/proxy-header.ts";

/** Where to listen. A host name stands for all its addresses. */
export type ListenAddress =
  /** `scheme`: `https` for TLS. Default: `http`. */
  | { readonly host: string; readonly port: number; readonly scheme?: Scheme }
  /** A Unix socket. `mode`: its permissions; default: everybody who can reach its folder may connect, as with nginx. */
  | { readonly path: string; readonly mode?: number };

export type HostAddress = Extract<ListenAddress, { host: string }>;

/** A socket that is open in this process, which accepts nothing from it. */
export interface HeldSocket {
  readonly address: string;
  readonly scheme: Scheme;
  readonly handle: Handle;
  /** Whether the file of a Unix socket is to be deleted once nobody listens. */
  readonly isOurs: boolean;
  close(): void;
  /** Closes it only in this process, because another process listens on it. */
  leave(): void;
}

/** A socket could not be opened. */
export class ListenError extends OwnerError {
  override readonly name = "ListenError";
  readonly code: string;
  readonly address: string;
  /** The message without advice. */
  readonly reason: string;

  /** `orphans`: workers of a server that has died, one of which may be listening there. */
  constructor(address: string, code: string, orphans: readonly number[] = []) {
    const words = address.startsWith("/") ? { ...WORDS, ...WORDS_OF_PATHS } : WORDS;
    const reason = `Cannot listen on ${address}: ${words[code] ?? code}.`;
    const pids = orphans.join(" ");
    const which = pids === "" ? "Stop it" : `Workers of an earlier server still run: end them by kill -9 ${pids}`;
    super(code === "EADDRINUSE" ? `${reason} ${which}, or choose another address with --listen.` : reason);
    this.code = code;
    this.address = address;
    this.reason = reason;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another process is listening there",
  EACCES: "this user may not; ports below 1024 need a privilege, like CAP_NET_BIND_SERVICE",
  EADDRNOTAVAIL: "this machine does not have that address",
  EAFNOSUPPORT: "this machine has no such addresses",
  ENOENT: "its folder does not exist",
  EROFS: "the disk cannot be written",
  ENOTFOUND: "that name has no address",
  EAI_AGAIN: "that name could not be looked up",
};

/** What the same codes mean for a Unix socket. */
const WORDS_OF_PATHS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write in its folder",
  EPERM:
    "this user may not use the socket that is there; delete it if nobody listens on it, or choose another address with " +
    "--listen",
  ENOTSOCK: "there is a file that is not a socket",
  // Four bytes less than the least that a system takes: it is bound under another name first.
  EINVAL: "the path is too long for a Unix socket; choose one of at most 99 bytes",
};

const ANYBODY_MAY_CONNECT = 0o666;

/** The pause between two attempts, and the longest time, while workers of a supervisor that has died still listen. */
const TRY_AGAIN_MS = 50;
const TRY_WITHIN_MS = 10_000;

export interface Handle {
  close(): void;
  getsockname?(into: { address?: string; port?: number; family?: string }): number;
}

/**
 * Node's own cluster module makes the sockets that it shares with its workers by this call, which binds a socket and does
 * not accept from it. The public API has no such call: a `net.Server` accepts from the moment on which it listens.
 */
type CreateServerHandle = (
  address: string | null,
  port: number,
  addressType: number,
  fd?: number,
  flags?: number,
) => unknown;

/**
 * Opens all sockets, or none. `isLastOneEnding`: whether workers of a supervisor that has died may still be listening, so
 * that it is worth trying again. `orphans`: their processes, as far as the system tells.
 */
export async function openSockets(
  addresses: readonly ListenAddress[],
  clock: Clock,
  isLastOneEnding: () => boolean,
  orphans: () => readonly number[] = () => [],
): Promise<HeldSocket[]> {
  const held: HeldSocket[] = [];
  try {
    for (const address of addresses) held.push(...(await openAddress(address, clock, isLastOneEnding, orphans)));
    return held;
  } catch (cause) {
    for (const socket of held) socket.close();
    throw cause;
  }
}

/** Who listens there may be this server; it may run as a user who may use the port; systemd may make the folder for it. */
const MAY_BE_OPENED = ["EADDRINUSE", "EACCES", "EPERM", "ENOENT"];

/**
 * Why these addresses could not be opened now. Opens none for longer than a moment, and makes no files. Throws a `ListenError`
 * for one that the server could never open here.
 */
export async function whyNotOpened(addresses: readonly ListenAddress[]): Promise<string[]> {
  const why: string[] = [];
  for (const address of addresses) {
    try {
      if ("path" in address) await inWords(address.path, expectFreePath(address.path));
      else for (const socket of await openHost(address)) socket.close();
    } catch (cause) {
      if (!(cause instanceof ListenError && MAY_BE_OPENED.includes(cause.code))) throw cause;
      why.push(cause.reason);
    }
  }
  return why;
}

async function openAddress(
  address: ListenAddress,
  clock: Clock,
  isLastOneEnding: () => boolean,
  orphans: () => readonly number[],
): Promise<HeldSocket[]> {
  for (let triedMs = 0, wasEnding = false; ; triedMs += TRY_AGAIN_MS) {
    // Asked before the attempt, because a process may end just after it. It lets go of its lock before its sockets, so
    // there is one more attempt after the last one has ended.
    const isEnding = isLastOneEnding();
    try {
      if (!("path" in address)) return await openHost(address);
      return [await inWords(address.path, openPath(address.path, address.mode))];
    } catch (cause) {
      const isInUse = cause instanceof ListenError && cause.code === "EADDRINUSE";
      if (!isInUse || !(isEnding || wasEnding)) throw cause;
      if (triedMs >= TRY_WITHIN_MS) throw new ListenError(cause.address, cause.code, orphans());
    }
    wasEnding = isEnding;
    await clock.wait(TRY_AGAIN_MS).over;
  }
}

/**
 * The first two addresses of which the system would let a worker listen on one only; it lets this process bind both.
 * `null` if there are none. Port 0 is another one each time.
 */
export async function overlap(listen: readonly ListenAddress[]): Promise<[ListenAddress, ListenAddress] | null> {
  const bound = await Promise.all(listen.map(boundFor));
  for (const [at, second] of bound.entries()) {
    const before = bound.slice(0, at).findIndex((first) => first.some((a) => second.some((b) => areOne(a, b))));
    if (before !== -1) return [listen[before]!, listen[at]!];
  }
  return null;
}

interface Bound {
  readonly address: string;
  readonly family: number;
  /** `null` for the path of a Unix socket. */
  readonly port: number | null;
}

/** Of a name without an address, none: who opens it tells its owner. */
async function boundFor(listen: ListenAddress): Promise<readonly Bound[]> {
  if ("path" in listen) return [{ address: listen.path, family: 0, port: null }];
  const { host, port } = listen;
  if (port === 0) return [];
  const found = await addressesOf(host).catch(() => []);
  return found.map(({ address, family }) => ({ ...spelledAlike(address, family), port }));
}

/** One of IPv6 may be spelled in several ways, and be one of IPv4. RFC 4291 §2.2, §2.5.5.2. */
function spelledAlike(address: string, family: number): Omit<Bound, "port"> {
  if (family !== 6 || address.includes("%")) return { address, family };
  const alike = plainAddress(address);
  return { address: alike, family: isIP(alike) };
}

/** Here `::` is every address of IPv4 as well. */
function areOne(a: Bound, b: Bound): boolean {
  const includes = (one: Bound, other: Bound) =>
    one.address === "::" || (one.address === "0.0.0.0" && other.family === 4) || one.address === other.address;
  return a.port === b.port && (includes(a, b) || includes(b, a));
}

async function openHost({ host, port, scheme = "http" }: HostAddress): Promise<HeldSocket[]> {
  const found = await addressesOf(host);
  const held: HeldSocket[] = [];
  const missing: ListenError[] = [];
  for (const { address, family } of found) {
    try {
      // For port 0 the system chooses one, and all addresses of a name share it.
      held.push({ ...openTcp(address, port || portOf(held[0]), family), scheme });
    } catch (cause) {
      const isMissing = cause instanceof ListenError && ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(cause.code);
      if (!isMissing) {
        for (const socket of held) socket.close();
        throw cause;
      }
      missing.push(cause); // `localhost` often stands for ::1 where the machine has no IPv6
    }
  }
  if (held.length === 0 && host === "::") return openHost({ host: "0.0.0.0", port, scheme }); // no IPv6, as in some containers
  if (held.length === 0) throw missing[0] ?? new ListenError(`${host}:${port}`, "EADDRNOTAVAIL");
  return held;
}

async function addressesOf(host: string): Promise<readonly { address: string; family: number }[]> {
  if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
  try {
    return await lookup(host, { all: true });
  } catch (cause) {
    throw new ListenError(host, (cause as NodeJS.ErrnoException).code ?? String(cause));
  }
}

function openTcp(address: string, port: number, family: number): HeldSocket {
  const asked = `${family === 6 ? `[${address}]` : address}:${port}`;
  const handle = bound(asked, address, port, family);
  const name: { port?: number } = {};
  // An error of binding may show only here.
  const failed = handle.getsockname!(name);
  if (failed !== 0) {
    handle.close();
    throw new ListenError(asked, getSystemErrorName(failed));
  }
  return heldSocket(asked.replace(/\d+$/, String(name.port)), handle, false);
}

/** A socket by its handle, which may have come from another process. */
export function heldSocket(address: string, handle: Handle, isOurs: boolean, scheme: Scheme = "http"): HeldSocket {
  const leave = () => handle.close();
  const file = isOurs ? fileAt(address) : undefined;
  const close = () => {
    const isStillOurs = file !== undefined && fileAt(address) === file; // otherwise another server may have taken its place
    leave();
    if (isStillOurs) rmSync(address, { force: true });
  };
  return { address, scheme, handle, isOurs, close, leave };
}

/** Which file is there, by the numbers of its device and its own; `undefined` if there is none. */
function fileAt(path: string): string | undefined {
  const there = lstatSync(path, { throwIfNoEntry: false });
  return there && `${there.dev} ${there.ino}`;
}

/** A socket that was open when this process started. `name` is for a socket that does not tell its address. */
export function socketOfDescriptor(descriptor: number, name: string, scheme: Scheme): HeldSocket {
  let handle: Handle | number;
  try {
    handle = createServerHandle()(null, 0, -1, descriptor) as Handle | number;
  } catch {
    throw new ListenError(name, "ENOTSOCK");
  }
  if (typeof handle === "number") throw new ListenError(name, getSystemErrorName(handle));
  const found: { address?: string; port?: number; family?: string } = {};
  const isTcp = handle.getsockname?.(found) === 0 && found.port !== undefined;
  const host = found.family === "IPv6" ? `[${found.address}]` : found.address;
  return heldSocket(isTcp ? `${host}:${found.port}` : name, handle, false, scheme);
}

function portOf(socket: HeldSocket | undefined): number {
  return Number(socket?.address.split(":").at(-1) ?? 0);
}

/** The same, with a `ListenError` in place of an error of the system. */
async function inWords<Result>(path: string, opening: Promise<Result>): Promise<Result> {
  try {
    return await opening;
  } catch (cause) {
    const { code, path: refused = path } = cause as NodeJS.ErrnoException;
    throw cause instanceof ListenError || code === undefined ? cause : new ListenError(refused, code);
  }
}

/** Throws a `ListenError` if the path cannot be listened on. */
async function expectFreePath(path: string): Promise<void> {
  if (!existsSync(dirname(path))) throw new ListenError(path, "ENOENT"); // the system says EACCES
  if (existsSync(path) && !isSocket(path)) throw new ListenError(path, "ENOTSOCK");
  if (isSocket(path) && (await isListenedTo(path))) throw new ListenError(path, "EADDRINUSE");
}

async function openPath(path: string, mode = ANYBODY_MAY_CONNECT): Promise<HeldSocket> {
  await expectFreePath(path);
  if (isSocket(path)) unlinkSync(path); // its process has died
  // A socket that is bound under another name can be closed here while another process listens on it: the system's
  // library deletes the name that it has bound.
  const boundAs = `${path}.new`;
  rmSync(boundAs, { force: true });
  const handle = bound(path, boundAs, -1, -1);
  chmodSync(boundAs, mode);
  renameSync(boundAs, path);
  return heldSocket(path, handle, true);
}

function bound(asked: string, address: string, port: number, family: number): Handle {
  const handle = createServerHandle()(address, port, family, -1, 0);
  if (typeof handle === "number") throw new ListenError(asked, getSystemErrorName(handle));
  return handle as Handle;
}

function createServerHandle(): CreateServerHandle {
  const create = (net as unknown as { _createServerHandle?: CreateServerHandle })._createServerHandle;
  if (create === undefined) throw new Error("This runtime cannot share listening sockets: run tidemark serve on Node.");
  return create;
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}

async function isListenedTo(path: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const socket = net.connect(path);
  socket.on("connect", () => resolve(true));
  socket.on("error", ({ code }: NodeJS.ErrnoException) => {
    // This user cannot find out.
    if (code === "EACCES") reject(new ListenError(path, "EPERM"));
    else resolve(code !== "ECONNREFUSED");
  });
  const isThere = await promise;
  socket.destroy();
  return isThere;
}
