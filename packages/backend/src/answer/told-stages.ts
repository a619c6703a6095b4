import type { EndedWrite, Span } from '@engram/core';

/** Tells the span of a write that has ended when it reached each stage. One that it has not reached, or passed by, is left out. */
export function tellStages(span: Span, write: EndedWrite): void {
  const tell = (name: string, afterUs: number): void => {
    if (afterUs >= 0) span.stage(name, write.askedMs + afterUs / 1000);
  };
  tell('queued', 0);
  tell('decided', write.decidedUs);
  tell('appended', write.durableUs);
  tell('applied', write.appliedUs);
  tell('published', write.publishedUs);
  tell(write.stage, write.endedUs);
}
