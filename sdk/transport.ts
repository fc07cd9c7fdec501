/** What the SDK asks of a `fetch`. The global one and undici's fit. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

export interface FetchInit {
  method: "POST";
  headers: Record<string, string>;
  body: string;
  /** Without following: a redirected purge would lose its body or hand its token to another host. */
  redirect: "manual";
  signal: AbortSignal;
}

export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: FetchBody | null;
}

export interface FetchBody {
  getReader(): FetchBodyReader;
}

export interface FetchBodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** The way to the edge. */
export interface Transport {
  fetch: Fetch;
  /** Frees the connections, once nothing is under way any more. */
  close(): Promise<void>;
}
