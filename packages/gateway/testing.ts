// For fuzzing and tests of the repository: the two readings of JSON by themselves.
export { JsonOfMessage } from './src/json/json-of-message.ts';
export { JsonText } from './src/json/json-text.ts';
export { messageOfJson } from './src/json/message-of-json.ts';
