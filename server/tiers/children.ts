import { createHash } from "node:crypto";
import { AFTER_FIELD } from "../../wire/fields.ts";
import type { EdgeAnswer } from "../../worker/isolate.ts";
import type { LearningIsolate } from "../../worker/learning-isolate.ts";
import type { Answer, ClientRequest } from "../../worker/ports/answer.ts";
import type { BackgroundWork } from "../../worker/ports/background-work.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import { isAddress } from "../../worker/rules/forwarding/trusted-proxies.ts";
import { within } from "../../worker/within.ts";
import { ownAnswer } from "../http1/own-answer.ts";
import type { SwitchedConnection } from "../http1/tunnel.ts";
import { plainAnswer } from "../http1/web-answer.ts";
import { answerForChild } from "./answer-for-child.ts";
import {
  CHILD_FIELD,
  NOWHERE,
  PARENT_TOKEN_FIELD,
  readChild,
  readPosition,
  type ToldByChild,
} from "./parent-fields.ts";
import { ADDED_BYTES } from "./room-for-tiers.ts";

export interface ChildrenParts {
  readonly isolate: Pick<LearningIsolate, "fetch" | "position" | "tokens">;
  /** The name of this server in `CDN-Loop`. */
  readonly node: string;
  /** The fingerprint of this server's rules. */
  readonly rules: string;
  /** Fields of the origin that visitors do not get. */
  readonly hiddenFields: readonly string[];
  /** The most bytes of fields that a child takes. */
  readonly maxFieldBytes: number;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

/** The most children whose rules are told to be others, so that the log stays short. */
const MAX_TOLD = 100;

/** How long before a child gives up it gets an answer, come what may: otherwise it takes this server for failed. */
const SOONER_THAN_CHILD_MS = 1_000;

/** The requests of other caches that ask this one in place of the origin. */
export class Children {
  readonly #parts: ChildrenParts;
  /** Hashes of the tokens that were found right. There are no more of them than the owner has named. */
  readonly #right = new Set<string>();
  readonly #toldOfRules = new Set<string>();

  constructor(parts: ChildrenParts) {
    this.#parts = parts;
  }

  /** The answer to a request that says that it is a child's; `null` for all others. */
  answer(request: ClientRequest, url: string, background: BackgroundWork): Answer | Promise<Answer> | null {
    const token = request.headers.get(PARENT_TOKEN_FIELD);
    if (token === null) return null;
    const hash = createHash("sha256").update(token).digest("hex");
    if (this.#right.has(hash)) return this.#answerChild(request, url, background);
    return this.#parts.isolate.tokens.check(token, "parent").then((verdict) => {
      if (verdict.kind === "refused") return REFUSED();
      this.#right.add(hash);
      return this.#answerChild(request, url, background);
    });
  }

  #answerChild(request: ClientRequest, url: string, background: BackgroundWork): Answer | Promise<Answer> {
    const { isolate, node, rules, clock, say } = this.#parts;
    const now = () => clock.now();
    const told = readChild(request.headers.get(CHILD_FIELD));
    if (told === null) return ownAnswer(400, "no-child", "the child does not say which host it asks for");
    const { clientAddress, country, isOfEditor } = told;
    const sent = request.headers.get(AFTER_FIELD);
    const hasSameRules = told.rules === rules;
    const mark = { after: sent ?? "none", arrivedAt: now(), hasSameRules };
    const finish = (answered: EdgeAnswer): Answer => {
      const answer = plainAnswer(answered);
      return answerForChild(answer, { ...mark, now, position: isolate.position, ...this.#parts });
    };
    if (hasPassed(request.headers.get("cdn-loop"), node)) {
      say("a request came back to this server through its own children: the parents form a ring");
      return finish(ownAnswer(508, "loop", "the request came back to this edge"));
    }
    if (!hasSameRules) this.#tellOfRules(told);
    const path = url.slice(url.indexOf("/", url.indexOf("//") + 2));
    const answered = isolate.fetch({
      request,
      url: `${told.scheme}://${told.host}${path}`,
      background,
      clientAddress: clientAddress !== null && isAddress(clientAddress) ? clientAddress : null,
      peerAddress: null,
      country,
      child: { after: hasSameRules ? readPosition(sent) : NOWHERE, isOfEditor, addedFieldBytes: ADDED_BYTES },
    });
    if (!(answered instanceof Promise)) return finish(answered);
    // While a visitor sends a body, the child's time does not pass, and such a request waits for no other one.
    return (request.body === null ? this.#inTime(answered, told.waitsMs) : answered).then(finish);
  }

  /**
   * The answer, or a 504 if it takes longer than the child waits. It may wait for another request's fetch before its own,
   * for a parent of this server, or for the origin after that.
   */
  async #inTime(answered: Promise<EdgeAnswer>, waitsMs: number | null): Promise<EdgeAnswer> {
    if (waitsMs === null) return answered;
    const limitMs = Math.max(0, waitsMs - SOONER_THAN_CHILD_MS);
    const first = await within(this.#parts.clock, limitMs, answered, () => null);
    if (first !== null) return first;
    void answered.then(letGo).catch(() => undefined); // what is stored is stored all the same
    return ownAnswer(504, "origin-timed-out", "the origin took too long to answer");
  }

  #tellOfRules({ node }: ToldByChild): void {
    if (this.#toldOfRules.has(node) || this.#toldOfRules.size >= MAX_TOLD) return;
    this.#toldOfRules.add(node);
    this.#parts.say(`the child ${node} has other rules, so this server asks the origin for each of its requests`);
  }
}

/** Ends an answer that nobody gets. */
async function letGo(answered: EdgeAnswer): Promise<void> {
  const { body, switchedTo } = plainAnswer(answered);
  if (switchedTo !== undefined) (switchedTo as SwitchedConnection).socket.destroy();
  if (body && !(body instanceof Uint8Array)) await body.cancel();
}

/** Whether a request has already been at this node. RFC 8586 §2. */
function hasPassed(cdnLoop: string | null, node: string): boolean {
  return cdnLoop?.includes(`; node="${node}"`) ?? false;
}

const REFUSED = () =>
  ownAnswer(403, "no-child", `this request has a ${PARENT_TOKEN_FIELD} that is not a token with the scope parent here`);
