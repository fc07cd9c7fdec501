import { hash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** Where this system keeps files in memory. */
const IN_MEMORY = "/dev/shm";
const NAME_IN_MEMORY = /^(tidemark-\d+-)[0-9a-f]{16}$/;
const OWNER = /^\d+-[0-9a-f]{8}$/;
const LOCK = /^[0-9a-f]{32}$/;
const SOCKET = ".socket";

/**
 * Where the workers of a machine that share a cache folder keep their locks, the best place first. A lock in memory
 * costs half as much as one on a disk. Containers may share the memory while their folders of the same path differ.
 */
export function placesForLocks(cacheFolder: string): readonly string[] {
  const inFolder = join(cacheFolder, "being-fetched");
  const inMemory = placeInMemory(cacheFolder);
  return inMemory === null ? [inFolder] : [inMemory, inFolder];
}

/** `null` if the folder is gone or its disk fails: the worker starts all the same. */
function placeInMemory(cacheFolder: string): string | null {
  const user = process.getuid?.() ?? 0;
  try {
    const { dev, ino } = statSync(cacheFolder, { bigint: true });
    const ofFolder = hash("sha256", `${dev}-${ino}`, "hex").slice(0, 16);
    return join(IN_MEMORY, `tidemark-${user}-${ofFolder}`);
  } catch {
    return null;
  }
}

/** The name of a key's lock. It has the same length for every key. */
export function lockNameOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, 32);
}

/**
 * Locks that processes share. A lock is a symbolic link whose text is the name of its owner: the kernel makes it in one
 * step, or says that there is one already. No code follows the link. Only its owner removes it, or one other process
 * once the owner is dead.
 *
 * Throws what the file system does.
 */
export class LockFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes the folder if it is missing. Throws if others could write there, because its content is trusted. */
  static open(path: string): LockFolder {
    unless("EEXIST", () => mkdirSync(path, 0o700));
    const { mode, uid } = lstatSync(path);
    const isOurs = (mode & 0o170077) === 0o040000 && uid === (process.getuid?.() ?? uid);
    if (!isOurs) throw new Error("it is not a folder that only this user can access");
    return new LockFolder(path);
  }

  /** The folder before it can be used. Only its path may be. */
  static at(path: string): LockFolder {
    return new LockFolder(path);
  }

  /** Whether workers of this user keep their locks there. */
  static isInUse(path: string): boolean {
    try {
      return readdirSync(LockFolder.open(path).path).some((name) => name.endsWith(SOCKET));
    } catch {
      return false; // nobody can
    }
  }

  /** The paths of this user's folders for other caches, if this one is in memory. */
  others(): string[] {
    const user = NAME_IN_MEMORY.exec(basename(this.path))?.[1];
    if (user === undefined) return [];
    const parent = dirname(this.path);
    const names = readdirSync(parent).filter((name) => NAME_IN_MEMORY.exec(name)?.[1] === user);
    return names.map((name) => join(parent, name)).filter((path) => path !== this.path);
  }

  /** The socket of an owner. While it answers, the owner is alive: the kernel closes it with the process. */
  socketOf(owner: string): string {
    return `${this.path}/${owner}${SOCKET}`;
  }

  /** Takes the lock if it is free. Returns its owner; `undefined` if that cannot be known. */
  take(name: string, owner: string): string | undefined {
    for (let tries = 0; tries < 3; tries++) {
      if (this.#make(name, owner)) return owner;
      const holder = this.#ownerOf(name);
      if (holder !== undefined) return holder;
    }
    return undefined;
  }

  /** Releases this worker's own lock. */
  release(name: string): void {
    unless("ENOENT", () => unlinkSync(`${this.path}/${name}`));
  }

  /** Takes a lock that belongs to no fetch, and releases it. Throws if it cannot: the folder may be full. */
  tryOut(owner: string): void {
    const name = lockNameOf(owner);
    this.take(name, owner);
    this.release(name);
  }

  isOf(name: string, owner: string): boolean {
    return this.#ownerOf(name) === owner;
  }

  /**
   * Removes the lock of an owner that has died. If several processes try at once, only one succeeds: otherwise the
   * second could remove the lock that the next owner has made meanwhile. Returns whether it is gone.
   */
  removeOfDead(name: string, dead: string, remover: string): boolean {
    const removal = `${name}.${dead}`;
    if (this.isOf(name, dead) && this.#make(removal, remover)) {
      if (this.isOf(name, dead)) this.release(name);
      this.release(removal);
    }
    return !this.isOf(name, dead);
  }

  /** Removes the locks and sockets of dead workers. */
  async sweep(remover: string, isAlive: (owner: string) => Promise<boolean>): Promise<void> {
    const names = readdirSync(this.path);
    const known = new Map<string, Promise<boolean>>();
    const isDead = async (owner: string | undefined) => {
      if (owner === undefined || owner === remover) return false;
      if (!known.has(owner)) known.set(owner, isAlive(owner));
      return !(await known.get(owner));
    };
    // Marks of removals come first: if the process that made one has died, the removal starts again.
    for (const name of names.filter((each) => LOCK.test(each.slice(0, 32)) && each[32] === ".")) {
      if ((await isDead(name.slice(33))) && (await isDead(this.#ownerOf(name)))) this.release(name);
    }
    for (const name of names.filter((each) => LOCK.test(each))) {
      const owner = this.#ownerOf(name);
      if (await isDead(owner)) this.removeOfDead(name, owner!, remover);
    }
    for (const name of names.filter((each) => each.endsWith(SOCKET))) {
      if (await isDead(name.slice(0, -SOCKET.length))) this.release(name);
    }
  }

  /** Removes the folder if it is empty. Returns whether it is gone. */
  leave(): boolean {
    try {
      rmdirSync(this.path);
      return true;
    } catch {
      return !existsSync(this.path); // others use it
    }
  }

  /** Returns whether it was not there. */
  #make(name: string, owner: string): boolean {
    return unless("EEXIST", () => symlinkSync(owner, `${this.path}/${name}`));
  }

  #ownerOf(name: string): string | undefined {
    let owner: string | undefined;
    unless("ENOENT", () => {
      owner = readlinkSync(`${this.path}/${name}`);
    });
    return owner !== undefined && OWNER.test(owner) ? owner : undefined;
  }
}

/** Whether it worked; `false` if it failed with this code. */
function unless(code: string, act: () => void): boolean {
  try {
    act();
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== code) throw cause;
    return false;
  }
}
