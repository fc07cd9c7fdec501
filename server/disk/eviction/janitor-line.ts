/** What a process did to the files of the cache. Plain data, for the supervisor's socket. */
export type DiskNote =
  /** Wrote a file, into room that it had asked for. */
  | { readonly kind: "put"; readonly file: string; readonly bytes: number }
  | { readonly kind: "hit"; readonly file: string }
  /** Deleted a file. */
  | { readonly kind: "gone"; readonly file: string }
  /** Reads a file bit by bit. It takes its room until `closed`, even if it is deleted before. */
  | { readonly kind: "opened"; readonly file: string; readonly bytes: number }
  | { readonly kind: "closed"; readonly file: string }
  /** Gives back room that it had asked for. */
  | { readonly kind: "unused"; readonly bytes: number }
  /** Of its room, drafts take so many bytes more; fewer once they are finished or deleted. */
  | { readonly kind: "draft"; readonly bytes: number };

/** The janitor, as a process that reads and writes files sees it. */
export interface JanitorLine {
  /**
   * Asks for room to write `bytes`, and for more if there is plenty. Resolves to the granted bytes, 0 for none, when
   * the janitor has processed all earlier notes. Never rejects.
   */
  ask(bytes: number, orUpTo: number): Promise<number>;
  tell(notes: readonly DiskNote[]): void;
}
