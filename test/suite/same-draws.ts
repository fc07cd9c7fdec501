/**
 * A setup file: what fast-check draws is the same in each run of a commit, as all that is random here, and as large as a test
 * allows. By default no list has more than ten members.
 */
import fc from "fast-check";
import { seed } from "./seed.ts";

fc.configureGlobal({ seed, defaultSizeToMaxWhenMaxSpecified: true });
