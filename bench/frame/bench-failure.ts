/** Something made the bench's figures worthless. The message is for a person. */
export class BenchFailure extends Error {
  override readonly name = "BenchFailure";
}
