/**
 * Tells the owner's callback of this name of an error. If the callback fails itself, by throwing or by rejecting, both errors
 * are printed, and the caller goes on.
 */
export function tellError(name: string, callback: (error: unknown) => void, error: unknown): void {
  const tell = async () => callback(error);
  tell().catch((failure: unknown) => console.error(`${name} failed:`, failure, "It was told of:", error));
}
