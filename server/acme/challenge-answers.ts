import type { SecureContext } from "node:tls";
import type { Answer } from "../../worker/ports/answer.ts";
import { nodeTls } from "../connections/node-tls.ts";
import { ownAnswer } from "../http1/own-answer.ts";
import { hearNews, type ProcessLine } from "../supervisor/process-line.ts";
import type { Challenge } from "./authority.ts";
import { ASKS_FOR_CHALLENGES } from "./challenge-office.ts";

/** The protocol of a handshake that an authority makes to see whether a name leads here. RFC 8737 §6.2. */
export const ACME_TLS = "acme-tls/1";

const PREFIX = "/.well-known/acme-challenge/";

/** The answers of a worker to an authority while an order is under way. */
export class ChallengeAnswers {
  #keyAuthorizations: ReadonlyMap<string, string> = new Map();
  #contexts: ReadonlyMap<string, SecureContext> = new Map();

  /**
   * Resolves when the pending challenges are known. Later ones arrive for as long as the supervisor lives. Never
   * rejects.
   */
  static async hear(line: ProcessLine): Promise<ChallengeAnswers> {
    const answers = new ChallengeAnswers();
    const first = Promise.withResolvers<void>();
    const take = (challenges: readonly Challenge[]) => {
      answers.take(challenges);
      first.resolve();
    };
    void hearNews(line, ASKS_FOR_CHALLENGES, take).finally(first.resolve);
    await first.promise;
    return answers;
  }

  /** From now on, only these are answered. */
  take(challenges: readonly Challenge[]): void {
    const keyAuthorizations = new Map<string, string>();
    const contexts = new Map<string, SecureContext>();
    for (const each of challenges) {
      if (each.type === "http-01") keyAuthorizations.set(each.token, each.keyAuthorization);
      else contexts.set(each.name, nodeTls().createSecureContext({ cert: each.chain, key: each.key }));
    }
    this.#keyAuthorizations = keyAuthorizations;
    this.#contexts = contexts;
  }

  /**
   * The answer to a request of an authority; `null` if the token is not pending, so that the request is for the site.
   * `url`: absolute. The authority asks by http, and goes where it is sent. RFC 8555 §8.3.
   */
  answer(method: string, url: string): Answer | null {
    if (this.#keyAuthorizations.size === 0 || (method !== "GET" && method !== "HEAD")) return null;
    const path = url.slice(url.indexOf("/", url.indexOf("://") + 3));
    const found = path.startsWith(PREFIX) ? this.#keyAuthorizations.get(path.slice(PREFIX.length)) : undefined;
    if (found === undefined) return null;
    const answer = ownAnswer(200, "acme-challenge", "");
    answer.fields.set("content-type", "application/octet-stream");
    return { ...answer, body: method === "HEAD" ? null : Buffer.from(found) };
  }

  /**
   * The context that completes an authority's handshake for this name; `null` if no such handshake is expected. `name`:
   * as Node tells it, which is `false` for a client that has sent none.
   */
  contextFor(name: string | false): SecureContext | null {
    return (name && this.#contexts.get(name.toLowerCase())) || null;
  }
}
