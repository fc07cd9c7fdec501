import { InvalidArgumentError } from "commander";

/** An option that counts something. */
export function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("It is a whole number from 1 up.");
  return value;
}
