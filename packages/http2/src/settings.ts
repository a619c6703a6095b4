import {
  ErrorCode,
  LARGEST_MAX_FRAME_BYTES,
  LARGEST_WINDOW_BYTES,
  DEFAULT_MAX_FRAME_BYTES,
  SettingId,
} from './constants.ts';
import { readUint32 } from './frame-writer.ts';
import { Http2Error } from './http2-error.ts';

const settingBytes = 6;

/**
 * Calls `apply` for each setting of a SETTINGS payload, in order. Checks the values of the settings in RFC 9113 §6.5.2.
 */
export function readSettings(
  bytes: Uint8Array,
  start: number,
  end: number,
  apply: (id: number, value: number) => void,
): void {
  if ((end - start) % settingBytes !== 0) {
    throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, 'SETTINGS is not a whole number of settings');
  }
  for (let at = start; at < end; at += settingBytes) {
    const id = (bytes[at]! << 8) | bytes[at + 1]!;
    const value = readUint32(bytes, at + 2);
    checkSetting(id, value);
    apply(id, value);
  }
}

function checkSetting(id: number, value: number): void {
  if (id === SettingId.ENABLE_PUSH && value > 1) {
    throw new Http2Error(ErrorCode.PROTOCOL_ERROR, `ENABLE_PUSH ${value}`);
  }
  if (id === SettingId.INITIAL_WINDOW_SIZE && value > LARGEST_WINDOW_BYTES) {
    throw new Http2Error(ErrorCode.FLOW_CONTROL_ERROR, `INITIAL_WINDOW_SIZE ${value}`);
  }
  if (id === SettingId.MAX_FRAME_SIZE && (value < DEFAULT_MAX_FRAME_BYTES || value > LARGEST_MAX_FRAME_BYTES)) {
    throw new Http2Error(ErrorCode.PROTOCOL_ERROR, `MAX_FRAME_SIZE ${value}`);
  }
}
