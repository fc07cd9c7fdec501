/**
 * Whether a body may be here as a whole before anybody reads it. On Workers that cannot be told, so the build of the
 * deployable worker says no here, and leaves out what follows from it.
 */
export const MAY_COME_WHOLE: boolean = true;
