import { OwnerError } from "../../package/owner-error.ts";

/** The server cannot start with these settings. The message says what to change. */
export class ServerError extends OwnerError {
  override readonly name = "ServerError";
}
