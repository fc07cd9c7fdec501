import { getSystemErrorMap } from "node:util";
import { OwnerError } from "../../package/owner-error.ts";

/** A file of the project cannot be read or written. */
export class ProjectFileError extends OwnerError {
  override readonly name = "ProjectFileError";

  constructor(path: string, cause: unknown) {
    const { code, errno = 0, message } = cause as NodeJS.ErrnoException;
    const reason = getSystemErrorMap().get(errno)?.[1] ?? message;
    const advice = "Correct that, then run the same command again: it keeps what it has written";
    super(`${path} cannot be read or written: ${reason} (${code}). ${advice}.`, { cause });
  }
}
