import type { CodedRequest, FoundResponse } from "../../worker/ports/store.ts";
import {
  availableDictionary,
  type BodyHash,
  type DictionaryCoding,
} from "../../worker/rules/deltas/available-dictionary.ts";
import {
  type DictionaryUse,
  dictionaryUse,
  mayBecomeDictionary,
  type NoDelta,
} from "../../worker/rules/deltas/dictionary-use.ts";
import { memoize } from "../../worker/rules/fields/memoize.ts";
import { type StoredHead, type StoredResponse, storedField } from "../../worker/rules/storing/stored-response.ts";
import { wantedDictionaryCodings } from "../../worker/rules/variants/wanted-codings.ts";
import type { DeltaSettings } from "../../worker/site/delta-settings.ts";
import type { FormName } from "./coded-files.ts";
import type { Dictionaries, Dictionary } from "./dictionaries.ts";
import { directivesOf } from "./directives-of.ts";

/** What a dictionary is used for, with the time for which the route keeps dictionaries, in milliseconds. */
export interface TimedUse extends DictionaryUse {
  readonly keepMs: number;
}

/** A form by a dictionary that a client holds. */
export interface DeltaForm {
  readonly name: FormName;
  readonly dictionary: Dictionary;
}

/** Why a response that could be compressed by a dictionary is sent without one. */
type NoDeltaNow = "not-wanted" | "credentials" | "unknown-dictionary" | "not-admitted";

type HeadToMark = Parameters<typeof directivesOf>[0] & Pick<StoredHead, "status" | "variant">;

/** After this time an unknown body is looked up once more. Milliseconds. */
const LOOK_AGAIN_MS = 60_000;

const NONE: readonly DictionaryCoding[] = [];

interface Recognition {
  readonly hash: Promise<BodyHash>;
  lookedAt: number;
  /** Weak, because the page may be held for longer. */
  own: WeakRef<Dictionary> | null;
}

/**
 * Decides which responses are compressed by dictionaries. The bytes of both the dictionary and the response have been
 * admitted: everybody may see them.
 */
export class Deltas {
  readonly #settings: DeltaSettings;
  readonly #dictionaries: Dictionaries;
  readonly #digest: (body: Uint8Array<ArrayBuffer>) => Promise<BodyHash>;
  readonly #wanted: (field: string) => readonly DictionaryCoding[];
  readonly #recognized = new WeakMap<Uint8Array, Recognition>();

  constructor(
    settings: DeltaSettings,
    dictionaries: Dictionaries,
    digest: (body: Uint8Array<ArrayBuffer>) => Promise<BodyHash>,
    made: readonly DictionaryCoding[],
  ) {
    this.#settings = settings;
    this.#dictionaries = dictionaries;
    this.#digest = digest;
    this.#wanted = memoize((field) => wantedDictionaryCodings(field, made));
  }

  /** What the head lets the response be a dictionary for; `null` where the route has no `deltas`. */
  useOf(request: CodedRequest, head: HeadToMark, bodyBytes: number | null): TimedUse | NoDelta | null {
    const { resolved } = request;
    const { pattern, browserTtlSeconds } = resolved.route;
    const rules = pattern === null ? undefined : this.#settings.get(pattern);
    if (rules === undefined) return null;
    const use = dictionaryUse(
      {
        status: head.status,
        field: (name) => storedField(head, name),
        directives: directivesOf(head),
        bodyBytes,
        scheme: resolved.scheme,
        host: resolved.host,
        pathAndQuery: resolved.pathAndQuery,
        selectedBy: head.variant.map(([name]) => name),
        browserTtlSeconds,
      },
      rules,
    );
    return typeof use === "string" ? use : { ...use, keepMs: rules.keepMs };
  }

  /** Admits the bytes of a response that has just been fetched or confirmed. Resolves to whether they are admitted. */
  async admit(request: CodedRequest, { head, body }: StoredResponse, use: TimedUse): Promise<boolean> {
    if (body === null || head.stamp === null || !mayBecomeDictionary(request.facts, body)) return false;
    const recognition = this.#recognitionOf(request, body);
    const made = { hash: await recognition.hash, family: use.family, bytes: body, keepMs: use.keepMs };
    recognition.own = reference(this.#dictionaries.admit(request, { ...made, stamp: head.stamp }));
    return recognition.own !== null;
  }

  /**
   * Notes that these bytes are sent. Returns whether they have been admitted; if that is not known, looks it up after
   * the answer.
   */
  isAdmitted(request: CodedRequest, body: Uint8Array<ArrayBuffer>, use: TimedUse): boolean {
    const known = this.#recognized.get(body);
    if (known?.own) {
      const own = known.own.deref();
      if (own && this.#dictionaries.sent(request, own)) return true;
      known.own = null; // it has left memory since
    }
    const now = request.ports.clock.now();
    if (known && now - known.lookedAt < LOOK_AGAIN_MS) return false;
    const recognition = this.#recognitionOf(request, body);
    recognition.lookedAt = now;
    const recognized = recognition.hash.then(async (hash) => {
      recognition.own ??= reference(await this.#dictionaries.recognize(request, use.family, hash));
    });
    request.background.run(recognized);
    return false;
  }

  /** The form for a client that holds a dictionary which may be used now; `null` for none. */
  wantedBy(request: CodedRequest, use: TimedUse): DeltaForm | null {
    const form = this.#formFor(request, (hash) => this.#dictionaries.find(request, use.family, hash));
    return typeof form === "string" ? null : form;
  }

  /** The form that a request would get once it is made, or why it gets none. Changes nothing. */
  explain(request: CodedRequest, { body }: FoundResponse, use: TimedUse | NoDelta): FormName | NoDelta | NoDeltaNow {
    if (typeof use === "string") return use;
    const form = this.#formFor(request, (hash) => this.#dictionaries.peek(request, use.family, hash));
    if (typeof form === "string") return form;
    const own = body instanceof Uint8Array ? this.#recognized.get(body)?.own?.deref() : null;
    return own && this.#dictionaries.holds(own) ? form.name : "not-admitted";
  }

  /** The form by the dictionary that a client names, if `known` has that, or why it gets none. */
  #formFor({ facts }: CodedRequest, known: (hash: BodyHash) => Dictionary | undefined): DeltaForm | NoDeltaNow {
    const hash = availableDictionary(facts.field("available-dictionary"));
    const accepted = hash === null ? null : facts.field("accept-encoding");
    const [coding] = accepted === null ? NONE : this.#wanted(accepted);
    if (hash === null || coding === undefined) return "not-wanted";
    if (facts.authorized) return "credentials";
    const dictionary = known(hash);
    return dictionary ? { name: `${coding} ${hash}`, dictionary } : "unknown-dictionary";
  }

  #recognitionOf(request: CodedRequest, body: Uint8Array<ArrayBuffer>): Recognition {
    const known = this.#recognized.get(body);
    if (known) return known;
    const made: Recognition = { hash: this.#digest(body), lookedAt: request.ports.clock.now(), own: null };
    this.#recognized.set(body, made);
    return made;
  }
}

function reference(dictionary: Dictionary | null): WeakRef<Dictionary> | null {
  return dictionary && new WeakRef(dictionary);
}
