import type { CodedFile, CodedFiles, DictionaryFile, DictionaryFiles, FormName } from "../compression/coded-files.ts";
import type { CacheFolder } from "./cache-folder.ts";
import { type FileKind, readWholeBody } from "./file-format.ts";
import type { FileStore } from "./file-store.ts";

/** The files of the compression: coded forms of entries, and dictionaries. */
export class CompressionFiles implements CodedFiles, DictionaryFiles {
  readonly #folder: CacheFolder;
  readonly #store: FileStore;

  constructor(folder: CacheFolder, store: FileStore) {
    this.#folder = folder;
    this.#store = store;
  }

  hasCoded(key: string, form: FormName): boolean | undefined {
    return this.#store.existsNow(this.#coded(key, form).name);
  }

  async readCoded(key: string, form: FormName): Promise<CodedFile | undefined> {
    const { name, kind } = this.#coded(key, form);
    const file = await this.#readWhole(name, kind);
    if (!file || file.head.slice(file.head.indexOf(" ") + 1) !== key) return undefined;
    return { digest: file.head.slice(0, file.head.indexOf(" ")), bytes: file.bytes };
  }

  async writeCoded(key: string, form: FormName, { digest, bytes }: CodedFile): Promise<void> {
    const entry = this.#folder.nameOf(key, "entry");
    const { name, kind } = this.#coded(key, form);
    await this.#store.changeInMemory(name, bytes, async () => {
      if (!(await this.#store.exists(entry))) return;
      await this.#store.write(name, kind, `${digest} ${key}`, bytes);
      if (!(await this.#store.exists(entry))) await this.#store.drop(name);
    });
  }

  async dropCoded(key: string, form: FormName): Promise<void> {
    await this.#store.dropInTurn(this.#coded(key, form).name);
  }

  hasDictionary(name: string): boolean | undefined {
    return this.#store.existsNow(this.#folder.nameOf(name, "dictionary"));
  }

  async readDictionary(name: string): Promise<DictionaryFile | undefined> {
    const file = await this.#readWhole(this.#folder.nameOf(name, "dictionary"), "dictionary");
    const [about, named] = file?.head.split("\n") ?? [];
    return file && about !== undefined && named === name ? { about, bytes: file.bytes } : undefined;
  }

  async writeDictionary(name: string, { about, bytes }: DictionaryFile): Promise<void> {
    const file = this.#folder.nameOf(name, "dictionary");
    await this.#store.changeInMemory(file, bytes, async () => {
      await this.#store.write(file, "dictionary", `${about}\n${name}`, bytes);
    });
  }

  async dropDictionary(name: string): Promise<void> {
    await this.#store.dropInTurn(this.#folder.nameOf(name, "dictionary"));
  }

  /**
   * A form by a dictionary has a file for each dictionary. Nobody lists these files, so the janitor removes them by
   * their use.
   */
  #coded(key: string, form: FormName): { readonly name: string; readonly kind: FileKind } {
    const [coding, dictionary] = form.split(" ") as [FileKind, string?];
    return { name: this.#folder.nameOf(dictionary === undefined ? key : `${key} ${dictionary}`, coding), kind: coding };
  }

  /** The head and the body of a file that is read at once. */
  async #readWhole(
    name: string,
    kind: FileKind,
  ): Promise<{ readonly head: string; readonly bytes: Uint8Array<ArrayBuffer> } | undefined> {
    try {
      const file = await this.#store.open(name, kind);
      try {
        const { head } = file;
        if (head === undefined) return await this.#store.drop(name);
        const whole = await file.readWhole();
        const body = whole && readWholeBody(whole, file.prefix);
        if (!whole || !body) return await this.#store.drop(name);
        this.#store.hit(name);
        return { head, bytes: new Uint8Array(whole.buffer as ArrayBuffer, body.byteOffset, body.length) };
      } finally {
        file.close();
      }
    } catch (cause) {
      return this.#store.missUnlessBug(cause);
    }
  }
}
