/** Whether a claim holds, with the message of a test that fails because of it. */
export interface ClaimResult {
  readonly holds: boolean;
  /** For a test that expects the claim to hold, where it does not. */
  readonly failure: string;
  /** For a test that expects the claim not to hold, where it does. */
  readonly negatedFailure: string;
}
