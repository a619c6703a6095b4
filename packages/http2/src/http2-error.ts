/**
 * A violation of the protocol by the peer. `streamId` 0 ends the connection (GOAWAY with `code`). Any other `streamId`
 * ends that stream (RST_STREAM with `code`).
 */
export class Http2Error extends Error {
  override readonly name = 'Http2Error';
  readonly code: number;
  readonly streamId: number;

  constructor(code: number, message: string, streamId = 0) {
    super(message);
    this.code = code;
    this.streamId = streamId;
  }
}
