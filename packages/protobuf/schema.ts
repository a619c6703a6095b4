// The message sets as their .proto files define them, for tests that must not trust the generated codecs.
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
