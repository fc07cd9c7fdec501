import type { CodedRequest, Compression, FoundResponse } from "../../worker/ports/store.ts";
import type { DictionaryCoding } from "../../worker/rules/deltas/available-dictionary.ts";
import { readCacheDirectives } from "../../worker/rules/directives/cache-directives.ts";
import type { Fields } from "../../worker/rules/fields/fields.ts";
import { memoize } from "../../worker/rules/fields/memoize.ts";
import { type StoredHead, type StoredResponse, storedField } from "../../worker/rules/storing/stored-response.ts";
import { CODINGS, type Coding } from "../../worker/rules/variants/accept-encoding.ts";
import {
  heldForm,
  type StaysPlain,
  setFieldsOfForms,
  weakened,
  whyPlain,
} from "../../worker/rules/variants/coded-form.ts";
import { wantedCodings } from "../../worker/rules/variants/wanted-codings.ts";
import type { CompressionSettings } from "../../worker/site/compression-settings.ts";
import { LARGEST_SHARE } from "../../worker/store/memory-tier.ts";
import { within } from "../../worker/within.ts";
import type { CodedFiles, DictionaryFiles, FormName } from "./coded-files.ts";
import { Deltas, type TimedUse } from "./deltas.ts";
import { Dictionaries, type Dictionary } from "./dictionaries.ts";
import { DictionaryMemory } from "./dictionary-memory.ts";
import { directivesOf } from "./directives-of.ts";
import { codingsMadeHere, type Encode, encode } from "./encode.ts";
import { codingOf, HeadForms } from "./head-forms.ts";
import { MakingQueue } from "./making-queue.ts";

type Digest = (body: Uint8Array<ArrayBuffer>) => Promise<string>;

export interface CompressionParts {
  readonly settings: CompressionSettings;
  /** The memory for pages: a page leaves it if it takes more than an eighth together with its coded forms. */
  readonly memoryBytes: number;
  /** The coded forms on disk; `null` for none. */
  readonly files: (CodedFiles & DictionaryFiles) | null;
  /** The SHA-256 of a body, as base64url. */
  readonly digest?: Digest;
  readonly encode?: Encode;
  /** The queue that all sites of a process share. Default: this site has its own. */
  readonly queue?: MakingQueue;
  /** The memory for dictionaries that all sites of a process share. Default: this site has its own. */
  readonly dictionaries?: DictionaryMemory;
  /** The codings by dictionaries to use. Default: those of this Node. */
  readonly dictionaryCodings?: readonly DictionaryCoding[];
}

/** The most forms by dictionaries of one body. Beyond that, the oldest one leaves. */
const MAX_DELTAS = 32;

/** A coded form has to be smaller by this factor than what is sent without it, or it is not worth decoding. */
const WORTH = 0.9;

/** A page is sent plain if its coded form on disk takes longer than this to read: the disk may hang. Milliseconds. */
const MAX_READ_MS = 100;

/** The memory of an entry besides its body: more than any head takes. */
const HEAD_ROOM_BYTES = 256 * 1024;

/** A form to be made: in a coding, or in one by a dictionary. */
interface Form {
  readonly name: FormName;
  readonly dictionary: Dictionary | null;
}

const PLAINLY_CODED = {
  br: { name: "br", dictionary: null },
  gzip: { name: "gzip", dictionary: null },
  zstd: { name: "zstd", dictionary: null },
} as const satisfies Readonly<Record<Coding, Form>>;

/**
 * The state of one coding of a body: its bytes, a search for them on disk, that they are missing, that they are being
 * made, or that coding does not pay because the form is hardly smaller or too large for memory.
 */
type Known = CodedBytes | Promise<CodedBytes | undefined> | "absent" | "making" | "futile";

type CodedBytes = Uint8Array<ArrayBuffer>;

/** The coded forms of one body. */
interface FormsOfBody {
  readonly known: Map<FormName, Known>;
  bytes: number;
}

/**
 * Codes stored responses after their first answers, and keeps the results.
 *
 * Coded bytes belong to exactly the bytes from which they were made: in memory to the object that holds those, on disk to
 * their digest. So nothing that is purged, evicted or replaced, at whatever moment, leaves a coded form of old bytes
 * beside new ones; and a response that a 304 has freshened has the same bytes, and thereby the same forms.
 */
