import { createHash } from "node:crypto";
import { AFTER_FIELD } from "../../wire/fields.ts";
import type { EdgeAnswer, LearningIsolate } from "../../worker/isolate.ts";
import type { Answer, BackgroundWork, ClientRequest } from "../../worker/ports.ts";
import { isAddress } from "../../worker/rules/forwarding/trusted-proxies.ts";
import { ownAnswer } from "../listener/own-answer.ts";
import { fromWebResponse } from "../listener/web-answer.ts";
import { answerForChild } from "./answer-for-child.ts";
import { CHILD_FIELD, NOWHERE, PARENT_TOKEN_FIELD, readChild, readPosition, type ToldByChild } from "./tier-fields.ts";

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
  readonly now: () => number;
  readonly say: (line: string) => void;
}

/** The most children whose rules are told to be others, so that the log stays short. */
const MAX_TOLD = 100;

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
    const { isolate, node, rules, now, say } = this.#parts;
    const told = readChild(request.headers.get(CHILD_FIELD));
    if (told === null) return ownAnswer(400, "no-child", "the child does not tell whom it asks for");
    const { clientAddress, country } = told;
    const sent = request.headers.get(AFTER_FIELD);
    const hasSameRules = told.rules === rules;
    const mark = { after: sent ?? "none", arrivedAt: now(), hasSameRules };
    const finish = (answered: EdgeAnswer): Answer => {
      const answer = answered instanceof Response ? fromWebResponse(answered) : answered;
      return answerForChild(answer, { ...mark, position: isolate.position, ...this.#parts });
    };
    if (hasPassed(request.headers.get("cdn-loop"), node)) {
      say("a request has come back to this server from one that is its child or its child's: parents form a ring");
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
      child: { after: hasSameRules ? readPosition(sent) : NOWHERE },
    });
    return answered instanceof Promise ? answered.then(finish) : finish(answered);
  }

  #tellOfRules({ node }: ToldByChild): void {
    if (this.#toldOfRules.has(node) || this.#toldOfRules.size >= MAX_TOLD) return;
    this.#toldOfRules.add(node);
    this.#parts.say(`the child ${node} has other rules, so the origin is asked for every request of it`);
  }
}

/** Whether a request has already been at this node. RFC 8586 §2. */
function hasPassed(cdnLoop: string | null, node: string): boolean {
  return cdnLoop?.includes(`; node="${node}"`) ?? false;
}

const REFUSED = () =>
  ownAnswer(403, "no-child", `this request has a ${PARENT_TOKEN_FIELD} that is no token with the scope parent here`);
