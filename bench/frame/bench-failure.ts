/** The bench saw something that makes its figures worthless. The message is for a person. */
export class BenchFailure extends Error {
  override readonly name = "BenchFailure";
}
