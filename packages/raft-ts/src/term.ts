declare const brand: unique symbol;

/** A period with at most one leader. Terms only grow; 0 is before the first election. */
export type Term = number & { readonly [brand]: 'Term' };

export const term = (value: number): Term => value as Term;
export const NO_TERM = term(0);
export const nextTerm = (after: Term): Term => term(after + 1);
