/** Whether a claim holds, with the message of a test that fails because of it. */
export interface ClaimResult {
  readonly holds: boolean;
  /** The message if a test expects the claim to hold and it does not. */
  readonly failure: string;
  /** The message if a test expects the claim not to hold and it does. */
  readonly negatedFailure: string;
  /** The end of either message. Default: the message is complete. */
  readonly explanation?: () => Promise<string>;
}

/** The message of a test that fails by this claim, either because it holds or because it does not. */
export async function completeMessage({ holds, failure, negatedFailure, explanation }: ClaimResult): Promise<string> {
  const message = holds ? negatedFailure : failure;
  return explanation === undefined ? message : `${message}\n\n${await explanation()}`;
}
