/**
 * A mistake of the owner, or a state of the owner's machine, whose message says all that is needed to mend it: a command
 * prints it without a stack. This file imports nothing, so that commands which load late can look for it early.
 */
export abstract class OwnerError extends Error {}
