import type { StoreImage } from '@engram/backend';

/** A copy of an image's fields, which stays valid after the image is disposed. */
export function copyOfImage(image: StoreImage): StoreImage {
  const { revision, compactRevision, count } = image;
  const versions = Array.from({ length: count }, (_, at) => ({
    mod: image.modRevision(at),
    sub: image.sub(at),
    tombstone: image.isTombstone(at),
    bytes: image.bytes(at),
  }));
  return {
    revision,
    compactRevision,
    count,
    modRevision: (at) => versions[at]!.mod,
    sub: (at) => versions[at]!.sub,
    isTombstone: (at) => versions[at]!.tombstone,
    bytes: (at) => versions[at]!.bytes,
    read: () => Promise.reject(new Error('a copy')),
    [Symbol.dispose]: () => undefined,
  };
}