export class NodeCompression implements Compression {
  readonly #settings: CompressionSettings;
  readonly #maxHeldBytes: number;
  readonly #files: CodedFiles | null;
  readonly #digest: Digest;
  readonly #encode: Encode;
  readonly #queue: MakingQueue;
  readonly #bodies = new WeakMap<Uint8Array, FormsOfBody>();
  readonly #heads = new WeakMap<StoredHead, HeadForms | StaysPlain>();
  readonly #wanted: (field: string) => readonly Coding[];
  /** `null` where no route has `deltas`. */
  readonly #deltas: Deltas | null;

  constructor(parts: CompressionParts) {
    const { settings, memoryBytes, files, digest = sha256, encode: by = encode, queue = new MakingQueue() } = parts;
    this.#deltas = settings.deltas.size === 0 ? null : deltasOf(parts, digest);
    this.#settings = settings;
    this.#maxHeldBytes = memoryBytes * LARGEST_SHARE - HEAD_ROOM_BYTES;
    this.#files = files;
    this.#digest = digest;
    this.#encode = by;
    this.#queue = queue;
    this.#wanted = memoize((field) => wantedCodings(field, settings.codings));
  }

  formFor(request: CodedRequest, found: FoundResponse): FoundResponse | Promise<FoundResponse> {
    const forms = this.#formsOf(request, found.head);
    if (typeof forms === "string" || request.incoming.child) return found;
    const { body } = found;
    const isAdmitted =
      forms.use !== null && body instanceof Uint8Array && this.#deltas!.isAdmitted(request, body, forms.use);
    const held = heldForm(request.facts.field("if-none-match"), forms.etag);
    if (held !== null) return { head: held === "plain" ? forms.plain : forms.weak, body };
    const plain = { head: forms.plain, body };
    if (!(body instanceof Uint8Array)) return plain; // It streams from disk.
    const coded = this.#codedFor(request, found.head.key, body, forms);
    const delta = forms.use && this.#deltaFor(request, found.head.key, body, { use: forms.use, isAdmitted });
    if (delta === null) return coded ?? plain;
    const { byteLength: insteadOfBytes } = coded === null || coded instanceof Promise ? body : coded.body;
    if (delta.bytes.byteLength >= insteadOfBytes) return coded ?? plain;
    return { head: forms.coded(delta.name, delta.bytes.byteLength), body: delta.bytes, insteadOfBytes };
  }

