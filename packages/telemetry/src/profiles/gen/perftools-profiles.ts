// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';

export interface Profile {
  sampleType: ValueType[];
  sample: Sample[];
  mapping: Mapping[];
  location: Location[];
  function: Function[];
  stringTable: string[];
  dropFrames: number;
  keepFrames: number;
  timeNanos: bigint;
  durationNanos: number;
  periodType: ValueType | undefined;
  period: number;
  comment: number[];
  defaultSampleType: number;
}
export type ProfileInit = Init<Profile>;

export const newProfile = (): Profile => ({ sampleType: [], sample: [], mapping: [], location: [], function: [], stringTable: [], dropFrames: 0, keepFrames: 0, timeNanos: 0n, durationNanos: 0, periodType: undefined, period: 0, comment: [], defaultSampleType: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readProfile(r: Reader, message: Profile): Profile {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.sampleType.push(readValueType(r, newValueType()));
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.sample.push(readSample(r, newSample()));
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.mapping.push(readMapping(r, newMapping()));
        r.leave(outer);
        break;
      }
      case 34: {
        const outer = r.enter();
        message.location.push(readLocation(r, newLocation()));
        r.leave(outer);
        break;
      }
      case 42: {
        const outer = r.enter();
        message.function.push(readFunction(r, newFunction()));
        r.leave(outer);
        break;
      }
      case 50:
        message.stringTable.push(r.string());
        break;
      case 56:
        message.dropFrames = r.count();
        break;
      case 64:
        message.keepFrames = r.count();
        break;
      case 72:
        message.timeNanos = r.bigInt64();
        break;
      case 80:
        message.durationNanos = r.count();
        break;
      case 90: {
        const outer = r.enter();
        message.periodType = readValueType(r, message.periodType ?? newValueType());
        r.leave(outer);
        break;
      }
      case 96:
        message.period = r.count();
        break;
      case 104:
        message.comment.push(r.count());
        break;
      case 106: {
        const outer = r.enterList();
        while (r.more()) message.comment.push(r.count());
        r.leave(outer);
        break;
      }
      case 112:
        message.defaultSampleType = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeProfile(w: Writer, message: ProfileInit): void {
  if (message.defaultSampleType !== undefined && message.defaultSampleType !== 0) {
    w.int64(message.defaultSampleType);
    w.varint(112);
  }
  if (message.comment !== undefined && message.comment.length > 0) {
    const end = w.length;
    for (let at = message.comment.length - 1; at >= 0; at -= 1) w.int64(message.comment[at]!);
    w.varint(w.length - end);
    w.varint(106);
  }
  if (message.period !== undefined && message.period !== 0) {
    w.int64(message.period);
    w.varint(96);
  }
  if (message.periodType !== undefined) {
    const end = w.length;
    writeValueType(w, message.periodType);
    w.varint(w.length - end);
    w.varint(90);
  }
  if (message.durationNanos !== undefined && message.durationNanos !== 0) {
    w.int64(message.durationNanos);
    w.varint(80);
  }
  if (message.timeNanos !== undefined && message.timeNanos !== 0n) {
    w.bigint(message.timeNanos);
    w.varint(72);
  }
  if (message.keepFrames !== undefined && message.keepFrames !== 0) {
    w.int64(message.keepFrames);
    w.varint(64);
  }
  if (message.dropFrames !== undefined && message.dropFrames !== 0) {
    w.int64(message.dropFrames);
    w.varint(56);
  }
  if (message.stringTable !== undefined && message.stringTable.length > 0) {
    for (let at = message.stringTable.length - 1; at >= 0; at -= 1) {
      w.string(message.stringTable[at]!);
      w.varint(50);
    }
  }
  if (message.function !== undefined && message.function.length > 0) {
    for (let at = message.function.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeFunction(w, message.function[at]!);
      w.varint(w.length - end);
      w.varint(42);
    }
  }
  if (message.location !== undefined && message.location.length > 0) {
    for (let at = message.location.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeLocation(w, message.location[at]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (message.mapping !== undefined && message.mapping.length > 0) {
    for (let at = message.mapping.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeMapping(w, message.mapping[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.sample !== undefined && message.sample.length > 0) {
    for (let at = message.sample.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeSample(w, message.sample[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.sampleType !== undefined && message.sampleType.length > 0) {
    for (let at = message.sampleType.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeValueType(w, message.sampleType[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const ProfileCodec: Codec<Profile, ProfileInit> = {
  write: writeProfile,
  read: (r) => readProfile(r, newProfile()),
};
export const encodeProfile = (message: ProfileInit): Uint8Array => encode(ProfileCodec, message);
export const decodeProfile = (bytes: Uint8Array): Profile => decode(ProfileCodec, bytes);

export interface ValueType {
  type: number;
  unit: number;
}
export type ValueTypeInit = Init<ValueType>;

export const newValueType = (): ValueType => ({ type: 0, unit: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readValueType(r: Reader, message: ValueType): ValueType {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.type = r.count();
        break;
      case 16:
        message.unit = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeValueType(w: Writer, message: ValueTypeInit): void {
  if (message.unit !== undefined && message.unit !== 0) {
    w.int64(message.unit);
    w.varint(16);
  }
  if (message.type !== undefined && message.type !== 0) {
    w.int64(message.type);
    w.varint(8);
  }
}

export const ValueTypeCodec: Codec<ValueType, ValueTypeInit> = {
  write: writeValueType,
  read: (r) => readValueType(r, newValueType()),
};
export const encodeValueType = (message: ValueTypeInit): Uint8Array => encode(ValueTypeCodec, message);
export const decodeValueType = (bytes: Uint8Array): ValueType => decode(ValueTypeCodec, bytes);

export interface Sample {
  locationId: number[];
  value: number[];
  label: Label[];
}
export type SampleInit = Init<Sample>;

export const newSample = (): Sample => ({ locationId: [], value: [], label: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSample(r: Reader, message: Sample): Sample {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.locationId.push(r.count());
        break;
      case 10: {
        const outer = r.enterList();
        while (r.more()) message.locationId.push(r.count());
        r.leave(outer);
        break;
      }
      case 16:
        message.value.push(r.count());
        break;
      case 18: {
        const outer = r.enterList();
        while (r.more()) message.value.push(r.count());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.label.push(readLabel(r, newLabel()));
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeSample(w: Writer, message: SampleInit): void {
  if (message.label !== undefined && message.label.length > 0) {
    for (let at = message.label.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeLabel(w, message.label[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.value !== undefined && message.value.length > 0) {
    const end = w.length;
    for (let at = message.value.length - 1; at >= 0; at -= 1) w.int64(message.value[at]!);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.locationId !== undefined && message.locationId.length > 0) {
    const end = w.length;
    for (let at = message.locationId.length - 1; at >= 0; at -= 1) w.int64(message.locationId[at]!);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SampleCodec: Codec<Sample, SampleInit> = {
  write: writeSample,
  read: (r) => readSample(r, newSample()),
};
export const encodeSample = (message: SampleInit): Uint8Array => encode(SampleCodec, message);
export const decodeSample = (bytes: Uint8Array): Sample => decode(SampleCodec, bytes);

export interface Label {
  key: number;
  str: number;
  num: number;
  numUnit: number;
}
export type LabelInit = Init<Label>;

export const newLabel = (): Label => ({ key: 0, str: 0, num: 0, numUnit: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLabel(r: Reader, message: Label): Label {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.key = r.count();
        break;
      case 16:
        message.str = r.count();
        break;
      case 24:
        message.num = r.count();
        break;
      case 32:
        message.numUnit = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLabel(w: Writer, message: LabelInit): void {
  if (message.numUnit !== undefined && message.numUnit !== 0) {
    w.int64(message.numUnit);
    w.varint(32);
  }
  if (message.num !== undefined && message.num !== 0) {
    w.int64(message.num);
    w.varint(24);
  }
  if (message.str !== undefined && message.str !== 0) {
    w.int64(message.str);
    w.varint(16);
  }
  if (message.key !== undefined && message.key !== 0) {
    w.int64(message.key);
    w.varint(8);
  }
}

export const LabelCodec: Codec<Label, LabelInit> = {
  write: writeLabel,
  read: (r) => readLabel(r, newLabel()),
};
export const encodeLabel = (message: LabelInit): Uint8Array => encode(LabelCodec, message);
export const decodeLabel = (bytes: Uint8Array): Label => decode(LabelCodec, bytes);

export interface Mapping {
  id: number;
  memoryStart: number;
  memoryLimit: number;
  fileOffset: number;
  filename: number;
  buildId: number;
  hasFunctions: boolean;
  hasFilenames: boolean;
  hasLineNumbers: boolean;
  hasInlineFrames: boolean;
}
export type MappingInit = Init<Mapping>;

export const newMapping = (): Mapping => ({ id: 0, memoryStart: 0, memoryLimit: 0, fileOffset: 0, filename: 0, buildId: 0, hasFunctions: false, hasFilenames: false, hasLineNumbers: false, hasInlineFrames: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMapping(r: Reader, message: Mapping): Mapping {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.count();
        break;
      case 16:
        message.memoryStart = r.count();
        break;
      case 24:
        message.memoryLimit = r.count();
        break;
      case 32:
        message.fileOffset = r.count();
        break;
      case 40:
        message.filename = r.count();
        break;
      case 48:
        message.buildId = r.count();
        break;
      case 56:
        message.hasFunctions = r.bool();
        break;
      case 64:
        message.hasFilenames = r.bool();
        break;
      case 72:
        message.hasLineNumbers = r.bool();
        break;
      case 80:
        message.hasInlineFrames = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMapping(w: Writer, message: MappingInit): void {
  if (message.hasInlineFrames === true) {
    w.varint(message.hasInlineFrames ? 1 : 0);
    w.varint(80);
  }
  if (message.hasLineNumbers === true) {
    w.varint(message.hasLineNumbers ? 1 : 0);
    w.varint(72);
  }
  if (message.hasFilenames === true) {
    w.varint(message.hasFilenames ? 1 : 0);
    w.varint(64);
  }
  if (message.hasFunctions === true) {
    w.varint(message.hasFunctions ? 1 : 0);
    w.varint(56);
  }
  if (message.buildId !== undefined && message.buildId !== 0) {
    w.int64(message.buildId);
    w.varint(48);
  }
  if (message.filename !== undefined && message.filename !== 0) {
    w.int64(message.filename);
    w.varint(40);
  }
  if (message.fileOffset !== undefined && message.fileOffset !== 0) {
    w.int64(message.fileOffset);
    w.varint(32);
  }
  if (message.memoryLimit !== undefined && message.memoryLimit !== 0) {
    w.int64(message.memoryLimit);
    w.varint(24);
  }
  if (message.memoryStart !== undefined && message.memoryStart !== 0) {
    w.int64(message.memoryStart);
    w.varint(16);
  }
  if (message.id !== undefined && message.id !== 0) {
    w.int64(message.id);
    w.varint(8);
  }
}

export const MappingCodec: Codec<Mapping, MappingInit> = {
  write: writeMapping,
  read: (r) => readMapping(r, newMapping()),
};
export const encodeMapping = (message: MappingInit): Uint8Array => encode(MappingCodec, message);
export const decodeMapping = (bytes: Uint8Array): Mapping => decode(MappingCodec, bytes);

export interface Location {
  id: number;
  mappingId: number;
  address: number;
  line: Line[];
  isFolded: boolean;
}
export type LocationInit = Init<Location>;

export const newLocation = (): Location => ({ id: 0, mappingId: 0, address: 0, line: [], isFolded: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLocation(r: Reader, message: Location): Location {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.count();
        break;
      case 16:
        message.mappingId = r.count();
        break;
      case 24:
        message.address = r.count();
        break;
      case 34: {
        const outer = r.enter();
        message.line.push(readLine(r, newLine()));
        r.leave(outer);
        break;
      }
      case 40:
        message.isFolded = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLocation(w: Writer, message: LocationInit): void {
  if (message.isFolded === true) {
    w.varint(message.isFolded ? 1 : 0);
    w.varint(40);
  }
  if (message.line !== undefined && message.line.length > 0) {
    for (let at = message.line.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeLine(w, message.line[at]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (message.address !== undefined && message.address !== 0) {
    w.int64(message.address);
    w.varint(24);
  }
  if (message.mappingId !== undefined && message.mappingId !== 0) {
    w.int64(message.mappingId);
    w.varint(16);
  }
  if (message.id !== undefined && message.id !== 0) {
    w.int64(message.id);
    w.varint(8);
  }
}

export const LocationCodec: Codec<Location, LocationInit> = {
  write: writeLocation,
  read: (r) => readLocation(r, newLocation()),
};
export const encodeLocation = (message: LocationInit): Uint8Array => encode(LocationCodec, message);
export const decodeLocation = (bytes: Uint8Array): Location => decode(LocationCodec, bytes);

export interface Line {
  functionId: number;
  line: number;
}
export type LineInit = Init<Line>;

export const newLine = (): Line => ({ functionId: 0, line: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLine(r: Reader, message: Line): Line {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.functionId = r.count();
        break;
      case 16:
        message.line = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLine(w: Writer, message: LineInit): void {
  if (message.line !== undefined && message.line !== 0) {
    w.int64(message.line);
    w.varint(16);
  }
  if (message.functionId !== undefined && message.functionId !== 0) {
    w.int64(message.functionId);
    w.varint(8);
  }
}

export const LineCodec: Codec<Line, LineInit> = {
  write: writeLine,
  read: (r) => readLine(r, newLine()),
};
export const encodeLine = (message: LineInit): Uint8Array => encode(LineCodec, message);
export const decodeLine = (bytes: Uint8Array): Line => decode(LineCodec, bytes);

export interface Function {
  id: number;
  name: number;
  systemName: number;
  filename: number;
  startLine: number;
}
export type FunctionInit = Init<Function>;

export const newFunction = (): Function => ({ id: 0, name: 0, systemName: 0, filename: 0, startLine: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readFunction(r: Reader, message: Function): Function {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.count();
        break;
      case 16:
        message.name = r.count();
        break;
      case 24:
        message.systemName = r.count();
        break;
      case 32:
        message.filename = r.count();
        break;
      case 40:
        message.startLine = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeFunction(w: Writer, message: FunctionInit): void {
  if (message.startLine !== undefined && message.startLine !== 0) {
    w.int64(message.startLine);
    w.varint(40);
  }
  if (message.filename !== undefined && message.filename !== 0) {
    w.int64(message.filename);
    w.varint(32);
  }
  if (message.systemName !== undefined && message.systemName !== 0) {
    w.int64(message.systemName);
    w.varint(24);
  }
  if (message.name !== undefined && message.name !== 0) {
    w.int64(message.name);
    w.varint(16);
  }
  if (message.id !== undefined && message.id !== 0) {
    w.int64(message.id);
    w.varint(8);
  }
}

export const FunctionCodec: Codec<Function, FunctionInit> = {
  write: writeFunction,
  read: (r) => readFunction(r, newFunction()),
};
export const encodeFunction = (message: FunctionInit): Uint8Array => encode(FunctionCodec, message);
export const decodeFunction = (bytes: Uint8Array): Function => decode(FunctionCodec, bytes);
