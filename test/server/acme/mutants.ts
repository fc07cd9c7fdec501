import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of how certificates are ordered, renewed and kept. */
export const mutants: Mutants = {
  "renewal: when a certificate is renewed": {
    "the window of the authority is ignored": {
      in: "judgeRenewal",
      replace: "window === null ? leftAt(validity, THIRD)",
      by: "true ? leftAt(validity, THIRD)",
      foundBy: "renewal: in a window: at its moment there",
    },
    "all certificates are renewed at the beginning of their windows": {
      in: "renewal:within",
      replace: "Math.floor(share * (endAt - startAt))",
      by: "0",
      foundBy: "renewal: in a window: not before its moment there",
    },
    "a window after the end of the certificate is waited for": {
      in: "judgeRenewal",
      replace: "Math.min(within(window, share), leftAt(validity, LEAST_LEFT))",
      by: "within(window, share)",
      foundBy: "renewal: not later than with a tenth left: then",
    },
    "a window does not count in the last third": {
      in: "judgeRenewal",
      replace: "leftAt(validity, LEAST_LEFT)",
      by: "leftAt(validity, THIRD)",
      foundBy: "renewal: in a window later than the last third",
    },
    "a third of the time is over, not left": {
      in: "leftAt",
      replace: "validUntil - share",
      by: "validFrom + share",
      foundBy: "renewal: without a window: not before a third of its lifetime is left",
    },
  },
  "renewal: pauses": {
    "every pause is as long as the first": {
      in: "pauseAfter",
      replace: "* 2 ** (attempts - 1)",
      by: "",
      foundBy: "renewal: 2 of a name, told to wait for null ms, by chance 0",
    },
    "pauses grow without end": {
      in: "pauseAfter",
      replace: "Math.min(FIRST_PAUSE_MS[of] * 2 ** (attempts - 1), LAST_PAUSE_MS)",
      by: "FIRST_PAUSE_MS[of] * 2 ** (attempts - 1)",
      foundBy: "renewal: 50 of a name, told to wait for null ms, by chance 0",
    },
    "Retry-After is ignored": {
      in: "pauseAfter",
      replace: "Math.max(pause, Math.min(retryAfterMs ?? 0, MOST_TOLD_MS))",
      by: "pause",
      foundBy: "renewal: 1 of a name, told to wait for 3600000 ms, by chance 0",
    },
    "chance makes a pause shorter than the authority has said": {
      in: "pauseAfter",
      replace: "(1 + random / 4)",
      by: "(1 - random / 4)",
      foundBy: "renewal: 1 of a name, told to wait for 3600000 ms, by chance 1",
    },
  },
  "keeper: what replaces a certificate": {
    "whatever was issued is used": {
      in: "CertificateKeeper.#keep",
      drop: "if (because !== null)",
      foundBy: "keeper: a certificate for another name, or another key, does not take its place",
    },
    "a new certificate waits for the next reload of the owner": {
      in: "CertificateKeeper.#takeIntoUse",
      replace: "(await reload()) && !this.#hasUnused()",
      by: "true",
      foundBy:
        "keeper: a name without a certificate gets one at once, which only this user can read, and is in use by one reload for all",
    },
    "a reload that fails is not tried again": {
      in: "CertificateKeeper.#round",
      drop: "if (this.#hasUnused())",
      foundBy: "keeper: a certificate that could not be taken into use is taken into use later",
    },
    "what another process has kept is not noticed": {
      in: "CertificateKeeper.#hasUnused",
      replace: "!used.has(chain)",
      by: "false",
      foundBy: "keeper: a certificate that another process has left there is taken into use",
    },
    "a reload that leaves one out is followed by the next one at once": {
      in: "CertificateKeeper.#takeIntoUse",
      replace: "(await reload()) && !this.#hasUnused()",
      by: "await reload()",
      foundBy: "keeper: a certificate that a reload leaves out is tried again after an hour, and holds up no other one",
    },
    "a new one waits for the end of the pause after another one's reload": {
      in: "CertificateKeeper.#renew",
      drop: "this.#reloadAgainAt = 0;",
      foundBy: "keeper: a certificate that a reload leaves out is tried again after an hour, and holds up no other one",
    },
    "each group of renewals is a reload of its own": {
      in: "CertificateKeeper.#round",
      replace: "old === null",
      by: "true",
      foundBy:
        "keeper: a certificate is renewed together with those that would be within the next hours, by one reload for all",
    },
    "one that would be renewed an hour later is not renewed together with the others": {
      in: "batchOf",
      replace: "({ earlyAt }) => earlyAt <= now",
      by: "({ dueAt }) => dueAt <= now",
      foundBy:
        "keeper: a certificate is renewed together with those that would be within the next hours, by one reload for all",
    },
    "others may read the keys": {
      in: "FILE_MODE",
      replace: "0o600",
      by: "0o644",
      foundBy: [
        "keeper: a name without a certificate gets one at once, which only this user can read, and is in use by one reload for all",
        "keeper: a folder keeps the key of the account, the same for all processes, for this user alone",
      ],
    },
    "the authority is not told what is replaced": {
      in: "CertificateKeeper.#order",
      replace: "old && certificateId(old.chain)",
      by: "null",
      foundBy:
        "keeper: a certificate is renewed when a third of its lifetime is left, with a new key, and names the one that it replaces",
    },
  },
  "keeper: how often an authority is asked": {
    "starts of the server are not counted": {
      in: "AttemptNotes.begin",
      drop: "this.#write();",
      foundBy: "keeper: an authority is not asked more often because the server starts again and again",
    },
    "an order that is given up at a stop is one that was refused": {
      in: "CertificateKeeper.#renew",
      drop: "if (refusal !== null && this.#isStopped)",
      foundBy:
        "keeper: a folder of a process that was stopped in the middle of an order does not keep the next one waiting",
    },
    "what cannot be written down is ordered all the same": {
      in: "AttemptNotes.begin",
      replace: "this.#write();",
      by: "this.#tryToWrite();",
      foundBy: "keeper: a folder that cannot be written keeps the authority from being asked",
    },
    "the next process forgets what the authority has told": {
      in: "AttemptNotes.leaveAloneUntil",
      drop: "this.#tryToWrite();",
      foundBy: "keeper: an authority that names a limit is left alone also by the next process",
    },
    "an authority that is out of reach is asked once for each host": {
      in: "CertificateKeeper.#round",
      drop: "break;",
      foundBy:
        "keeper: an authority that is out of reach is asked for one group after a minute, two, four, and for the rest not at all",
    },
    "names that were refused are asked for again before the others": {
      in: "batchOf",
      replace: "a.failedAt - b.failedAt || ",
      by: "",
      foundBy:
        "keeper: an authority that names a limit for some names is asked for all others before it is asked for those again",
    },
    "the attempts for a name are not counted": {
      in: "CertificateKeeper.#count",
      replace: "known.attempts++;",
      by: "known.attempts = 1;",
      foundBy:
        "keeper: a name without a certificate is tried again after longer and longer pauses if both challenges fail, and the owner is told of both",
    },
    "one that was ordered early, and in vain, waits for its own time": {
      in: "CertificateKeeper.#look",
      replace: "known.attempts > 0 ? earlyAt : untilAt",
      by: "untilAt",
      foundBy:
        "keeper: a certificate that cannot be renewed together with others is tried again after longer and longer pauses",
    },
    "a certificate that has to be renewed at once is ordered at once": {
      in: "CertificateKeeper.#renew",
      drop: "this.#count(name, null);",
      foundBy:
        "keeper: a certificate that has expired already by a wrong clock is used, and not ordered again and again",
    },
    "the owner can have it ordered as often as he likes": {
      in: "mayStartAt",
      replace: "Math.max(now, lastAt + LEAST_PAUSE_MS)",
      by: "now",
      foundBy: "keeper: an authority is asked when the owner wants it, but not before it may be",
    },
    "whatever keeps a name waiting is told as an attempt for it": {
      in: "CertificateKeeper.#look",
      replace: "isOfName ? { because: known.because ?? TOO_SOON } : OUT_OF_USE",
      by: "{ because: TOO_SOON }",
      foundBy: "keeper: an authority that is out of use is the reason for a name that was never tried",
    },
    "all hosts are ordered at the same time": {
      in: "ORDERS_AT_A_TIME",
      replace: "8",
      by: "1000",
      foundBy:
        "keeper: a name without a certificate among many is ordered with seven others, and each such group comes into use together",
    },
    "only the first challenge is tried": {
      in: "CertificateKeeper.#order",
      replace: 'outcome.concerns === "all"',
      by: "true",
      foundBy:
        "keeper: a name without a certificate gets it by the second challenge if the first one does not do, in the same attempt",
    },
  },
};
