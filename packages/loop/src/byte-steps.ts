const KIB = 1024;

/** The steps of work on one item of so many bytes (`Turn.shouldYield`): one for the item, and one for each KiB of it. */
export const byteSteps = (bytes: number): number => 1 + bytes / KIB;
