const USUAL = 7;

/** The seed of all tests that make random input: always the same, unless `npm run explore` or a replay names another. */
export const seed = Number(process.env.TEST_SEED ?? USUAL);
if (!Number.isSafeInteger(seed)) throw new Error(`TEST_SEED is a whole number, not ${process.env.TEST_SEED}`);

/** For a test that tries only as much as meets all it should with the usual seed, but not with each other one. */
export const isUsual = seed === USUAL;
