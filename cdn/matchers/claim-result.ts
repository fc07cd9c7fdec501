/** Whether a claim holds, and why a test that relies on it fails. */
export interface Judgement {
  readonly holds: boolean;
  /** For a test that expects the claim, and finds that it does not hold. */
  readonly against: string;
  /** For a test that expects that it does not hold. */
  readonly for: string;
}
