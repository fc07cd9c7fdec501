import type acme from "acme-client";
import { ownPackage } from "../../package/own-package.ts";
import { OwnerError } from "../../package/owner-error.ts";
import { printable } from "../../wire/text/printable.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import { isPaused } from "../pause.ts";
import { AcmeProblem, ANSWER_WITHIN_MS, exchangeBy, problemOf } from "./acme-exchange.ts";
import type { Authority, CertificateWish, Challenge, Challenged, OrderOutcome } from "./authority.ts";
import { type RenewalInfo, readRenewalInfo, readRetryAfter } from "./renewal-info.ts";

type Library = typeof acme;
type Refused = Extract<OrderOutcome, { kind: "refused" }>;

export interface AcmeAuthorityParts {
  /** The URL of its directory. RFC 8555 §7.1.1. */
  readonly directory: string;
  /** Whom it may write to. */
  readonly email: string;
  /** The PEM of the account's key. Throws if it cannot be read or made. */
  readonly accountKey: () => string;
  readonly clock: Clock;
}

/** RFC 8555 §6.1. */
const USER_AGENT = `tidemark/${ownPackage.version} acme-client`;
/** The pauses between two questions to an authority about an order. The last one repeats, for two minutes in all. */
const LOOK_PAUSES_MS = [250, 500, 1_000, 2_000, 4_000, 5_000];
const LOOK_WITHIN_MS = 120_000;
const DIRECTORY_AGE_MS = 24 * 3_600_000;
/** How long an authority that is out of reach is not asked for its windows. */
const SILENT_MS = 60_000;
/** The pause after a reached limit if the authority does not say how long it lasts. */
const LIMIT_PAUSE_MS = 15 * 60_000;
/** Problems that an order for another name would have as well. RFC 8555 §6.7. */
const OF_ALL_NAMES: ReadonlySet<string> = new Set([
  ...["accountDoesNotExist", "unauthorized", "userActionRequired", "externalAccountRequired"],
  ...["invalidContact", "unsupportedContact", "badPublicKey", "badSignatureAlgorithm", "badNonce"],
  ...["rateLimited", "serverInternal", ""],
]);

/** An account that the authority does not know, or has closed. */
const OF_THE_ACCOUNT: ReadonlySet<string> = new Set(["accountDoesNotExist", "unauthorized"]);

/**
 * An authority that is asked with acme-client. The library signs (RFC 8555 §6), and makes the requests for certificates
 * and the certificates of TLS-ALPN-01. The order of the steps, the pauses and RFC 9773, which the library does not
 * implement, are here.
 */
export class AcmeAuthority implements Authority {
  readonly #parts: AcmeAuthorityParts;
  readonly #stopping = new AbortController();
  #signedUp: Promise<{ readonly library: Library; readonly client: acme.Client }> | null = null;
  /**
   * Orders for whose certificates this server has asked, by the certificates' keys. Another order would be another
   * certificate of the few that a name gets in a week.
   */
  readonly #finalized = new Map<string, acme.Order>();
  /** Epoch milliseconds. Without it, each certificate would wait for the authority once. */
  #silentUntilAt = 0;
  #directory: { readonly renewalInfo: string | null; readonly readAgainAt: number } | null = null;

  constructor(parts: AcmeAuthorityParts) {
    this.#parts = parts;
  }

  async order(wish: CertificateWish, challenged: Challenged): Promise<OrderOutcome> {
    const signedUp = this.#signedUp;
    try {
      const { library, client } = await this.#signUp();
      const earlier = await this.#finalizedEarlier(client, wish);
      if (earlier !== null) return await this.#collect(library, client, earlier, wish);
      const order = await this.#placeOrder(client, wish);
      const [authorization] = await client.getAuthorizations(order);
      if (authorization!.status !== "valid") {
        const refused = await this.#prove(library, client, authorization!, wish, challenged);
        if (refused !== null) return refused;
      }
      return await this.#collect(library, client, order, wish);
    } catch (cause) {
      if (!(cause instanceof AcmeProblem && OF_THE_ACCOUNT.has(cause.type))) return this.#refusal(cause);
      this.#signedUp = null;
      // An authority that has lost its accounts makes another one for the same key. One that was just made is not lost.
      const isLost = signedUp !== null && cause.type === "accountDoesNotExist";
      return isLost ? this.order(wish, challenged) : this.#refusal(cause);
    }
  }

