/** The server cannot start with these settings. The message says what to change. */
export class ServerError extends Error {
  override readonly name = "ServerError";
}
