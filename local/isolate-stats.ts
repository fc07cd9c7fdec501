export type { IsolateStats } from "../wire/stats.ts";
