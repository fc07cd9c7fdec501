/** The message of whatever was thrown. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** The code of a failed call, such as `ECONNREFUSED`; the message of what has none. */
export function codeOrMessageOf(cause: unknown): string {
  return (cause as { readonly code?: string } | null | undefined)?.code ?? messageOf(cause);
}
