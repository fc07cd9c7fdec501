import type { CodedRequest, Compression, FoundResponse } from "../../worker/ports/store.ts";
import { readCacheDirectives } from "../../worker/rules/directives/cache-directives.ts";
import { type Fields, inPairs } from "../../worker/rules/fields/fields.ts";
import { memoize } from "../../worker/rules/fields/memoize.ts";
import {
  changedHead,
  type StoredHead,
  type StoredResponse,
  storedField,
} from "../../worker/rules/storing/stored-response.ts";
import { CODINGS, type Coding } from "../../worker/rules/variants/accept-encoding.ts";
import {
  codedFormFields,
  heldForm,
  plainFormFields,
  type StaysPlain,
  variedBy,
  weakened,
  weakFormFields,
  whyPlain,
} from "../../worker/rules/variants/coded-form.ts";
import { wantedCodings } from "../../worker/rules/variants/wanted-codings.ts";
import type { CompressionSettings } from "../../worker/site/compression-settings.ts";
import { LARGEST_SHARE } from "../../worker/store/memory-tier.ts";
import { within } from "../../worker/within.ts";
import type { CodedFiles } from "./coded-files.ts";
import { type Encode, encode } from "./encode.ts";
import { MakingQueue } from "./making-queue.ts";

export interface CompressionParts {
  readonly settings: CompressionSettings;
  /** The memory for pages: a page leaves it if it takes more than an eighth together with its coded forms. */
  readonly memoryBytes: number;
  /** The coded forms on disk; `null` for none. */
  readonly files: CodedFiles | null;
  /** A digest of a body that no other body has. */
  readonly digest?: (body: Uint8Array<ArrayBuffer>) => Promise<string>;
  readonly encode?: Encode;
  /** The turns that all sites of a process share. Default: this one has its own. */
  readonly queue?: MakingQueue;
}

/** A coded form has to be smaller than the plain one by this factor, or it is not worth decoding. */
const WORTH = 0.9;

/** A page is sent plain if its coded form on disk takes longer to read: the disk may hang. Milliseconds. */
const MAX_READ_MS = 100;

/** The room of an entry in memory that is not its body: more than any head takes. */
const HEAD_ROOM_BYTES = 256 * 1024;

/**
 * What is known of one coding of a body: its bytes, the search for them on disk, that they are not there, that they are
 * being made, or that coding does not pay: the form is hardly smaller, or too large for memory.
 */
type Known = CodedBytes | Promise<CodedBytes | undefined> | "absent" | "making" | "futile";

type CodedBytes = Uint8Array<ArrayBuffer>;

/** The coded forms of one body. */
interface FormsOfBody {
  readonly known: Map<Coding, Known>;
  bytes: number;
}

/**
 * Codes stored responses behind their first answers, and keeps what it has made.
 *
 * Coded bytes belong to the very bytes that they were made of: in memory to the object that holds those, and on disk to
 * their digest. So nothing that is purged, evicted or replaced, at whatever moment, leaves a coded form of old bytes
 * beside new ones; and a response that a 304 has freshened has the same bytes, and thereby the same forms.
 */
export class NodeCompression implements Compression {
  readonly #settings: CompressionSettings;
  readonly #maxHeldBytes: number;
  readonly #files: CodedFiles | null;
  readonly #digest: (body: Uint8Array<ArrayBuffer>) => Promise<string>;
  readonly #encode: Encode;
  readonly #queue: MakingQueue;
  readonly #bodies = new WeakMap<Uint8Array, FormsOfBody>();
  readonly #heads = new WeakMap<StoredHead, HeadForms | StaysPlain>();
  readonly #wanted: (field: string) => readonly Coding[];

  constructor(parts: CompressionParts) {
    const { settings, memoryBytes, files, digest = sha256, encode: by = encode, queue = new MakingQueue() } = parts;
    this.#settings = settings;
    this.#maxHeldBytes = memoryBytes * LARGEST_SHARE - HEAD_ROOM_BYTES;
    this.#files = files;
    this.#digest = digest;
    this.#encode = by;
    this.#queue = queue;
    this.#wanted = memoize((field) => wantedCodings(field, settings.codings));
  }

