// The message sets as defined by their .proto files, for tests that must not trust the generated codecs.
export { type MessageSet, messageSet } from './tools/message-sets.ts';
export {
  fieldName,
  loadRoot,
  readSchema,
  type Field,
  type Kind,
  type MessageSchema,
  type Schema,
} from './tools/schema.ts';
