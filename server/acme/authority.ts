import type { RenewalInfo } from "./renewal-info.ts";

/** RFC 8555 §8.3; RFC 8737. */
export type ChallengeType = "http-01" | "tls-alpn-01";

/** What an authority is about to look for at this server. Plain data, because workers answer it. */
export type Challenge =
  /** At `/.well-known/acme-challenge/TOKEN`. */
  | { readonly type: "http-01"; readonly token: string; readonly keyAuthorization: string }
  /** In a handshake with the protocol `acme-tls/1` for this name. `chain` and `key`: a certificate for that alone, as PEM. */
  | { readonly type: "tls-alpn-01"; readonly name: string; readonly chain: string; readonly key: string };

/** Makes the server answer challenges. */
export interface Challenged {
  /** Resolves when every process that accepts connections answers it. */
  answer(challenge: Challenge): Promise<void>;
  forget(challenge: Challenge): void;
}

export interface CertificateWish {
  readonly name: string;
  /** The certificate's own key, as PEM. The next wish after a failed one has the same, so that its order can go on. */
  readonly key: string;
  readonly type: ChallengeType;
  /** The `certificateId` of the certificate that this one replaces. RFC 9773 §5. `null`: of none. */
  readonly replaces: string | null;
}

export type OrderOutcome =
  /** `chain`: the certificate and those between it and its root, as PEM. */
  | { readonly kind: "issued"; readonly chain: string }
  | {
      readonly kind: "refused";
      /** The text has no full stop at its end. */
      readonly because: string;
      /** How long to wait before the next request, if the authority has said so. Milliseconds. */
      readonly retryAfterMs: number | null;
      /** `name`: an order for another name may succeed. `all`: the authority is out of reach, or wants no requests. */
      readonly concerns: "name" | "all";
    };

/** An authority that gives certificates by ACME. RFC 8555. */
export interface Authority {
  /** Orders a certificate, and fetches it when it is ready. Never rejects, and takes minutes at most. */
  order(wish: CertificateWish, challenged: Challenged): Promise<OrderOutcome>;
  /** `null` if the authority does not say, or cannot be reached. `id`: a `certificateId`. RFC 9773 §4. */
  renewalInfo(id: string): Promise<RenewalInfo | null>;
  /** Stops the orders that are under way. */
  stop(): void;
}
