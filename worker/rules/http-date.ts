const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const IMF_FIXDATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;

/**
 * The instant that an IMF-fixdate names, in epoch milliseconds; `undefined` for anything else. RFC 9110 §5.6.7.
 * The two obsolete forms are not read: as `Expires` they leave a response stale, as `Date` they count as absent.
 */
export function parseHttpDate(text: string | null): number | undefined {
  const parts = text === null ? null : IMF_FIXDATE.exec(text);
  if (!parts) return undefined;
  const month = MONTHS.indexOf(parts[2]!);
  const [day, year, hour, minute, second] = [parts[1], parts[3], parts[4], parts[5], parts[6]].map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  if (month === -1 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return undefined;
  return Date.UTC(year, month, day, hour, minute, second);
}
