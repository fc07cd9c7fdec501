/** How many cores each side kept busy during a turn. */
interface BusyCores {
  readonly client: number;
  readonly server: number;
  readonly origin: number;
}

/** A share of the cores that counts as all of them. */
const SATURATED = 0.9;

/**
 * Whether a turn's requests per second may be those of the client: it used all cores that it can use, or the machine had
 * none left while the client took more than the server.
 */
export function isClientBound(busy: BusyCores, cores: { readonly client: number; readonly machine: number }): boolean {
  if (busy.client >= SATURATED * Math.min(cores.client, cores.machine)) return true;
  const machineIsFull = busy.client + busy.server + busy.origin >= SATURATED * cores.machine;
  return machineIsFull && busy.client > busy.server;
}
