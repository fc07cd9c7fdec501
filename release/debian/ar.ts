import type { Commit } from "../commit.ts";

export interface Member {
  /** At most 16 bytes. */
  readonly name: string;
  readonly bytes: Buffer;
}

const MAGIC = "!<arch>\n";

/** An archive in the format of ar(5), as deb(5) wants it: of root, dated by the commit. */
export function ar(members: readonly Member[], { atSeconds }: Commit): Buffer {
  const pieces = members.flatMap(({ name, bytes }) => {
    const fields = [name.padEnd(16), String(atSeconds).padEnd(12), "0".padEnd(6), "0".padEnd(6), "100644".padEnd(8)];
    const head = `${fields.join("")}${String(bytes.length).padEnd(10)}\`\n`;
    return [Buffer.from(head), bytes, Buffer.alloc(bytes.length % 2, "\n")]; // a member begins at an even place
  });
  return Buffer.concat([Buffer.from(MAGIC), ...pieces]);
}
