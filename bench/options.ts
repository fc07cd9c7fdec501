import { InvalidArgumentError } from "commander";

/** Parses an option that is a count. */
export function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("It has to be a whole number, 1 or more.");
  return value;
}