  formFor(request: CodedRequest, found: FoundResponse): FoundResponse | Promise<FoundResponse> {
    const forms = this.#formsOf(found.head);
    if (typeof forms === "string" || request.incoming.child) return found;
    const { body } = found;
    const held = heldForm(request.facts.field("if-none-match"), forms.etag);
    if (held !== null) return { head: held === "plain" ? forms.plain : forms.weak, body };
    const plain = { head: forms.plain, body };
    if (!(body instanceof Uint8Array)) return plain; // It streams from disk.
    const wanted = this.#wantedBy(request);
    const [best] = wanted;
    if (best === undefined) return plain;
    const inForm = (coding: Coding, bytes: CodedBytes) => ({
      head: forms.coded(coding, bytes.byteLength),
      body: bytes,
    });
    const { known } = this.#of(body);
    const bestBytes = known.get(best);
    if (bestBytes instanceof Uint8Array) return inForm(best, bestBytes);
    const sought = this.#makeBehind(request, found.head.key, body, best);
    for (const coding of wanted) {
      const bytes = known.get(coding);
      if (bytes instanceof Uint8Array) return inForm(coding, bytes);
    }
    if (!sought) return plain;
    const soon = within(request.ports.clock, MAX_READ_MS, sought, () => undefined);
    return soon.then((bytes) => (bytes ? inForm(best, bytes) : plain));
  }

  mark({ facts, incoming }: CodedRequest, head: Omit<StoredHead, "bodyBytes" | "bodyKey">, fields: Fields): void {
    if (incoming.child) return;
    const length = fields.get("content-length");
    if (this.#whyPlain(head, length === null ? null : Number(length)) !== null) return;
    fields.set("vary", variedBy(fields.get("vary")));
    const etag = fields.get("etag");
    // Then the answer is a 304, because the client holds the response that the origin has sent anew.
    if (etag !== null && heldForm(facts.field("if-none-match"), etag) === "weak") fields.set("etag", weakened(etag));
  }

  prepare(request: CodedRequest, { head, body }: StoredResponse, isStored: Promise<unknown>): void {
    const { key } = head;
    if (body !== null && this.#bodies.has(body)) return; // A 304 has freshened it.
    const isCoded = body !== null && typeof this.#formsOf(head) !== "string";
    const [best] = isCoded ? this.#wantedBy(request) : [];
    const dropped = this.#files && isStored.then(() => this.#dropOthers(key, isCoded ? body : null));
    if (dropped) request.background.run(dropped);
    if (best !== undefined && body) request.background.run(this.#make(request, key, body, best, dropped));
  }

  explain(request: CodedRequest, { head, body }: FoundResponse): string {
    const forms = this.#formsOf(head);
    if (typeof forms === "string") return forms;
    if (mayBePart(request)) return "part";
    const wanted = this.#wantedBy(request);
    if (wanted.length === 0) return "not-wanted";
    if (!(body instanceof Uint8Array)) return `${wanted[0]}-if-made`;
    const known = this.#bodies.get(body)?.known;
    const made = wanted.find((coding) => known?.get(coding) instanceof Uint8Array);
    return made ?? (known?.get(wanted[0]!) === "futile" ? "not-smaller" : `${wanted[0]}-later`);
  }

  codedBytesOf(body: Uint8Array): number {
    return this.#bodies.get(body)?.bytes ?? 0;
  }

  /** The codings that a request wants. Parts are cut from the plain bytes, and a cache codes what it has itself. */
  #wantedBy(request: CodedRequest): readonly Coding[] {
    const { facts, incoming } = request;
    const accepted = facts.field("accept-encoding");
    if (accepted === null || incoming.child || mayBePart(request)) return NONE;
    const directives = facts.field("cache-control");
    // RFC 9111 §5.2.1.6.
    if (directives !== null && (readCacheDirectives(directives) ?? []).some(({ name }) => name === "no-transform")) {
      return NONE;
    }
    return this.#wanted(accepted);
  }

  /** Keeps what is found on disk. The promise never rejects. */
  #seek(
    request: CodedRequest,
    key: string,
    body: CodedBytes,
    coding: Coding,
    reading: Promise<CodedBytes | undefined>,
  ): Promise<CodedBytes | undefined> {
    const sought = reading
      .catch(() => undefined)
      .then((bytes) => {
        if (bytes === undefined) this.#of(body).known.set(coding, "absent");
        else this.#keep(request, key, body, coding, bytes);
        return bytes;
      });
    this.#of(body).known.set(coding, sought);
    return sought;
  }

  /**
   * Makes a form, unless it is there, is being made, or is found on disk. Returns the search for it there, if it is known
   * that there is one.
   */
  #makeBehind(
    request: CodedRequest,
    key: string,
    body: Uint8Array<ArrayBuffer>,
    coding: Coding,
  ): Promise<CodedBytes | undefined> | undefined {
    const make = () => this.#make(request, key, body, coding);
    let known = this.#of(body).known.get(coding);
    if (known === undefined && this.#files?.hasCoded(key, coding)) {
      known = this.#seek(request, key, body, coding, this.#readFile(key, body, coding));
    }
    if (known === undefined || known === "absent") request.background.run(make());
    if (!(known instanceof Promise)) return undefined;
    request.background.run(known.then((bytes) => (bytes ? undefined : make())));
    return known;
  }

