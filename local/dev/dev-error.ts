import { OwnerError } from "../../package/owner-error.ts";

/** The reason why the edge or the demo cannot start, for the person at the terminal. */
export class DevError extends OwnerError {}
