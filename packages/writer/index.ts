// Group commit: writes in, durable batches out.
export { Writer, type WriterOptions } from './src/writer.ts';