  /** Looks on the disk first, if nobody has done so. `dropped` resolves when the forms of other bytes have left it. */
  async #make(
    request: CodedRequest,
    key: string,
    body: Uint8Array<ArrayBuffer>,
    coding: Coding,
    dropped: Promise<unknown> | null = null,
  ): Promise<void> {
    const of = this.#of(body);
    const known = of.known.get(coding);
    if (known !== undefined && known !== "absent") return;
    of.known.set(coding, "making");
    let bytes: CodedBytes | null;
    try {
      if (dropped) await dropped;
      const found = known === undefined ? await this.#readFile(key, body, coding) : undefined;
      if (found) return this.#keep(request, key, body, coding, found);
      bytes = await this.#queue.run(body.byteLength, () => this.#encode(coding, body, this.#settings.levels[coding]));
    } catch (cause) {
      of.known.set(coding, "absent");
      throw cause;
    }
    if (bytes === null) {
      of.known.set(coding, "absent");
      return;
    }
    const isWorth = bytes.byteLength <= body.byteLength * WORTH;
    if (!isWorth || body.byteLength + of.bytes + bytes.byteLength > this.#maxHeldBytes) {
      of.known.set(coding, "futile");
      return;
    }
    this.#keep(request, key, body, coding, bytes);
    if (this.#files === null) return;
    await this.#files.writeCoded(key, coding, { digest: await this.#digest(body), bytes });
  }

  /** Keeps coded bytes with the body, and weighs the body's entry anew, if memory still holds that. */
  #keep(
    { ports }: CodedRequest,
    key: string,
    body: Uint8Array<ArrayBuffer>,
    coding: Coding,
    bytes: Uint8Array<ArrayBuffer>,
  ): void {
    const of = this.#of(body);
    of.known.set(coding, bytes);
    of.bytes += bytes.byteLength;
    ports.store.weighAgain(key);
  }

  /** The form on disk, if it was made of these bytes. */
  async #readFile(key: string, body: Uint8Array<ArrayBuffer>, coding: Coding): Promise<CodedBytes | undefined> {
    if (!this.#files || this.#files.hasCoded(key, coding) === false) return undefined;
    const [file, digest] = await Promise.all([this.#files.readCoded(key, coding), this.#digest(body)]);
    return file?.digest === digest ? file.bytes : undefined;
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

  #formsOf(head: StoredHead): HeadForms | StaysPlain {
    const held = this.#heads.get(head);
    if (held !== undefined) return held;
    const made = (head.bodyKey === null ? this.#whyPlain(head, head.bodyBytes) : "size") ?? new HeadForms(head);
    this.#heads.set(head, made);
    return made;
  }

  #whyPlain(head: Pick<StoredHead, "status" | "fields" | "hiddenFields">, bodyBytes: number | null): StaysPlain | null {
    const directives = [...inPairs(head.fields), ...inPairs(head.hiddenFields)].flatMap(([name, value]) =>
      name.endsWith("cache-control") || name === "surrogate-control" ? [value] : [],
    );
    const { status } = head;
    return whyPlain({ status, field: (name) => storedField(head, name), directives, bodyBytes }, this.#settings);
  }
}

const NONE: readonly Coding[] = [];

/** The heads of a stored response's forms. They are made once, because the fields of hits are remembered by heads. */
class HeadForms {
  readonly etag: string | null;
  readonly plain: StoredHead;
  readonly #stored: StoredHead;
  readonly #coded = new Map<Coding, StoredHead>();
  #weak: StoredHead | undefined;

  constructor(stored: StoredHead) {
    this.#stored = stored;
    this.etag = storedField(stored, "etag");
    this.plain = changedHead(stored, { fields: plainFormFields(stored.fields) });
  }

  /** The plain form under the tag of the coded ones. */
  get weak(): StoredHead {
    this.#weak ??= changedHead(this.#stored, { fields: weakFormFields(this.#stored.fields) });
    return this.#weak;
  }

  coded(coding: Coding, bodyBytes: number): StoredHead {
    const held = this.#coded.get(coding);
    if (held?.bodyBytes === bodyBytes) return held;
    const made = changedHead(this.#stored, { fields: codedFormFields(this.#stored.fields, coding), bodyBytes });
    this.#coded.set(coding, made);
    return made;
  }
}

/** Whether the answer may be a part. RFC 9110 §14.2: only for GET. */
function mayBePart({ facts }: CodedRequest): boolean {
  return facts.method === "GET" && facts.field("range") !== null;
}

async function sha256(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", body)).toString("base64url");
}
