/**
 * Whether an isolate may know of other isolates' fetches. On Workers it never does, so the build of the deployable
 * worker says no here, and leaves out what follows from it.
 */
export const MAY_KNOW_ELSEWHERE: boolean = true;
