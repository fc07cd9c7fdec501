/** Of one file. */
interface Reading<Line> {
  /** The processes, one for each time that they have it open. */
  readonly readers: Line[];
  /** Its bytes, if it was deleted or replaced, so that they are free once nobody reads it. */
  goneBytes: number | null;
  /** It was not in the index when it was opened: it was deleted, or stored by a process whose note comes later. */
  isGuess: boolean;
}

/** Who reads which files bit by bit. `Line`: that of a process. */
export class Readers<Line> {
  /** Who reads a file of this name: of each file that had it and is still read, the oldest first. */
  readonly #reading = new Map<string, Reading<Line>[]>();

  /** The names of the files. */
  get files(): Iterable<string> {
    return this.#reading.keys();
  }

  get isEmpty(): boolean {
    return this.#reading.size === 0;
  }

  /** The bytes of those that were deleted or replaced since. */
  get goneBytes(): number {
    let bytes = 0;
    for (const files of this.#reading.values()) for (const { goneBytes } of files) bytes += goneBytes ?? 0;
    return bytes;
  }

  /** `isGuess`: the file is not in the index. */
  begin(line: Line, file: string, bytes: number, isGuess: boolean): void {
    const files = this.#reading.get(file) ?? [];
    const newest = files.at(-1);
    if (newest && (newest.goneBytes === null || newest.isGuess)) newest.readers.push(line);
    else this.#reading.set(file, [...files, { readers: [line], goneBytes: isGuess ? bytes : null, isGuess }]);
  }

  /**
   * Ends a reading of the process: of several files that had the name, that of the one whose end frees least, so that nothing
   * counts as free that is still read. Returns false if it was not reading the file.
   */
  end(line: Line, file: string): boolean {
    const files = this.#reading.get(file) ?? [];
    const bytesFreed = ({ goneBytes }: Reading<Line>) => goneBytes ?? 0;
    const [ended] = files.filter(({ readers }) => readers.includes(line)).sort((a, b) => bytesFreed(a) - bytesFreed(b));
    if (!ended) return false;
    ended.readers.splice(ended.readers.indexOf(line), 1);
    const read = files.filter(({ readers }) => readers.length > 0);
    if (read.length > 0) this.#reading.set(file, read);
    else this.#reading.delete(file);
    return true;
  }

  /** A file was deleted or replaced: those who read it keep its bytes on the disk. */
  gone(file: string, bytes: number): void {
    const newest = this.#reading.get(file)?.at(-1);
    if (!newest || (newest.goneBytes !== null && !newest.isGuess)) return;
    newest.goneBytes = bytes;
    newest.isGuess = false;
  }
}