  async renewalInfo(id: string): Promise<RenewalInfo | null> {
    if (isPaused(this.#silentUntilAt, this.#parts.clock.now(), SILENT_MS)) return null;
    try {
      const at = await this.#renewalInfoUrl();
      if (at === null) return null;
      const answer = await this.#get(`${at.replace(/\/$/, "")}/${id}`);
      const retryAfterMs = readRetryAfter(answer.headers.get("retry-after"), this.#parts.clock.now());
      return answer.ok ? readRenewalInfo(await answer.text(), retryAfterMs) : null;
    } catch {
      this.#silentUntilAt = this.#parts.clock.now() + SILENT_MS;
      return null; // the certificate is renewed in time without it
    }
  }

  stop(): void {
    this.#stopping.abort(new Error("the server stops"));
  }

  /** The account is made the first time, and found by its key from then on. RFC 8555 §7.3, §7.3.1. */
  #signUp() {
    this.#signedUp ??= this.#findAccount().catch((cause: unknown) => {
      this.#signedUp = null;
      throw cause;
    });
    return this.#signedUp;
  }

  async #findAccount() {
    const { directory, email, accountKey, clock } = this.#parts;
    const library = await import("acme-client");
    const { defaults } = library.axios;
    defaults.adapter = exchangeBy(this.#stopping.signal, () => clock.now());
    defaults.headers.common["User-Agent"] = USER_AGENT;
    const client = new library.Client({ directoryUrl: directory, accountKey: accountKey() });
    await client.createAccount({ termsOfServiceAgreed: true, contact: [`mailto:${email}`] });
    return { library, client };
  }

