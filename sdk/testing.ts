/** What tests of a backend need. It opens no connection and imports no transport. */

export { createRecordingPurger, type RecordingPurger } from "./recording-purger.ts";
