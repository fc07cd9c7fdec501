/** A page of this many bytes, the same at each call. */
export function pageOfBytes(bytes: number): string {
  return "<p>The tide takes what lies below its mark.</p>\n".repeat(Math.ceil(bytes / 40)).slice(0, bytes);
}
