/** Throws if fewer or more bytes of a body have come than were announced; `null`: no number was. */
export function expectWhole(readBytes: number, announcedBytes: number | null): void {
  if (readBytes === (announcedBytes ?? readBytes)) return;
  throw new Error(`only ${readBytes} of ${announcedBytes} bytes arrived`);
}
