import { type DiskFiles, readAll } from "../disk-files.ts";

/**
 * Bounds how many files of pages are open for their readers: above that, those that were not read for longest give up their
 * descriptors until they are read again. Otherwise clients that read nothing could keep all other files from being opened.
 */
export class OpenPages {
  readonly #most: number;
  /** In the order of their last reads. */
  readonly #idle = new Set<PageFile>();
  #open = 0;

  /** `most`: `null` without a limit. */
  constructor(most: number | null) {
    this.#most = most ?? Number.POSITIVE_INFINITY;
  }

  opened(): void {
    this.#open++;
  }

  closed(file: PageFile): void {
    this.#open--;
    this.#idle.delete(file);
  }

  begins(file: PageFile): void {
    this.#idle.delete(file);
  }

  rests(file: PageFile): void {
    this.#idle.add(file);
    for (const idle of this.#idle) {
      if (this.#open <= this.#most) return;
      idle.giveUp();
    }
  }
}

/** A file of a page that is read piece by piece. */
export class PageFile {
  /** Whether the file may be another one by now, or gone. */
  wasClosed = false;
  readonly #files: DiskFiles;
  readonly #path: () => string;
  readonly #pages: OpenPages;
  #fd: number | null;

  /** `path`: where it is now. */
  constructor(files: DiskFiles, path: () => string, fd: number, pages: OpenPages) {
    this.#files = files;
    this.#path = path;
    this.#fd = fd;
    this.#pages = pages;
    pages.opened();
    pages.rests(this);
  }

  /** Returns how many bytes there were. */
  async read(into: Uint8Array, position: number): Promise<number> {
    this.#pages.begins(this);
    this.#fd ??= await this.#reopen();
    try {
      return await readAll(this.#files, this.#fd, into, into.length, position);
    } finally {
      this.#pages.rests(this);
    }
  }

  async #reopen(): Promise<number> {
    const fd = await this.#files.open(this.#path(), "r");
    this.#pages.opened();
    return fd;
  }

  giveUp(): void {
    this.wasClosed = true;
    this.close();
  }

  close(): void {
    if (this.#fd === null) return;
    this.#files.closeNow(this.#fd);
    this.#fd = null;
    this.#pages.closed(this);
  }
}
