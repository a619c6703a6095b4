// Group commit: writes in, durable batches out.
export { type AppendNext, type DurableBatch, Writer, type WriterOptions } from './src/writer.ts';
