/** The part of `fetch` that the SDK uses. The global `fetch` and undici's fit. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

/** The request that a `Fetch` gets. */
export interface FetchInit {
  /** `POST` sends a purge, and `GET`, which has no body, reads the audit trail. */
  method: "POST" | "GET";
  headers: Record<string, string>;
  body?: string;
  /** Redirects are not followed: a redirected purge would lose its body, or hand its token to another host. */
  redirect: "manual";
  signal: AbortSignal;
}

/** The part of a `Response` that the SDK reads. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: FetchBody | null;
}

/** The body of an answer: a `ReadableStream` fits. */
export interface FetchBody {
  getReader(): FetchBodyReader;
}

/** Reads a body piece by piece. */
export interface FetchBodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** The most reads of a purger that an edge holds at once, until purges have settled. */
export const MAX_HELD_READS = 24;

/** Sends requests to the edge, and owns the connections. */
export interface Transport {
  fetch: Fetch;
  /** Frees the connections once no request is running. It is called when no caller waits any more. */
  close(): Promise<void>;
}

/** A transport over a given `fetch`. Its connections belong to the caller, so closing frees nothing. */
export function openFetch(fetch: Fetch): Transport {
  return {
    // It is wrapped because the global fetch of some platforms throws if it is called as a method.
    fetch: (url, init) => fetch(url, init),
    close: async () => {},
  };
}
