const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** RFC 9111 §4.2: letter case does not count, and a zone other than GMT is not read. */
const IMF_FIXDATE = /^(?:mon|tue|wed|thu|fri|sat|sun), \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d gmt$/;
const RFC_850 = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day, \d\d-[a-z]{3}-\d\d \d\d:\d\d:\d\d gmt$/;
const ASCTIME = /^(?:mon|tue|wed|thu|fri|sat|sun) [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * The instant that an HTTP date names, in epoch milliseconds; `undefined` for what is no date. RFC 9110 §5.6.7.
 * `now` (epoch milliseconds) tells the century of the obsolete form with two digits of a year; without it, that form
 * is not read.
 */
export function parseHttpDate(text: string | null, now?: number): number | undefined {
  if (text === null) return undefined;
  const date = text.trim().toLowerCase();
  // Each form has its parts in fixed places; that of RFC 850 counted from its end.
  if (IMF_FIXDATE.test(date)) return instant(fourDigits(date, 12), date.slice(8, 11), twoDigits(date, 5), date, 17);
  if (ASCTIME.test(date)) return instant(fourDigits(date, 20), date.slice(4, 7), twoDigits(date, 8), date, 11);
  if (now === undefined || !RFC_850.test(date)) return undefined;
  const end = date.length;
  const month = date.slice(end - 19, end - 16);
  return inLikelyCentury(twoDigits(date, end - 15), now, (year) =>
    instant(year, month, twoDigits(date, end - 22), date, end - 12),
  );
}

/** §5.6.7: of the years with these two digits the last one that is not more than 50 years ahead. */
function inLikelyCentury(
  lastDigits: number,
  now: number,
  inYear: (year: number) => number | undefined,
): number | undefined {
  const fiftyYearsAhead = new Date(now);
  fiftyYearsAhead.setUTCFullYear(fiftyYearsAhead.getUTCFullYear() + 50);
  const latestYear = fiftyYearsAhead.getUTCFullYear();
  const year = latestYear - ((((latestYear - lastDigits) % 100) + 100) % 100);
  const at = inYear(year);
  return at !== undefined && at > fiftyYearsAhead.getTime() ? inYear(year - 100) : at;
}

/** `timeAt` is where `hh:mm:ss` begins. */
function instant(year: number, monthName: string, day: number, date: string, timeAt: number): number | undefined {
  const month = MONTHS.indexOf(monthName);
  const hour = twoDigits(date, timeAt);
  const minute = twoDigits(date, timeAt + 3);
  const second = twoDigits(date, timeAt + 6);
  // A leap second is a valid :60, and the first of the next minute.
  if (month === -1 || hour > 23 || minute > 59 || second > 60) return undefined;
  if (day < 1 || day > daysIn(year, month)) return undefined;
  // The first century is not the twentieth, as `Date.UTC` has it.
  const midnight = year < 100 ? new Date(0).setUTCFullYear(year, month, day) : Date.UTC(year, month, day);
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000;
}

function fourDigits(text: string, at: number): number {
  return twoDigits(text, at) * 100 + twoDigits(text, at + 2);
}

/** The low bits of a digit's code are its value, and those of a space are zero. */
function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) & 15) * 10 + (text.charCodeAt(at + 1) & 15);
}

function daysIn(year: number, month: number): number {
  if (month === 1) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [3, 5, 8, 10].includes(month) ? 30 : 31;
}