  /**
   * The best coded form that exists, or that the disk may have; `null` for none. A form that the client prefers is made
   * after the answer.
   */
  #codedFor(
    request: CodedRequest,
    key: string,
    body: CodedBytes,
    forms: HeadForms,
  ): { readonly head: StoredHead; readonly body: CodedBytes } | Promise<FoundResponse> | null {
    const wanted = this.#wantedBy(request);
    const [best] = wanted;
    if (best === undefined) return null;
    const inForm = (coding: Coding, bytes: CodedBytes) => ({
      head: forms.coded(coding, bytes.byteLength),
      body: bytes,
    });
    const { known } = this.#of(body);
    const bestBytes = known.get(best);
    if (bestBytes instanceof Uint8Array) return inForm(best, bestBytes);
    const sought = this.#makeBehind(request, key, body, PLAINLY_CODED[best]);
    for (const coding of wanted) {
      const bytes = known.get(coding);
      if (bytes instanceof Uint8Array) return inForm(coding, bytes);
    }
    return sought?.then((bytes) => (bytes ? inForm(best, bytes) : { head: forms.plain, body })) ?? null;
  }

  /**
   * The form by the dictionary that the client holds, if it exists; otherwise it is made after the answer. Only
   * admitted bytes, which everybody may see, have one.
   */
  #deltaFor(
    request: CodedRequest,
    key: string,
    body: CodedBytes,
    { use, isAdmitted }: { readonly use: TimedUse; readonly isAdmitted: boolean },
  ): { readonly name: FormName; readonly bytes: CodedBytes } | null {
    const form = this.#refusesCodings(request) ? null : this.#deltas!.wantedBy(request, use);
    if (form === null || !isAdmitted) return null;
    const bytes = this.#of(body).known.get(form.name);
    if (bytes instanceof Uint8Array) return { name: form.name, bytes };
    this.#makeBehind(request, key, body, form);
    return null;
  }

  mark(request: CodedRequest, head: Omit<StoredHead, "bodyBytes" | "bodyKey">, fields: Fields): void {
    if (request.incoming.child) return;
    const length = fields.get("content-length");
    const bodyBytes = length === null ? null : Number(length);
    if (this.#whyPlain(head, bodyBytes) !== null) return;
    setFieldsOfForms(fields, this.#useOf(request, head, bodyBytes)?.match ?? null);
    const etag = fields.get("etag");
    // Then the answer is a 304, because the client holds the response that the origin has sent anew.
    if (etag !== null && heldForm(request.facts.field("if-none-match"), etag) === "weak") {
      fields.set("etag", weakened(etag));
    }
  }

  prepare(request: CodedRequest, stored: StoredResponse, isStored: Promise<unknown>): void {
    const { head, body } = stored;
    const { key } = head;
    const forms = body === null ? "size" : this.#formsOf(request, head);
    const use = typeof forms === "string" ? null : forms.use;
    if (use && body) request.background.run(this.#admit(request, stored, body, use));
    if (body !== null && this.#bodies.has(body)) return; // A 304 has freshened it.
    const isCoded = body !== null && typeof forms !== "string";
    const [best] = isCoded ? this.#wantedBy(request) : [];
    const dropped = this.#files && isStored.then(() => this.#dropOthers(key, isCoded ? body : null));
    if (dropped) request.background.run(dropped);
    if (best !== undefined && body)
      request.background.run(this.#make(request, key, body, PLAINLY_CODED[best], dropped));
  }

  /** Admits the bytes as a dictionary, and makes the form by a dictionary that the request would get. */
  async #admit(request: CodedRequest, stored: StoredResponse, body: CodedBytes, use: TimedUse): Promise<void> {
    if (request.incoming.child) return;
    const isAdmitted = await this.#deltas!.admit(request, stored, use);
    this.#deltaFor(request, stored.head.key, body, { use, isAdmitted });
  }

  explain(request: CodedRequest, found: FoundResponse): string {
    const { head, body } = found;
    const forms = this.#formsOf(request, head);
    if (typeof forms === "string") return forms;
    if (mayBePart(request)) return "part";
    const delta = forms.use && this.#deltas!.explain(request, found, forms.use);
    if (
      delta &&
      body instanceof Uint8Array &&
      this.#bodies.get(body)?.known.get(delta as FormName) instanceof Uint8Array
    ) {
      return codingOf(delta as FormName);
    }
    const wanted = this.#wantedBy(request);
    if (wanted.length === 0) return "not-wanted";
    if (!(body instanceof Uint8Array)) return `${wanted[0]}-if-made`;
    const known = this.#bodies.get(body)?.known;
    const made = wanted.find((coding) => known?.get(coding) instanceof Uint8Array);
    return made ?? (known?.get(wanted[0]!) === "futile" ? "not-smaller" : `${wanted[0]}-later`);
  }

  explainDelta(request: CodedRequest, found: FoundResponse): string | null {
    const { head } = found;
    const use = request.incoming.child ? null : (this.#deltas?.useOf(request, head, head.bodyBytes) ?? null);
    if (use === null) return null;
    const forms = this.#formsOf(request, head);
    return typeof forms === "string" ? forms : this.#deltas!.explain(request, found, use);
  }

  codedBytesOf(body: Uint8Array): number {
    return this.#bodies.get(body)?.bytes ?? 0;
  }

  /** The codings that a request wants. Parts are cut from the plain bytes, and a cache codes what it has itself. */
  #wantedBy(request: CodedRequest): readonly Coding[] {
    const accepted = request.facts.field("accept-encoding");
    return accepted === null || this.#refusesCodings(request) ? NONE : this.#wanted(accepted);
  }

  #refusesCodings(request: CodedRequest): boolean {
    if (request.incoming.child || mayBePart(request)) return true;
    const directives = request.facts.field("cache-control");
    // RFC 9111 §5.2.1.6.
    return directives !== null && (readCacheDirectives(directives) ?? []).some(({ name }) => name === "no-transform");
  }

  /**
   * Looks for a form on disk, and keeps it, or makes it if it is not there. Resolves to it, or to `undefined` after a
   * while, so that nothing is held for each request while the disk hangs. Never rejects.
   */
  #seek(request: CodedRequest, key: string, body: CodedBytes, form: Form): Promise<CodedBytes | undefined> {
    const sought = this.#readFile(key, body, form)
      .catch(() => undefined)
      .then((bytes) => {
        if (bytes === undefined) this.#of(body).known.set(form.name, "absent");
        else this.#keep(request, key, body, form, bytes);
        return bytes;
      });
    request.background.run(sought.then((bytes) => (bytes ? undefined : this.#make(request, key, body, form))));
    const soon = within(request.ports.clock, MAX_READ_MS, sought, () => undefined);
    const of = this.#of(body);
    if (form.dictionary) leaveRoomForDelta(of);
    of.known.set(form.name, soon);
    return soon;
  }

  /**
   * Makes a form, unless it exists, is being made, or is found on disk. Returns the search on disk if a form is known
   * to be there.
   */
  #makeBehind(
    request: CodedRequest,
    key: string,
    body: Uint8Array<ArrayBuffer>,
    form: Form,
  ): Promise<CodedBytes | undefined> | undefined {
    const known = this.#of(body).known.get(form.name);
    if (known === undefined && this.#files?.hasCoded(key, form.name)) return this.#seek(request, key, body, form);
    if (known === undefined || known === "absent") request.background.run(this.#make(request, key, body, form));
    return known instanceof Promise ? known : undefined;
  }

  /**
   * Looks on the disk first, unless that was done. `dropped` resolves when the forms of other bytes are deleted there.
   */
  async #make(
    request: CodedRequest,
    key: string,
    body: Uint8Array<ArrayBuffer>,
    form: Form,
    dropped: Promise<unknown> | null = null,
  ): Promise<void> {
    const of = this.#of(body);
    const { name } = form;
    const known = of.known.get(name);
    if (known !== undefined && known !== "absent") return;
    if (known === undefined && form.dictionary) leaveRoomForDelta(of);
    of.known.set(name, "making");
    let bytes: CodedBytes | null;
    try {
      if (dropped) await dropped;
      const found = known === undefined ? await this.#readFile(key, body, form) : undefined;
      if (found) {
        this.#keep(request, key, body, form, found);
        return;
      }
      bytes = await this.#queue.run(body.byteLength, () => this.#encodeAs(form, body));
    } catch (cause) {
      of.known.set(name, "absent");
      throw cause;
    }
    if (bytes === null) {
      of.known.set(name, "absent");
      return;
    }
    const isWorth = bytes.byteLength <= bytesWithout(form, body, of) * WORTH;
    if (!isWorth) {
      of.known.set(name, "futile");
      return;
    }
    if (!this.#keep(request, key, body, form, bytes) || this.#files === null) return;
    await this.#files.writeCoded(key, name, { digest: await this.#digestOf(body, form), bytes });
  }

  #encodeAs({ name, dictionary }: Form, body: CodedBytes): Promise<CodedBytes> {
    const { levels } = this.#settings;
    const coding = codingOf(name);
    if (dictionary === null) return this.#encode(coding, body, levels[coding as Coding]);
    return this.#encode(coding, body, coding === "dcb" ? levels.br : levels.zstd, dictionary);
  }

  /**
   * Keeps coded bytes with the body, and updates the weight of the body's entry if memory still holds it. Returns false
   * if they are too large for memory.
   */
  #keep(
    { ports }: CodedRequest,
    key: string,
    body: Uint8Array<ArrayBuffer>,
    form: Form,
    bytes: Uint8Array<ArrayBuffer>,
  ): boolean {
    const of = this.#of(body);
    if (body.byteLength + of.bytes + bytes.byteLength > this.#maxHeldBytes) {
      of.known.set(form.name, "futile");
      return false;
    }
    of.known.set(form.name, bytes);
    of.bytes += bytes.byteLength;
    ports.store.weighAgain(key);
    return true;
  }

  /** The form on disk, if it was made of these bytes. */
  async #readFile(key: string, body: Uint8Array<ArrayBuffer>, form: Form): Promise<CodedBytes | undefined> {
    if (!this.#files || this.#files.hasCoded(key, form.name) === false) return undefined;
    const [file, digest] = await Promise.all([this.#files.readCoded(key, form.name), this.#digestOf(body, form)]);
    return file?.digest === digest ? file.bytes : undefined;
  }

  /** The digest of the bytes from which a form is made. */
  async #digestOf(body: CodedBytes, { dictionary }: Form): Promise<string> {
    const digest = await this.#digest(body);
    return dictionary ? `${digest}.${dictionary.hash}` : digest;
  }

  /** Deletes the forms on disk that were not made of this body; `null` for all. */
  async #dropOthers(key: string, body: Uint8Array<ArrayBuffer> | null): Promise<void> {
    const files = this.#files;
    for (const coding of files ? CODINGS : []) {
      if (files!.hasCoded(key, coding) === false) continue;
      if (body !== null) {
        const file = await files!.readCoded(key, coding);
        if (!file || file.digest === (await this.#digest(body))) continue;
      }
      await files!.dropCoded(key, coding);
    }
  }

  #of(body: Uint8Array): FormsOfBody {
    const held = this.#bodies.get(body);
    if (held) return held;
    const made: FormsOfBody = { known: new Map(), bytes: 0 };
    this.#bodies.set(body, made);
    return made;
  }

  #formsOf(request: CodedRequest, head: StoredHead): HeadForms | StaysPlain {
    const held = this.#heads.get(head);
    if (held !== undefined) return held;
    const made =
      (head.bodyKey === null ? this.#whyPlain(head, head.bodyBytes) : "size") ??
      new HeadForms(head, this.#useOf(request, head, head.bodyBytes));
    this.#heads.set(head, made);
    return made;
  }

  /** What the head lets the response be a dictionary for; `null` for nothing. */
  #useOf(
    request: CodedRequest,
    head: Omit<StoredHead, "bodyBytes" | "bodyKey">,
    bodyBytes: number | null,
  ): TimedUse | null {
    const use = this.#deltas?.useOf(request, head, bodyBytes) ?? null;
    return typeof use === "string" ? null : use;
  }

  #whyPlain(head: Pick<StoredHead, "status" | "fields" | "hiddenFields">, bodyBytes: number | null): StaysPlain | null {
    const { status } = head;
    const field = (name: string) => storedField(head, name);
    return whyPlain({ status, field, directives: directivesOf(head), bodyBytes }, this.#settings);
  }
}

function deltasOf(parts: CompressionParts, digest: Digest): Deltas {
  const { settings, files, dictionaryCodings, dictionaries: memory } = parts;
  const dictionaries = new Dictionaries(files, memory ?? DictionaryMemory.besidePages(parts.memoryBytes), digest);
  return new Deltas(settings.deltas, dictionaries, digest, dictionaryCodings ?? codingsMadeHere());
}

const NONE: readonly Coding[] = [];

/** What is sent without the form, in bytes: for one by a dictionary, the smallest of the others that are known. */
function bytesWithout({ dictionary }: Form, body: CodedBytes, { known }: FormsOfBody): number {
  const others = dictionary ? CODINGS.map((coding) => known.get(coding)) : [];
  const made = others.filter((each) => each instanceof Uint8Array);
  return Math.min(body.byteLength, ...made.map(({ byteLength }) => byteLength));
}

/** Removes the oldest form by a dictionary if there are too many. */
function leaveRoomForDelta(of: FormsOfBody): void {
  const deltas = [...of.known].filter(([name]) => name.includes(" "));
  if (deltas.length < MAX_DELTAS) return;
  const oldest = deltas.find(([, known]) => known instanceof Uint8Array || known === "futile" || known === "absent");
  if (!oldest) return;
  of.known.delete(oldest[0]);
  if (oldest[1] instanceof Uint8Array) of.bytes -= oldest[1].byteLength;
}

/** Whether the answer may be a part. RFC 9110 §14.2: only for GET. */
function mayBePart({ facts }: CodedRequest): boolean {
  return facts.method === "GET" && facts.field("range") !== null;
}

async function sha256(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", body)).toString("base64url");
}
