const MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTHS = new Map(MONTH_NAMES.map((name, month) => [threeLetters(name, 0), month]));

/** RFC 9111 §4.2: letter case is ignored, and a zone other than GMT is not accepted. */
const IMF_FIXDATE = /^(?:mon|tue|wed|thu|fri|sat|sun), \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d gmt$/i;
const RFC_850 = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day, \d\d-[a-z]{3}-\d\d \d\d:\d\d:\d\d gmt$/i;
const ASCTIME = /^(?:mon|tue|wed|thu|fri|sat|sun) [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i;

/**
 * The time of an HTTP date, in epoch milliseconds; `undefined` if the text is not one. RFC 9110 §5.6.7. `now` (epoch
 * milliseconds) decides the century of the obsolete form with a two-digit year.
 */
export function parseHttpDate(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  const date = text.trim();
  // Each form has its parts at fixed positions; those of RFC 850 are counted from its end.
  if (IMF_FIXDATE.test(date)) return instant(fourDigits(date, 12), threeLetters(date, 8), twoDigits(date, 5), date, 17);
  if (ASCTIME.test(date)) return instant(fourDigits(date, 20), threeLetters(date, 4), twoDigits(date, 8), date, 11);
  if (!RFC_850.test(date)) return undefined;
  const end = date.length;
  const month = threeLetters(date, end - 19);
  return inLikelyCentury(twoDigits(date, end - 15), now, (year) =>
    instant(year, month, twoDigits(date, end - 22), date, end - 12),
  );
}

/** §5.6.7: the latest year with these two digits that is not more than 50 years ahead. */
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

/** `monthName` is the result of `threeLetters`; `timeAt` is the position of `hh:mm:ss`. */
function instant(year: number, monthName: number, day: number, date: string, timeAt: number): number | undefined {
  const month = MONTHS.get(monthName);
  const hour = twoDigits(date, timeAt);
  const minute = twoDigits(date, timeAt + 3);
  const second = twoDigits(date, timeAt + 6);
  // A leap second is a valid :60, and counts as the first second of the next minute.
  if (month === undefined || hour > 23 || minute > 59 || second > 60) return undefined;
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month, day); // `Date.UTC` takes the years 0 to 99 for those of the 20th century
  if (midnight.getUTCDate() !== day) return undefined; // the month has no such day
  return midnight.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}

function fourDigits(text: string, at: number): number {
  return twoDigits(text, at) * 100 + twoDigits(text, at + 2);
}

/** The low bits of a digit's code are its value, and those of a space are zero. */
function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) & 15) * 10 + (text.charCodeAt(at + 1) & 15);
}

/** The low bits of a letter's code are its position in the alphabet, in either case. */
function threeLetters(text: string, at: number): number {
  return (text.charCodeAt(at) & 31) * 1024 + (text.charCodeAt(at + 1) & 31) * 32 + (text.charCodeAt(at + 2) & 31);
}
