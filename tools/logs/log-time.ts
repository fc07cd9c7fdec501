const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The length of `10/Oct/2026:13:55`, of `10/Oct/2026:13:55:36` and of `+0200`. */
const MINUTE_LENGTH = 17;
const SECOND_LENGTH = 20;
const ZONE_LENGTH = 5;

const DOT = 46;

/** Reads the times of a log. Neighbouring lines share their minute, so the latest one is remembered. */
export class LogTime {
  #minute = "";
  #zone = "";
  #minuteAt = 0;

  /** The instant of `10/Oct/2026:13:55:36 +0200` at `start` of a line, also with a fraction; NaN if there is none. */
  readCommon(line: string, start: number): number {
    const minute = line.slice(start, start + MINUTE_LENGTH);
    const secondEnd = start + SECOND_LENGTH;
    const hasFraction = line.charCodeAt(secondEnd) === DOT;
    const zoneStart = hasFraction ? line.indexOf(" ", secondEnd) + 1 : secondEnd + 1;
    const zone = line.slice(zoneStart, zoneStart + ZONE_LENGTH);
    if (minute !== this.#minute || zone !== this.#zone) {
      const at = commonMinute(minute, zone);
      if (Number.isNaN(at)) return NaN;
      this.#minute = minute;
      this.#zone = zone;
      this.#minuteAt = at;
    }
    const seconds = twoDigits(line, start + MINUTE_LENGTH + 1);
    const ms = hasFraction ? Math.round(Number(line.slice(secondEnd, zoneStart)) * 1000) : 0;
    return seconds <= 60 ? this.#minuteAt + seconds * 1000 + ms : NaN;
  }

  /** The instant of `2026-10-10T13:55:36.123Z`, also with a space, or without a zone, which is then UTC. */
  readIso(text: string): number {
    const minute = text.slice(0, 16);
    const rest = text.slice(16);
    if (minute !== this.#minute) {
      const at = isoMinute(minute.replace(" ", "T"));
      if (Number.isNaN(at)) return NaN;
      this.#minute = minute;
      this.#minuteAt = at;
    }
    const [, seconds, zone] = /^:(\d\d(?:[.,]\d+)?)(Z|UTC|GMT|[+-]\d\d:?\d\d)?$/.exec(rest) ?? [];
    if (seconds === undefined || Number.parseInt(seconds, 10) > 60) return NaN;
    return this.#minuteAt + Math.floor(Number(seconds.replace(",", ".")) * 1000) - zoneMs(zone ?? "Z");
  }
}

function commonMinute(minute: string, zone: string): number {
  const [, day, month, year, hour, minutes] = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d):(\d\d)$/.exec(minute) ?? [];
  if (!/^[+-]\d{4}$/.test(zone)) return NaN;
  const monthNumber = `${MONTHS.indexOf(month ?? "") + 1}`.padStart(2, "0");
  return isoMinute(`${year}-${monthNumber}-${day}T${hour}:${minutes}`) - zoneMs(zone);
}

/** The instant of `2026-10-10T13:55`, UTC; NaN if there is none. `Date.parse` takes 31 February for 3 March. */
function isoMinute(text: string): number {
  const at = Date.parse(`${text}Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? at : NaN;
}

function zoneMs(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  if (sign === undefined) return 0;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

function twoDigits(text: string, index: number): number {
  return (text.charCodeAt(index) - 48) * 10 + text.charCodeAt(index + 1) - 48;
}
