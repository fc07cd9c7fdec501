import { InvalidArgumentError } from "commander";

/** Parses an option that is a count. */
export function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("It has to be a whole number, 1 or more.");
  return value;
}

/** Whether a name has one of the words of an option, separated by commas. Without the option every name does. */
export function hasWord(name: string, words: string | undefined): boolean {
  return words === undefined || words.split(",").some((word) => name.toLowerCase().includes(word.trim().toLowerCase()));
}
