/** What is known of an answer once its head has come. */
export interface AnswerHead {
  /** The origin that was asked. */
  endpoint: string;
  status: number;
  headers: { get(name: string): string | null };
  /** How many requests had been sent when it came. */
  attempts: number;
}

/** An answer that was read to its end. */
export interface Answer extends AnswerHead {
  text: string;
}

/** The number of attempts as a message says it. */
export function attemptsInWords(attempts: number): string {
  return attempts === 1 ? "1 attempt" : `${attempts} attempts`;
}
