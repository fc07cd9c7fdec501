import { OwnerError } from "../../package/owner-error.ts";
import { systemErrorText } from "../../package/system-error.ts";

/** A file of the project cannot be read or written. */
export class ProjectFileError extends OwnerError {
  override readonly name = "ProjectFileError";

  constructor(path: string, cause: unknown) {
    const advice = "Correct that, then run the same command again: it keeps what it has written";
    super(`${path} cannot be read or written: ${systemErrorText(cause as NodeJS.ErrnoException)}. ${advice}.`, {
      cause,
    });
  }
}
