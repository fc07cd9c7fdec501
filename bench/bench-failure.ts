/** The bench ran, and what it saw must not be: its figures would be worth nothing. The message is for a person. */
export class BenchFailure extends Error {
  override readonly name = "BenchFailure";
}
