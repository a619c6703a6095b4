import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { WireError } from '@engram/protobuf';
import { loadRoot, type MessageSchema, type MessageSet, readSchema } from '../schema.ts';
import { ArbitraryMessages } from './arbitrary-messages.ts';
import { otherTree, ownTree } from './message-tree.ts';

interface Functions {
  encode(message: object): Uint8Array;
  decode(bytes: Uint8Array): object;
}

/** `modules`: the generated module of each protobuf package of the set. */
export function generatedContract(set: MessageSet, modules: Readonly<Record<string, object>>): void {
  const root = loadRoot(set);
  const schema = readSchema(set, root);
  const messages = new ArbitraryMessages(schema);

  const functionsOf = (message: MessageSchema): Functions => {
    const functions = modules[message.package] as Record<string, unknown> | undefined;
    if (functions === undefined) throw new Error(`no module of package ${message.package} was passed`);
    return {
      encode: functions[`encode${message.name}`] as Functions['encode'],
      decode: functions[`decode${message.name}`] as Functions['decode'],
    };
  };

  // Messages with a map are tested elsewhere: protobufjs reads maps into objects, which do not keep the order of keys.
  const typed = schema.messages.flatMap((message) => {
    const type = typeOf(root, message);
    return type === undefined || type.fieldsArray.some((field) => field instanceof protobuf.MapField)
      ? []
      : [{ name: `${message.package}.${message.name}`, message, type }];
  });

  describe.each(typed)('$name', ({ message, type }) => {
    const { encode, decode } = functionsOf(message);

    test('is read by protobufjs as it was written, and by us', () => {
      fc.assert(
        fc.property(messages.of(message), (value) => {
          const bytes = encode(value);
          const expected = ownTree(messages, message, value);
          expect(ownTree(messages, message, decode(bytes))).toEqual(expected);
          expect(otherTree(set, type, type.decode(bytes))).toEqual(expected);
        }),
        { numRuns: 60 },
      );
    });

    test('has the bytes that protobufjs writes', () => {
      fc.assert(
        fc.property(messages.of(message), (value) => {
          const bytes = encode(value);
          expect(Buffer.from(type.encode(type.decode(bytes)).finish())).toEqual(Buffer.from(bytes));
        }),
        { numRuns: 30 },
      );
    });

    test('torn or changed bytes give a message or a WireError, in no time', () => {
      const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 });
      fc.assert(
        fc.property(messages.of(message), damage, fc.nat(), (value, changes, cut) => {
          const bytes = encode(value).slice();
          for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
          for (const damaged of [bytes, bytes.subarray(0, cut % (bytes.length + 1))]) {
            try {
              decode(damaged);
            } catch (error) {
              expect(error).toBeInstanceOf(WireError);
            }
          }
        }),
        { numRuns: 60 },
      );
    });
  });
}

/**
 * Undefined for the entries of a map, which have no type of their own. The name of a nested type begins with its
 * parent's name.
 */
function typeOf(root: protobuf.Root, { package: own, name }: MessageSchema): protobuf.Type | undefined {
  const find = (namespace: protobuf.NamespaceBase, rest: string): protobuf.Type | undefined => {
    for (const entry of namespace.nestedArray) {
      if (!(entry instanceof protobuf.Type) || !rest.startsWith(entry.name)) continue;
      if (entry.name === rest) return entry;
      const inner = find(entry, rest.slice(entry.name.length));
      if (inner !== undefined) return inner;
    }
    return undefined;
  };
  const folder = root.lookup(own);
  return folder instanceof protobuf.Namespace ? find(folder, name) : undefined;
}