  /** `null` if there is none, or the authority does not know it any more. */
  async #finalizedEarlier(client: acme.Client, { key }: CertificateWish): Promise<acme.Order | null> {
    const order = this.#finalized.get(key);
    if (order === undefined) return null;
    try {
      return await client.getOrder(order);
    } catch (cause) {
      if (!isDecided(cause)) throw cause;
      this.#finalized.delete(key);
      return null;
    }
  }

  /**
   * If the authority no longer knows the old certificate, or has replaced it, the order does not name it. RFC 9773 §5.
   */
  async #placeOrder(client: acme.Client, { name, replaces }: CertificateWish): Promise<acme.Order> {
    const identifiers = [{ type: "dns", value: name }];
    if (replaces === null || (await this.#renewalInfoUrl()) === null) return client.createOrder({ identifiers });
    try {
      const replacing = { identifiers, replaces };
      return await client.createOrder(replacing);
    } catch (cause) {
      if (!(cause instanceof AcmeProblem) || cause.type === "rateLimited") throw cause;
      return client.createOrder({ identifiers });
    }
  }

  /** Shows that the name leads here. Resolves to why it was not believed, or `null`. RFC 8555 §7.5.1, RFC 8737 §3. */
  async #prove(
    library: Library,
    client: acme.Client,
    authorization: acme.Authorization,
    { name, type }: CertificateWish,
    challenged: Challenged,
  ): Promise<Refused | null> {
    const offered = authorization.challenges.find((each) => (each.type as string) === type);
    if (offered === undefined) return refusedName(`the authority does not offer the challenge ${type} for this name`);
    const keyAuthorization = await client.getChallengeKeyAuthorization(offered);
    let challenge: Challenge;
    if (type === "http-01") challenge = { type, token: offered.token, keyAuthorization };
    else {
      // Always the same kind of key as that of the certificates: see `makeTlsServer`.
      const key = await library.crypto.createPrivateEcdsaKey();
      const [, chain] = await library.crypto.createAlpnCertificate(authorization, keyAuthorization, key);
      challenge = { type, name, chain: String(chain), key: String(key) };
    }
    try {
      await challenged.answer(challenge);
      await client.completeChallenge(offered);
      const looked = await this.#lookUntil(
        async () => (await client.getAuthorizations({ authorizations: [authorization.url] } as acme.Order))[0]!,
        ({ status }) => status !== "pending",
      );
      if (looked.status === "valid") return null;
      const { error } = looked.challenges.find(({ url }) => url === offered.url) ?? {};
      const detail =
        (error as { readonly detail?: string } | undefined)?.detail ??
        `the authority's check of the name is ${looked.status}`;
      return refusedName(`${type}: ${shown(detail)}`);
    } finally {
      challenged.forget(challenge);
    }
  }

  /** RFC 8555 §7.4, §7.4.2. */
  async #collect(
    library: Library,
    client: acme.Client,
    order: acme.Order,
    { name, key }: CertificateWish,
  ): Promise<OrderOutcome> {
    const look = () => client.getOrder(order);
    const placed = await this.#lookUntil(look, ({ status }) => status !== "pending");
    if (placed.status === "ready" || placed.status === "pending") {
      const [, csr] = await library.crypto.createCsr({ altNames: [name] }, key);
      if (placed.status === "ready") this.#finalized.set(key, order); // also if its answer gets lost
      try {
        await client.finalizeOrder(placed, csr);
      } catch (cause) {
        if (isDecided(cause)) this.#finalized.delete(key);
        throw cause;
      }
    }
    const finished = await this.#lookUntil(look, ({ status }) => status === "valid" || status === "invalid");
    if (finished.status === "valid") {
      const chain = await client.getCertificate(finished);
      this.#finalized.delete(key);
      return { kind: "issued", chain };
    }
    if (finished.status === "invalid") this.#finalized.delete(key);
    return refusedName(whyInvalid(finished));
  }

  /** Resolves to the last state seen if the wait takes too long. */
  async #lookUntil<Seen>(look: () => Promise<Seen>, isOver: (seen: Seen) => boolean): Promise<Seen> {
    const { clock } = this.#parts;
    let waitedMs = 0;
    for (let turn = 0; ; turn++) {
      const seen = await look();
      if (isOver(seen) || waitedMs >= LOOK_WITHIN_MS) return seen;
      const pauseMs = LOOK_PAUSES_MS[Math.min(turn, LOOK_PAUSES_MS.length - 1)]!;
      const wait = clock.wait(pauseMs);
      const { signal } = this.#stopping;
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      await Promise.race([wait.over, stopped]);
      wait.cancel();
      waitedMs += pauseMs;
    }
  }

  /** `null` if the authority does not offer it. RFC 9773 §3. */
  async #renewalInfoUrl(): Promise<string | null> {
    const now = this.#parts.clock.now();
    if (this.#directory === null || !isPaused(this.#directory.readAgainAt, now, DIRECTORY_AGE_MS)) {
      const answer = await this.#get(this.#parts.directory);
      if (!answer.ok) throw problemOf(answer, await answer.text(), now);
      const { renewalInfo } = (await answer.json()) as { readonly renewalInfo?: unknown };
      this.#directory = {
        renewalInfo: typeof renewalInfo === "string" ? renewalInfo : null,
        readAgainAt: now + DIRECTORY_AGE_MS,
      };
    }
    return this.#directory.renewalInfo;
  }

  #get(url: string): Promise<Response> {
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    return fetch(url, { signal, headers: { "user-agent": USER_AGENT } });
  }

  #refusal(cause: unknown): Refused {
    if (cause instanceof OwnerError) {
      return { kind: "refused", because: shown(cause.message), retryAfterMs: null, concerns: "all" };
    }
    if (!(cause instanceof AcmeProblem)) {
      const because = `${this.#parts.directory} cannot be used: ${shown(rootOf(cause))}`;
      return { kind: "refused", because, retryAfterMs: null, concerns: "all" };
    }
    const { type, status, retryAfterMs, message } = cause;
    const isLimit = type === "rateLimited" || status === 429;
    return {
      kind: "refused",
      because: `the authority says ${type || status}: ${shown(message)}`,
      retryAfterMs: retryAfterMs ?? (isLimit ? LIMIT_PAUSE_MS : null),
      concerns: OF_ALL_NAMES.has(type) || isLimit || status >= 500 ? "all" : "name",
    };
  }
}

/** Whether the authority has answered, and would answer the same again. */
function isDecided(cause: unknown): boolean {
  return cause instanceof AcmeProblem && cause.status < 500 && cause.status !== 429;
}

function refusedName(because: string): Refused {
  return { kind: "refused", because, retryAfterMs: null, concerns: "name" };
}

function whyInvalid({ status, error }: acme.Order): string {
  const { detail } = (error ?? {}) as { readonly detail?: string };
  return detail === undefined ? `the order is ${status}` : shown(detail);
}

/** Text of the authority, shortened to fit a line of the log. */
function shown(text: string): string {
  return printable(text.trim().replace(/\.$/, ""));
}

/** Why a request failed: `fetch` hides the reason as the `cause` of an error that says only that it failed. */
function rootOf(cause: unknown): string {
  const { cause: inner, message = String(cause), errors } = cause as Error & { readonly errors?: readonly unknown[] };
  if (errors?.[0] !== undefined) return rootOf(errors[0]);
  return inner === undefined ? message : rootOf(inner);
}
