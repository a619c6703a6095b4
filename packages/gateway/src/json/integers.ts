const FORM = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** 64 bits have 20 digits. More are in no range, and cost time. */
const DIGITS_MAX = 24;
const EXPONENT_DIGITS_MAX = 4;

/** The integer that the text of a JSON number stands for, exactly; undefined if it has a fraction, or has far more than 64 bits. */
export function integerOf(text: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = FORM.exec(text) ?? [];
  if (whole === '' || exponent.length > EXPONENT_DIGITS_MAX) return undefined;
  const digits = `${whole}${fraction}`.replace(/0+$/, '');
  // The digits that the exponent adds behind these, or takes from them.
  const zeros = Number(exponent) + whole.length - digits.length;
  if (/^0*$/.test(digits)) return 0n;
  const significant = digits.replace(/^0+/, '');
  if (zeros < 0 || significant.length + zeros > DIGITS_MAX) return undefined;
  const magnitude = BigInt(significant + '0'.repeat(zeros));
  return sign === '' ? magnitude : -magnitude;
}
