const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** RFC 9111 §4.2: letter case does not count, and a zone other than GMT is not read. */
const IMF_FIXDATE = /^(?:mon|tue|wed|thu|fri|sat|sun), (\d\d) ([a-z]{3}) (\d{4}) (\d\d):(\d\d):(\d\d) gmt$/;
const RFC_850 = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d) gmt$/;
const ASCTIME = /^(?:mon|tue|wed|thu|fri|sat|sun) ([a-z]{3}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/;

/**
 * The instant that an HTTP date names, in epoch milliseconds; `undefined` for what is no date. RFC 9110 §5.6.7.
 * `now` (epoch milliseconds) tells the century of the obsolete form with two digits of a year; without it, that form
 * is not read.
 */
export function parseHttpDate(text: string | null, now?: number): number | undefined {
  if (text === null) return undefined;
  const date = text.trim().toLowerCase();
  const usual = IMF_FIXDATE.exec(date);
  if (usual) return instant(Number(usual[3]), usual[2]!, usual[1]!, usual[4]!, usual[5]!, usual[6]!);
  const asctime = ASCTIME.exec(date);
  if (asctime) return instant(Number(asctime[6]), asctime[1]!, asctime[2]!, asctime[3]!, asctime[4]!, asctime[5]!);
  const rfc850 = now === undefined ? null : RFC_850.exec(date);
  if (!rfc850) return undefined;
  const [, day, month, year, hour, minute, second] = rfc850;
  return inLikelyCentury(Number(year), now!, (likely) => instant(likely, month!, day!, hour!, minute!, second!));
}

/** §5.6.7: of the years with these two digits the last one that is not more than 50 years ahead. */
function inLikelyCentury(
  twoDigits: number,
  now: number,
  inYear: (year: number) => number | undefined,
): number | undefined {
  const fiftyYearsAhead = new Date(now);
  fiftyYearsAhead.setUTCFullYear(fiftyYearsAhead.getUTCFullYear() + 50);
  const latestYear = fiftyYearsAhead.getUTCFullYear();
  const year = latestYear - ((((latestYear - twoDigits) % 100) + 100) % 100);
  const at = inYear(year);
  return at !== undefined && at > fiftyYearsAhead.getTime() ? inYear(year - 100) : at;
}

function instant(
  year: number,
  monthName: string,
  dayText: string,
  hourText: string,
  minuteText: string,
  secondText: string,
): number | undefined {
  const month = MONTHS.indexOf(monthName);
  const day = Number(dayText);
  const hour = Number(hourText);
  const minute = Number(minuteText);
  const second = Number(secondText);
  // A leap second is a valid :60, and the first of the next minute.
  if (month === -1 || hour > 23 || minute > 59 || second > 60) return undefined;
  if (day < 1 || day > daysIn(year, month)) return undefined;
  return new Date(0).setUTCFullYear(year, month, day) + ((hour * 60 + minute) * 60 + second) * 1000;
}

function daysIn(year: number, month: number): number {
  if (month === 1) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [3, 5, 8, 10].includes(month) ? 30 : 31;
}
