/**
 * What expressions over `User-Agent` look for to tell phones and tablets from computers, as people write it. Of two words that
 * begin alike, the longer one comes first.
 */
const WORDS = [
  // The second expression of detectmobilebrowsers.com: the first four characters of hundreds of phones' names.
  /1207\|6310\|6590\|3gso\|.*\|zte/,
  /android|ip(?:hone|[ao]d|\(hone\|[ao]d\))|(?:ie)?mobi(?:le)?(?:\.[*+]firefox)?|(?:smart|cell)?phone|tablet/,
  /windows(?: |\\s|[.*+])*(?:ce|mobi(?:le)?|phone|\((?:ce\|phone|phone\|ce)\))/,
  /opera(?: |\\s|[.*+])*m(?:ini|obi|\((?:ob\|in|in\|ob)\)i)/,
  /kindle|silk|playbook|blackberry|bb(?:10|\\d)|webos|hpwos|palm(?:\( os\)\?|source|[ -]?os)?|treo|p\(ixi\|re\)/,
  /symb(?:ian)?(?:[ -]?os)?|series(?:[46]0|\((?:4\|6|6\|4)\)0)|s60|up\\?\.(?:browser|link|\(browser\|link\))/,
  /meego|maemo|bada|tizen|kaios|fennec|ucweb|ucbrowser|netfront|obigo|iris|blazer|avantgo|plucker|xiino|minimo/,
  /j2me|midp|cldc|mmp|wap|pda|pocket(?:pc)?|portable|hiptop|elaine|compal|psp|nintendo|xda|docomo|kddi|vodafone/,
  /nokia|samsung|htc|lge?|motorola|(?:sony)?ericsson|huawei|xiaomi|zte|nexus|galaxy|xoom|alcatel|sagem|kyocera/,
];
const WORD = new RegExp(WORDS.map(({ source }) => source).join("|"), "gi");

/** Flags, the beginnings of groups, and classes. */
const SYNTAX = /\(\?(?:[a-z]+(?=[:)])|P?<\w+>)?|\\[bdsw]/gi;

/** Whether a text or an expression for `User-Agent` is made of words for phones and tablets alone. */
export function isOfDevices(expression: string): boolean {
  const isOfOthers = /\w/.test(expression.replace(WORD, "").replace(SYNTAX, ""));
  return !isOfOthers && expression.search(WORD) !== -1;
}
