import type { Coding } from "../../worker/rules/variants/accept-encoding.ts";

/** A coded form on disk. */
export interface CodedFile {
  /** Of the plain bytes that it was made of. */
  readonly digest: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The coded forms of entries on disk, beside the entries. What cannot be read is not there. */
export interface CodedFiles {
  /** Whether there is a coded form; `undefined` if a look for it is likely to wait for the disk. */
  hasCoded(key: string, coding: Coding): boolean | undefined;
  readCoded(key: string, coding: Coding): Promise<CodedFile | undefined>;
  /** Writes the form beside the entry. Does nothing if that is gone. */
  writeCoded(key: string, coding: Coding, file: CodedFile): Promise<void>;
  dropCoded(key: string, coding: Coding): Promise<void>;
}
