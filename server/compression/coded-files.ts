import type { BodyHash, DictionaryCoding } from "../../worker/rules/deltas/available-dictionary.ts";
import type { Coding } from "../../worker/rules/variants/accept-encoding.ts";

/** A form of a body: in a coding, or in one by a dictionary, whose hash follows. */
export type FormName = Coding | `${DictionaryCoding} ${BodyHash}`;

/** A coded form on disk. */
export interface CodedFile {
  /** The digest of the plain bytes from which it was made and, after a dot, that of the dictionary. */
  readonly digest: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The coded forms of entries on disk, beside the entries. A form that cannot be read counts as absent. */
export interface CodedFiles {
  /** Whether there is a coded form; `undefined` if the check would probably wait for the disk. */
  hasCoded(key: string, form: FormName): boolean | undefined;
  readCoded(key: string, form: FormName): Promise<CodedFile | undefined>;
  /** Writes the form beside the entry. Does nothing if the entry is gone. */
  writeCoded(key: string, form: FormName, file: CodedFile): Promise<void>;
  dropCoded(key: string, form: FormName): Promise<void>;
}

/** A dictionary on disk. */
export interface DictionaryFile {
  /** Its description, on one line. */
  readonly about: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * The dictionaries on disk. Their names hold everything that distinguishes them. A dictionary that cannot be read
 * counts as absent.
 */
export interface DictionaryFiles {
  /** Whether there is one; `undefined` if the check would probably wait for the disk. */
  hasDictionary(name: string): boolean | undefined;
  readDictionary(name: string): Promise<DictionaryFile | undefined>;
  writeDictionary(name: string, file: DictionaryFile): Promise<void>;
  dropDictionary(name: string): Promise<void>;
}
