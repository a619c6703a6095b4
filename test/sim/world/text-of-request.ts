import { type KeyRange, keyText, type Op, type RangeOp, type Txn } from '@engram/core';

/** The text of a transaction in a story. */
export function textOfTxn(txn: Txn): string {
  const ifs = txn.compares.map(
    ({ range, target, result, number }) =>
      `${['version', 'create', 'mod', 'value', 'lease'][target] ?? target}(${textOfKeys(range)}) ${'=><!'[result] ?? '?'} ${number}`,
  );
  const then = txn.success.map(textOfOp).join('; ');
  const otherwise = txn.failure.map(textOfOp).join('; ');
  if (ifs.length === 0 && txn.failure.length === 0) return then === '' ? 'nothing' : then;
  return `if ${ifs.join(' and ')} {${then}} else {${otherwise}}`;
}

function textOfOp(op: Op): string {
  switch (op.kind) {
    case 'put': {
      const value = op.ignoreValue ? '(its value)' : keyText(op.value).replace(/x{4,}$/, (run) => `x*${run.length}`);
      return `put ${textOfKey(op.key)}=${value}${op.lease === 0n ? '' : ` lease ${op.lease}`}${op.ignoreLease ? ' its lease' : ''}`;
    }
    case 'delete-range':
      return `delete ${textOfKeys(op.range)}`;
    case 'range':
      return `range ${textOfRange(op)}`;
    case 'txn':
      return `(${textOfTxn(op.txn)})`;
  }
}

const textOfKey = (key: Uint8Array): string => JSON.stringify(keyText(key));

export function textOfKeys({ key, end }: KeyRange): string {
  return end.length === 0 ? textOfKey(key) : `${textOfKey(key)}..${textOfKey(end)}`;
}

export function textOfRange(op: RangeOp): string {
  const flags = (['serializable', 'keysOnly', 'countOnly'] as const).filter((flag) => op[flag]);
  const at = op.revision === 0 ? '' : ` at ${op.revision}`;
  return `${textOfKeys(op.range)}${at}${op.limit > 0 ? ` limit ${op.limit}` : ''}${flags.map((flag) => ` ${flag}`).join('')}`;
}
