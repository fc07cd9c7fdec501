import type { Mutants } from "../../mutants/mutant.ts";

/** Rules of `tidemark import` that are wrong or taken away. */
export const mutants: Mutants = {
  "import: never store more than nginx": {
    "what counts in its own block alone is inherited": {
      in: "applies",
      replace: "depth === 0",
      by: "true",
      foundBy: "import: what is not inherited",
    },
    "try_files is inherited": {
      in: "wayFrom",
      replace: "nextTarget(here[0]!)",
      by: "nextTarget(here.flat())",
      foundBy: "import: what is not inherited",
    },
    "an unknown directive is harmless": {
      in: "forbidsStoring",
      replace: "row === null ||",
      by: "row !== null &&",
      foundBy: "import: an unknown directive",
    },
    "access of outer blocks is left out": {
      in: "allInForce",
      replace: "levels.flatMap",
      by: "levels.slice(0, 1).flatMap",
      foundBy: "import: access of an outer block",
    },
    "a zone that a variable turns off is always on": {
      in: "ofCaching",
      replace: 'text.includes("$")',
      by: "false",
      foundBy: "import: a zone that is off for members",
    },
    "a pattern loses its disregard of letter case": {
      in: "portableRegex",
      replace: 'isInsensitive ? "i" : ""',
      by: '""',
      foundBy: "import: a pattern of cookies",
    },
    "a location may take exponential time": {
      in: "regexPatterns",
      replace: "isTooSlow(tokens)",
      by: "false",
      foundBy: "import: loops that may take exponential time",
    },
    "an if that returns is no condition": {
      in: "hasEffect",
      replace: "row === null ||",
      by: "row !== null && row.note === null &&",
      foundBy: "import: a condition that leads elsewhere",
    },
    "a query that the key leaves out does not count": {
      in: "BypassReader.part",
      replace: "this.#leavesOutParameters ? [/./] : (true as const)",
      by: "true as const",
      foundBy: "import: a query that the key leaves out",
    },
    "the path of an internal redirect is that of the visitor": {
      in: "importOrigin",
      replace: "keepsPaths && newPathOf(location) === null",
      by: "keepsPaths",
      foundBy: "import: an internal redirect",
    },
    "files that one visitor has are those of all": {
      in: "ofTriedFiles",
      replace: "isForAll && !refuses",
      by: "!refuses",
      foundBy: "import: files that decide",
    },
    "a path without a file is not refused": {
      in: "ofTriedFiles",
      replace: 'last.startsWith("=")',
      by: "false",
      foundBy: "import: files that decide",
    },
    "the index of a folder is in the folder's location": {
      in: "foldersOf",
      replace: "mayReachInto(name, place.text, { ignoreCase })",
      by: "false",
      foundBy: "import: folders with an index",
    },
    "what another location stores is what this one does": {
      in: "passedFolders",
      replace: "storing(imported) !== storing(own)",
      by: "false",
      foundBy: "import: folders with an index",
    },
    "the path of a folder's index holds what the folder's does": {
      in: "mayHoldOn",
      replace: "return mayReachInto(newPath.name, source, { ignoreCase })",
      by: "return false",
      foundBy: "import: folders with an index",
    },
    "folders have an index under one name": {
      in: "ofTriedFiles",
      replace: "indexNames(levels) === null",
      by: "false",
      foundBy: "import: folders with an index",
    },
    "a path that ends with a name has no folder": {
      in: "endsWithin",
      replace: "rest === name",
      by: "false",
      foundBy: "import: folders with an index",
    },
    "a field that most visitors do not send is one that they do": {
      in: "whereField",
      replace: '(pattern.test("") && !ALWAYS_SENT.test(name))',
      by: "false",
      foundBy: "import: values of fields",
    },
    "several values in one line are one": {
      in: "whereField",
      replace: "atEachValue(bare)",
      by: "bare",
      foundBy: "import: values of fields",
    },
    "whoever is let in first, all are": {
      in: "letsAllIn",
      replace: 'first.args[0] === "all"',
      by: "true",
      foundBy: "import: who is let in",
    },
    "of several variables of a map, the last is left out": {
      in: "whereNotAll",
      replace: "return variables.flatMap",
      by: "return variables.slice(0, -1).flatMap",
      foundBy: "import: a map of several variables",
    },
    "a name with a dot is written as a pattern's text": {
      in: "patternsOf",
      replace: 'text === "" || ENDS_WITH_DOTS.test(text)',
      by: 'text === ""',
      foundBy: "import: names with a dot",
    },
    "other spellings of a path are stored": {
      in: "ofOtherSpellings",
      replace: '"//*", "/*//*"',
      by: '"/*//*"',
      foundBy: "import: other spellings",
    },
    "a path that nginx redirects is stored": {
      in: "redirectsSlashes",
      replace: "isPrefix &&",
      by: "!isPrefix &&",
      foundBy: "import: other spellings",
    },
  },
};
