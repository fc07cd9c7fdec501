/**
 * Tells the owner's `onPurgeError` of a purge that failed. If that fails itself, by throwing or by rejecting, both errors are
 * printed: the change is committed, so the request goes on.
 */
export function tellPurgeError(onPurgeError: (error: unknown) => void, error: unknown): void {
  const tell = async () => onPurgeError(error);
  tell().catch((failure: unknown) => console.error("onPurgeError failed:", failure, "It was told of:", error));
}
