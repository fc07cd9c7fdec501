/** What keeps a release from being made. The message is for the owner. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
}
