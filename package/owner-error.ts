/**
 * A mistake of the owner, or a state of the owner's machine. The message says everything needed to correct it, so a
 * command prints it without a stack. This file imports nothing, so that lazily loaded commands can check for it early.
 */
export abstract class OwnerError extends Error {}
