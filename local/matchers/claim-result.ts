/** Whether a claim holds, with the message of a test that fails because of it. */
export interface ClaimResult {
  readonly holds: boolean;
  /** The message if a test expects the claim to hold and it does not. */
  readonly failure: string;
  /** The message if a test expects the claim not to hold and it does. */
  readonly negatedFailure: string;
}
