import { DICTIONARY_CODINGS, type DictionaryCoding } from "../../worker/rules/deltas/available-dictionary.ts";
import { changedHead, type StoredHead, storedField } from "../../worker/rules/storing/stored-response.ts";
import type { Coding } from "../../worker/rules/variants/accept-encoding.ts";
import { codedFormFields, plainFormFields, weakFormFields } from "../../worker/rules/variants/coded-form.ts";
import type { FormName } from "./coded-files.ts";
import type { TimedUse } from "./deltas.ts";

/** The most heads of coded forms that are remembered for one response. */
const MAX_HEADS = 64;

/** The heads of a stored response's forms. Each is made once, because the fields of hits are remembered per head. */
export class HeadForms {
  readonly etag: string | null;
  readonly plain: StoredHead;
  /** `null` if it neither is a dictionary nor is compressed by one. */
  readonly use: TimedUse | null;
  readonly #stored: StoredHead;
  readonly #coded = new Map<FormName, StoredHead>();
  #weak: StoredHead | undefined;

  constructor(stored: StoredHead, use: TimedUse | null) {
    this.#stored = stored;
    this.use = use;
    this.etag = storedField(stored, "etag");
    this.plain = changedHead(stored, { fields: plainFormFields(stored.fields, this.#match) });
  }

  get #match(): string | null {
    return this.use?.match ?? null;
  }

  /** The plain form with the entity tag of the coded forms. */
  get weak(): StoredHead {
    this.#weak ??= changedHead(this.#stored, { fields: weakFormFields(this.#stored.fields, this.#match) });
    return this.#weak;
  }

  coded(form: FormName, bodyBytes: number): StoredHead {
    const held = this.#coded.get(form);
    if (held?.bodyBytes === bodyBytes) return held;
    const fields = codedFormFields(this.#stored.fields, codingOf(form), this.#match);
    const made = changedHead(this.#stored, { fields, bodyBytes });
    if (this.#coded.size >= MAX_HEADS) this.#coded.clear();
    this.#coded.set(form, made);
    return made;
  }
}

/** The coding of a form. */
export function codingOf(form: FormName): Coding | DictionaryCoding {
  return DICTIONARY_CODINGS.find((coding) => form.startsWith(coding)) ?? (form as Coding);
}
